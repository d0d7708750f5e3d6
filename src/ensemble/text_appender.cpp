#include "ensemble/text_appender.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "data/file_error.hpp"

namespace smile::ensemble {

TextAppender::TextAppender(std::filesystem::path path, std::uint64_t bytes, std::string_view header)
    : path_(std::move(path)) {
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (bytes == 0 ? O_TRUNC : 0);
  descriptor_ = ::open(path_.c_str(), flags, 0644);
  if (descriptor_ < 0) throw data::write_error(path_, "cannot open the file", errno);
  struct stat status {};
  const bool short_file = ::fstat(descriptor_, &status) != 0 || std::uint64_t(status.st_size) < bytes;
  if (short_file || ::ftruncate(descriptor_, off_t(bytes)) != 0 || ::lseek(descriptor_, 0, SEEK_END) < 0) {
    const int error = errno;
    ::close(descriptor_);
    if (short_file)
      throw Error(path_.string(), "the file is shorter than its checkpoint says",
                  "remove the chain's checkpoint to run it from its start", ErrorKind::run);
    throw data::write_error(path_, "cannot cut the file", error);
  }
  written_ = bytes;
  if (bytes == 0) append(header);
}

TextAppender::~TextAppender() {
  ::close(descriptor_);
}

void TextAppender::append(std::string_view text) {
  pending_ += text;
  if (pending_.size() >= 1 << 14) flush();
}

void TextAppender::flush() {
  if (pending_.empty()) return;
  data::write_all(descriptor_, pending_.data(), pending_.size(), path_);
  written_ += pending_.size();
  pending_.clear();
}

}  // namespace smile::ensemble

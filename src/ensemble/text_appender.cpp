// SPDX-License-Identifier: Apache-2.0
#include "ensemble/text_appender.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "files/file_error.hpp"

namespace smile::ensemble {
namespace {

/// Bytes up to and with the last line end; 0 where there is none.
std::uint64_t whole_lines(int descriptor, off_t size, const std::filesystem::path& path) {
  char byte = 0;
  while (size > 0 &&
         (data::read_some_at(descriptor, std::uint64_t(size - 1), &byte, 1, path) != 1 || byte != '\n'))
    --size;
  return std::uint64_t(size);
}

}  // namespace

TextAppender::TextAppender(std::filesystem::path path, std::uint64_t bytes, std::string_view header)
    : path_(std::move(path)), written_(bytes) {
  const int flags = O_RDWR | O_CREAT | (bytes == 0 ? O_TRUNC : 0);
  descriptor_ = data::open_file(path_, flags, 0644);
  if (descriptor_ < 0) throw data::write_error(path_, "cannot open the file", errno);
  struct stat status {};
  bool good = ::fstat(descriptor_, &status) == 0;
  if (good && std::uint64_t(status.st_size) < bytes) {
    written_ = whole_lines(descriptor_, status.st_size, path_);
    remark_ =
        path_.string() + " lacks lines that were written before the last checkpoint: it goes on without";
  }
  good = good && ::ftruncate(descriptor_, off_t(written_)) == 0 && ::lseek(descriptor_, 0, SEEK_END) >= 0;
  if (!good) {
    const int error = errno;
    ::close(descriptor_);
    throw data::write_error(path_, "cannot cut the file", error);
  }
  if (written_ == 0) append(header);
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

void TextAppender::sync() {
  flush();
  data::sync_file(descriptor_, path_);
}

}  // namespace smile::ensemble

#include "smile/data/atomic_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>
#include <utility>

#include "data/file_error.hpp"

namespace smile {

namespace {

/// Distinct within the process and, by the process id, between processes.
std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  std::filesystem::path name = path;
  name += ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(counter.fetch_add(1));
  return name;
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path path)
    : path_(std::move(path)), temporary_(temporary_name(path_)) {
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw data::write_error(path_, "cannot create the file", errno);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  data::write_all(descriptor_, bytes.data(), bytes.size(), path_);
}

void AtomicFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text.data(), text.size())));
}

void AtomicFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  const off_t end = ::lseek(descriptor_, 0, SEEK_CUR);
  if (end < 0 || ::lseek(descriptor_, static_cast<off_t>(offset), SEEK_SET) < 0)
    throw data::write_error(path_, "cannot write the file", errno);
  data::write_all(descriptor_, bytes.data(), bytes.size(), path_);
  if (::lseek(descriptor_, end, SEEK_SET) < 0) throw data::write_error(path_, "cannot write the file", errno);
}

void AtomicFile::write_at(std::uint64_t offset, std::string_view text) {
  write_at(offset, std::as_bytes(std::span(text.data(), text.size())));
}

void AtomicFile::commit() {
  // Content first, name second, folder last: after a crash the name leads to whole content, old or new.
  if (::fsync(descriptor_) != 0) throw data::write_error(path_, "cannot write the file", errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0)
    throw data::write_error(path_, "cannot give the file its name", errno);
  ::close(std::exchange(descriptor_, -1));

  const std::filesystem::path folder =
      path_.has_parent_path() ? path_.parent_path() : std::filesystem::path(".");
  const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;  // a folder one may write to but not read: the rename itself has succeeded
  const int status = ::fsync(directory);
  const int error_number = errno;
  ::close(directory);
  // Some file systems cannot sync folders and say so; that is not a failed write.
  if (status != 0 && error_number != EINVAL)
    throw data::write_error(path_, "cannot write the folder", error_number);
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include "files/file_error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace smile::data {

namespace {

std::string reason(int error_number) {
  return std::generic_category().message(error_number);
}

std::string mend_for(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "free space there or choose another folder";
    case EFBIG:
      return "raise the limit on file sizes (ulimit -f) or choose another folder";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a folder you may write to";
    case ENOENT:
    case ENOTDIR:
      return "create the folder first or correct the path";
    case EISDIR:
      return "give the path of a file, not of a folder";
    case EPIPE:
      return "let its reader stay until the end";
    case EMFILE:
    case ENFILE:
      return "raise the limit on open files (ulimit -n)";
    default:
      return "check the path and the disk";
  }
}

}  // namespace

MachineError write_error(const std::filesystem::path& path, const std::string& what, int error_number) {
  return MachineError(path.string(), what + " (" + reason(error_number) + ")", mend_for(error_number),
                      ErrorKind::run);
}

int open_file(const std::filesystem::path& path, int flags, unsigned mode) {
  int descriptor = -1;
  do descriptor = ::open(path.c_str(), flags | O_CLOEXEC, mode_t(mode));
  while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

void sync_file(int descriptor, const std::filesystem::path& path) {
  while (::fsync(descriptor) != 0)
    if (errno != EINTR) throw write_error(path, "cannot write the file", errno);
}

void write_all(int descriptor, const void* bytes, std::size_t size, const std::filesystem::path& path) {
  const char* next = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = ::write(descriptor, next, size);
    if (written < 0) {
      if (errno == EINTR) continue;
      throw write_error(path, "cannot write the file", errno);
    }
    // A regular file takes nothing only when the disk is full.
    if (written == 0) throw write_error(path, "cannot write the file", ENOSPC);
    next += written;
    size -= static_cast<std::size_t>(written);
  }
}

int open_input(const std::filesystem::path& path) {
  const int descriptor = open_file(path, O_RDONLY);
  if (descriptor < 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      throw Error(path.string(), "no such file",
                  "correct the path; a relative path starts at the working folder");
    if (errno == EACCES) throw Error(path.string(), "may not be read", "change the file's permissions");
    // The path itself is at fault, not the machine.
    if (errno == ELOOP || errno == ENAMETOOLONG)
      throw Error(path.string(), "cannot be opened (" + reason(errno) + ")", "correct the path");
    throw write_error(path, "cannot be opened", errno);
  }
  struct stat status {};
  const int error_number = ::fstat(descriptor, &status) == 0 ? 0 : errno;
  if (error_number == 0 && (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode))) return descriptor;
  ::close(descriptor);
  if (error_number != 0) throw write_error(path, "cannot be read", error_number);
  if (S_ISDIR(status.st_mode)) throw Error(path.string(), "is a folder", "give the path of a file in it");
  throw Error(path.string(), "is not a regular file", "give the path of a file");
}

std::size_t read_some(int descriptor, char* bytes, std::size_t size, const std::filesystem::path& path) {
  std::size_t total = 0;
  while (total < size) {
    const ssize_t got = ::read(descriptor, bytes + total, size - total);
    if (got < 0) {
      if (errno == EINTR) continue;
      throw write_error(path, "cannot be read", errno);
    }
    if (got == 0) break;
    total += static_cast<std::size_t>(got);
  }
  return total;
}

std::size_t read_some_at(int descriptor, std::uint64_t offset, void* bytes, std::size_t size,
                         const std::filesystem::path& path) {
  std::size_t total = 0;
  while (total < size) {
    const ssize_t got =
        ::pread(descriptor, static_cast<char*>(bytes) + total, size - total, off_t(offset + total));
    if (got < 0) {
      if (errno == EINTR) continue;
      throw write_error(path, "cannot be read", errno);
    }
    if (got == 0) break;
    total += static_cast<std::size_t>(got);
  }
  return total;
}

std::string read_whole_file(const std::filesystem::path& path) {
  struct Input {
    int descriptor;
    ~Input() { ::close(descriptor); }
  } input{open_input(path)};
  struct stat status {};
  std::string content;
  if (::fstat(input.descriptor, &status) == 0 && status.st_size > 0)
    content.reserve(static_cast<std::size_t>(status.st_size) + 1);
  constexpr std::size_t kChunk = 1 << 20;
  for (;;) {
    const std::size_t before = content.size();
    content.resize(before + kChunk);
    const std::size_t got = read_some(input.descriptor, content.data() + before, kChunk, path);
    content.resize(before + got);
    if (got < kChunk) return content;
  }
}

std::optional<std::string> read_file_if_there(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  return read_whole_file(path);
}

}  // namespace smile::data

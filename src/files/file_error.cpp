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

Error write_error(const std::filesystem::path& path, const std::string& what, int error_number) {
  return Error(path.string(), what + " (" + reason(error_number) + ")", mend_for(error_number),
               ErrorKind::run);
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
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      throw Error(path.string(), "no such file",
                  "correct the path; a relative path starts at the working folder");
    if (errno == EACCES) throw Error(path.string(), "may not be read", "change the file's permissions");
    throw Error(path.string(), "cannot be opened (" + reason(errno) + ")", "check the path");
  }
  struct stat status {};
  const int error_number = ::fstat(descriptor, &status) == 0 ? 0 : errno;
  if (error_number == 0 && (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode))) return descriptor;
  ::close(descriptor);
  if (error_number != 0)
    throw Error(path.string(), "cannot be read (" + reason(error_number) + ")", "check the path");
  if (S_ISDIR(status.st_mode)) throw Error(path.string(), "is a folder", "give the path of a file in it");
  throw Error(path.string(), "is not a regular file", "give the path of a file");
}

std::size_t read_some(int descriptor, char* bytes, std::size_t size, const std::filesystem::path& path) {
  std::size_t total = 0;
  while (total < size) {
    const ssize_t got = ::read(descriptor, bytes + total, size - total);
    if (got < 0) {
      if (errno == EINTR) continue;
      throw Error(path.string(), "cannot be read (" + reason(errno) + ")", "check the disk");
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

}  // namespace smile::data

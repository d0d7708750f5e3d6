// SPDX-License-Identifier: Apache-2.0
#include "smile/files/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "files/file_error.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;

/// Distinct within the process and, by the process id, between processes.
std::string temporary_suffix() {
  static std::atomic<unsigned> counter{0};
  return ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(counter.fetch_add(1));
}

/// N of /dev/fd/N and its other names.
std::optional<int> named_descriptor(const fs::path& path) {
  const std::string name = path.lexically_normal().string();
  if (name == "/dev/stdout") return STDOUT_FILENO;
  if (name == "/dev/stderr") return STDERR_FILENO;
  const std::string own = "/proc/" + std::to_string(::getpid()) + "/fd/";
  for (const std::string& folder : {std::string("/dev/fd/"), std::string("/proc/self/fd/"), own}) {
    if (!name.starts_with(folder)) continue;
    int number = -1;
    const char* end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + folder.size(), end, number);
    if (error == std::errc{} && stop == end && number >= 0) return number;
  }
  return std::nullopt;
}

/// The path that a chain of links ends at. A descriptor's name is an end: what it links to is the file that
/// the shell has opened, and the descriptor's place in it is not ours to change.
fs::path behind_links(const fs::path& path) {
  constexpr int kMostLinks = 40;
  fs::path at = path;
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code error;
    if (named_descriptor(at) || !fs::is_symlink(fs::symlink_status(at, error))) return at;
    const fs::path next = fs::read_symlink(at, error);
    if (error) return at;
    at = next.is_absolute() ? next : at.parent_path() / next;
  }
  throw Error(path.string(), "the links lead in a circle", "give the path of a file");
}

}  // namespace

OutputTarget output_target(const fs::path& path) {
  if (path.empty())
    throw Error("output", "the path is empty", "give the path of a file, or - for standard output");
  if (path == "-") return {path, STDOUT_FILENO, true};
  OutputTarget target;
  target.path = behind_links(path);
  if (const auto descriptor = named_descriptor(target.path)) {
    target.descriptor = *descriptor;
    target.stream = true;
    return target;
  }
  struct stat status {};
  if (::stat(target.path.c_str(), &status) != 0)
    return target;  // to be made, or creating it will say why not
  if (S_ISDIR(status.st_mode)) throw Error(path.string(), "is a folder", "give the path of a file");
  target.stream = !S_ISREG(status.st_mode);
  return target;
}

AtomicFile::AtomicFile(fs::path path) : path_(std::move(path)), target_(output_target(path_)) {
  std::error_code none;
  const fs::path gathered = target_.stream ? fs::temp_directory_path(none) : fs::path();
  if (none)
    throw Error(path_.string(), "there is no folder for temporary files to gather it in",
                "let TMPDIR name a folder that is there", ErrorKind::run);
  temporary_ = target_.stream ? gathered / "smile" : target_.path;
  temporary_ += temporary_suffix();
  // A new file gets the permissions that the process gives; a replaced one keeps its own.
  struct stat status {};
  const bool replaces = !target_.stream && ::stat(target_.path.c_str(), &status) == 0;
  if (replaces && ::access(target_.path.c_str(), W_OK) != 0)
    throw data::write_error(path_, "cannot replace the file", errno);
  descriptor_ = data::open_file(temporary_, O_RDWR | O_CREAT | O_TRUNC, target_.stream ? 0600 : 0666);
  if (descriptor_ < 0) throw data::write_error(path_, "cannot create the file", errno);
  if (replaces) static_cast<void>(::fchmod(descriptor_, status.st_mode & 07777));
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

void AtomicFile::copy_to_stream() {
  const int out =
      target_.descriptor >= 0 ? ::dup(target_.descriptor) : data::open_file(target_.path, O_WRONLY);
  if (out < 0) throw data::write_error(path_, "cannot be opened for writing", errno);
  struct Closer {
    int descriptor;
    ~Closer() { ::close(descriptor); }
  } closer{out};
  if (::lseek(descriptor_, 0, SEEK_SET) < 0) throw data::write_error(path_, "cannot write the file", errno);
  std::string piece(std::size_t{1} << 20, '\0');
  while (const std::size_t size = data::read_some(descriptor_, piece.data(), piece.size(), temporary_))
    data::write_all(out, piece.data(), size, path_);
}

void AtomicFile::commit() {
  if (target_.stream) {
    copy_to_stream();
    ::unlink(temporary_.c_str());
    ::close(std::exchange(descriptor_, -1));
    return;
  }
  // Content first, name second, folder last: after a crash the name leads to whole content, old or new.
  data::sync_file(descriptor_, path_);
  if (::rename(temporary_.c_str(), target_.path.c_str()) != 0)
    throw data::write_error(path_, "cannot give the file its name", errno);
  ::close(std::exchange(descriptor_, -1));

  const fs::path folder = target_.path.has_parent_path() ? target_.path.parent_path() : fs::path(".");
  const int directory = data::open_file(folder, O_RDONLY | O_DIRECTORY);
  if (directory < 0) return;  // a folder one may write to but not read: the rename itself has succeeded
  int status = 0;
  do status = ::fsync(directory);
  while (status != 0 && errno == EINTR);
  const int error_number = errno;
  ::close(directory);
  // Some file systems cannot sync folders and say so; that is not a failed write.
  if (status != 0 && error_number != EINVAL)
    throw data::write_error(path_, "cannot write the folder", error_number);
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
// Faults by injection: preloaded, one call of the program fails as a full disk, a broken disk, a limit or a
// signal makes it fail.
//   SMILE_FAULT=CALL:N:KIND   the Nth call of CALL (from 1) fails; "N+" all from the Nth on
//   SMILE_FAULT_COUNTS=FILE   at the end the numbers of calls are written there, a line "CALL COUNT" each
// CALL is write, fsync, rename, open, mmap, lock, truncate, close, read, mkdir or link; KIND a name of an
// error, or `short` for half a write or read.
//
// What is seen: calls that the program and its libraries (libstdc++, HDF5, netCDF) make through the dynamic
// linker. What is not: calls inside the C library itself - the writes of stdio (so that messages on standard
// error arrive), the open of fopen (fopen itself is seen, as `open`, which is how libstdc++ opens its
// streams), the mmap of malloc and of threads - and those of the dynamic linker before main().
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace {

constexpr std::array<std::string_view, 11> kCalls = {"write",    "fsync", "rename", "open",  "mmap", "lock",
                                                     "truncate", "close", "read",   "mkdir", "link"};
constexpr std::array<std::pair<std::string_view, int>, 8> kErrors = {{{"ENOSPC", ENOSPC},
                                                                      {"EIO", EIO},
                                                                      {"EMFILE", EMFILE},
                                                                      {"ENOLCK", ENOLCK},
                                                                      {"EINTR", EINTR},
                                                                      {"ENOMEM", ENOMEM},
                                                                      {"EACCES", EACCES},
                                                                      {"short", -1}}};

constexpr std::size_t index_of(std::string_view call) {
  for (std::size_t i = 0; i < kCalls.size(); ++i)
    if (kCalls[i] == call) return i;
  return kCalls.size();
}

struct Plan {
  std::array<std::atomic<long>, kCalls.size()> counts{};
  std::size_t call = kCalls.size();
  long first = 0;
  bool onwards = false;
  int error = 0;

  Plan() {
    const char* text = std::getenv("SMILE_FAULT");
    if (!text) return;
    const std::string_view plan(text);
    const std::size_t colon = plan.find(':'), last = plan.rfind(':');
    if (colon == std::string_view::npos || colon == last) std::abort();
    call = index_of(plan.substr(0, colon));
    first = std::atol(text + colon + 1);
    onwards = plan[last - 1] == '+';
    for (const auto& [name, number] : kErrors)
      if (name == plan.substr(last + 1)) error = number;
    if (call == kCalls.size() || first < 1 || error == 0) std::abort();
  }
  ~Plan() {
    const char* path = std::getenv("SMILE_FAULT_COUNTS");
    if (!path) return;
    std::string text;
    for (std::size_t i = 0; i < kCalls.size(); ++i)
      text += std::string(kCalls[i]) + " " + std::to_string(counts[i].load()) + "\n";
    const long file = ::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file >= 0) ::syscall(SYS_write, file, text.data(), text.size());
  }
};

Plan& plan() {
  static Plan one;
  return one;
}
/// Made before main(), so that its destructor runs after the program's own.
[[maybe_unused]] const Plan& made_early = plan();

/// Counts the call. @return 0 to let it pass, -1 for half of it, else the error
int fault_of(std::size_t call) {
  Plan& p = plan();
  const long n = ++p.counts[call];
  const bool chosen = call == p.call && (n == p.first || (p.onwards && n > p.first));
  return chosen ? p.error : 0;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

/// The error is noted: the call has failed.
bool fails(std::size_t call) {
  const int fault = fault_of(call);
  if (fault == 0) return false;
  errno = fault > 0 ? fault : EIO;
  return true;
}

template <class Call>
ssize_t transfer(std::size_t kind, std::size_t size, const Call& call) {
  const int fault = fault_of(kind);
  if (fault > 0) {
    errno = fault;
    return -1;
  }
  return call(fault < 0 && size > 1 ? size / 2 : size);
}

bool is_lock(int command) {
  return command == F_GETLK || command == F_SETLK || command == F_SETLKW || command == F_OFD_GETLK ||
         command == F_OFD_SETLK || command == F_OFD_SETLKW;
}

constexpr std::size_t kWrite = index_of("write"), kSync = index_of("fsync"), kRename = index_of("rename"),
                      kOpen = index_of("open"), kMap = index_of("mmap"), kLock = index_of("lock"),
                      kTruncate = index_of("truncate"), kClose = index_of("close"), kRead = index_of("read"),
                      kFolder = index_of("mkdir"), kLink = index_of("link");

mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

extern "C" {

ssize_t write(int file, const void* bytes, size_t size) {
  return transfer(kWrite, size, [&](size_t n) {
    return next<ssize_t (*)(int, const void*, size_t)>("write")(file, bytes, n);
  });
}
ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  return transfer(kWrite, size, [&](size_t n) {
    return next<ssize_t (*)(int, const void*, size_t, off_t)>("pwrite")(file, bytes, n, at);
  });
}
ssize_t pwrite64(int file, const void* bytes, size_t size, off64_t at) {
  return pwrite(file, bytes, size, at);
}
ssize_t writev(int file, const iovec* parts, int count) {
  // Half of it: the first part.
  return transfer(kWrite, size_t(count), [&](size_t n) {
    return next<ssize_t (*)(int, const iovec*, int)>("writev")(file, parts, int(n));
  });
}
ssize_t read(int file, void* bytes, size_t size) {
  return transfer(kRead, size,
                  [&](size_t n) { return next<ssize_t (*)(int, void*, size_t)>("read")(file, bytes, n); });
}
ssize_t pread(int file, void* bytes, size_t size, off_t at) {
  return transfer(kRead, size, [&](size_t n) {
    return next<ssize_t (*)(int, void*, size_t, off_t)>("pread")(file, bytes, n, at);
  });
}
ssize_t pread64(int file, void* bytes, size_t size, off64_t at) {
  return pread(file, bytes, size, at);
}

int fsync(int file) {
  return fails(kSync) ? -1 : next<int (*)(int)>("fsync")(file);
}
int fdatasync(int file) {
  return fails(kSync) ? -1 : next<int (*)(int)>("fdatasync")(file);
}
int rename(const char* from, const char* to) noexcept {
  return fails(kRename) ? -1 : next<int (*)(const char*, const char*)>("rename")(from, to);
}
int link(const char* from, const char* to) noexcept {
  return fails(kLink) ? -1 : next<int (*)(const char*, const char*)>("link")(from, to);
}
int mkdir(const char* path, mode_t mode) noexcept {
  return fails(kFolder) ? -1 : next<int (*)(const char*, mode_t)>("mkdir")(path, mode);
}
int ftruncate(int file, off_t size) noexcept {
  return fails(kTruncate) ? -1 : next<int (*)(int, off_t)>("ftruncate")(file, size);
}
int ftruncate64(int file, off64_t size) noexcept {
  return ftruncate(file, size);
}

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return fails(kOpen) ? -1 : next<int (*)(const char*, int, mode_t)>("open")(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return fails(kOpen) ? -1 : next<int (*)(const char*, int, mode_t)>("open64")(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return fails(kOpen) ? -1
                      : next<int (*)(int, const char*, int, mode_t)>("openat")(folder, path, flags, mode);
}
FILE* fopen(const char* path, const char* mode) {
  return fails(kOpen) ? nullptr : next<FILE* (*)(const char*, const char*)>("fopen")(path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  return fails(kOpen) ? nullptr : next<FILE* (*)(const char*, const char*)>("fopen64")(path, mode);
}
/// The file is closed all the same, as Linux does it.
int close(int file) {
  const bool failing = fails(kClose);
  const int error = errno;
  const int status = next<int (*)(int)>("close")(file);
  if (!failing) return status;
  errno = error;
  return -1;
}

void* mmap(void* at, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  if (fails(kMap)) return MAP_FAILED;
  return next<void* (*)(void*, size_t, int, int, int, off_t)>("mmap")(at, size, protection, flags, file,
                                                                      offset);
}
void* mmap64(void* at, size_t size, int protection, int flags, int file, off64_t offset) noexcept {
  return mmap(at, size, protection, flags, file, offset);
}

int flock(int file, int operation) noexcept {
  return fails(kLock) ? -1 : next<int (*)(int, int)>("flock")(file, operation);
}
int fcntl(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  if (is_lock(command) && fails(kLock)) return -1;
  return next<int (*)(int, int, ...)>("fcntl")(file, command, argument);
}
int fcntl64(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  if (is_lock(command) && fails(kLock)) return -1;
  return next<int (*)(int, int, ...)>("fcntl64")(file, command, argument);
}
}

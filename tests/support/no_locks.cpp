// SPDX-License-Identifier: Apache-2.0
// A file system that refuses locks, as many shared ones do: preloaded, every flock and fcntl lock fails with
// ENOLCK.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstdarg>

namespace {

bool is_lock(int command) {
  return command == F_GETLK || command == F_SETLK || command == F_SETLKW || command == F_OFD_GETLK ||
         command == F_OFD_SETLK || command == F_OFD_SETLKW;
}

int any_fcntl(const char* name, int descriptor, int command, void* argument) {
  if (is_lock(command)) {
    errno = ENOLCK;
    return -1;
  }
  using Fcntl = int (*)(int, int, ...);
  return reinterpret_cast<Fcntl>(::dlsym(RTLD_NEXT, name))(descriptor, command, argument);
}

}  // namespace

extern "C" {

int flock(int, int) noexcept {
  errno = ENOLCK;
  return -1;
}

int lockf(int, int, off_t) {
  errno = ENOLCK;
  return -1;
}

int fcntl(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  return any_fcntl("fcntl", descriptor, command, argument);
}

int fcntl64(int descriptor, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  return any_fcntl("fcntl64", descriptor, command, argument);
}
}

// SPDX-License-Identifier: Apache-2.0
#include "output.hpp"

#include <cstring>
#include <iostream>

#include "smile/files/atomic_file.hpp"

namespace smile::program {

int& output_error() {
  static int error = 0;
  return error;
}

std::FILE* lines_beside(const std::string& out) {
  return !out.empty() && output_target(out).descriptor == 1 ? stderr : stdout;
}

int finish_output(int status) {
  errno = 0;
  std::cout.flush();
  if (std::fflush(stdout) != 0 && output_error() == 0) output_error() = errno != 0 ? errno : EIO;
  if (output_error() == 0 && std::ferror(stdout) == 0 && std::cout.good()) return status;
  const int error = output_error() != 0 ? output_error() : EIO;
  if (error != EPIPE)
    std::fprintf(
        stderr,
        "error: standard output: cannot be written (%s); free space there or write to a file elsewhere\n",
        std::strerror(error));
  return status != 0 ? status : 1;
}

}  // namespace smile::program

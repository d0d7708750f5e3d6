// SPDX-License-Identifier: Apache-2.0
/// Standard output of the program. What cannot be written is remembered, and told once at the end.
#pragma once

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <string>

namespace smile::program {

/// The first error of standard output, 0 where there was none.
int& output_error();

inline void put(const std::string& text, std::FILE* file = stdout) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), file) != text.size() && file == stdout && output_error() == 0)
    output_error() = errno != 0 ? errno : EIO;
}

/// Writes to standard output; never throws for what the stream does.
template <class... Arguments>
void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  put(fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// The same to standard error.
template <class... Arguments>
void print_error(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  put(fmt::format(format, std::forward<Arguments>(arguments)...), stderr);
}

/// Where the closing lines of a command go whose result goes to `out`: standard error where that is standard
/// output.
std::FILE* lines_beside(const std::string& out);

/// Flushes standard output. @return `status`, or 1 with a line on standard error where something is missing;
/// where the reader of a pipe has gone there is nobody to tell, and no line
int finish_output(int status);

}  // namespace smile::program

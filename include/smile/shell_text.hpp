// SPDX-License-Identifier: Apache-2.0
/// Words of commands that are printed to be given to a shell.
#pragma once

#include <string>
#include <string_view>

namespace smile {

/// The word as it is where a shell takes it so, else in single quotes.
inline std::string shell_quoted(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string(word);
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

}  // namespace smile

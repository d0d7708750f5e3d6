// SPDX-License-Identifier: Apache-2.0
#include "files/yaml_text.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace smile::data {

std::string yaml_text(std::string_view value) {
  static constexpr std::array<std::string_view, 12> kWords{"null", "true", "false", "yes", "no",   "on",
                                                           "off",  "y",    "n",     "inf", ".inf", ".nan"};
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '.' || c == '/' || c == '-';
  };
  std::string lower(value);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const bool starts_like_text = !value.empty() && (std::isalpha(static_cast<unsigned char>(value[0])) ||
                                                   value[0] == '_' || value[0] == '/');
  if (starts_like_text && std::all_of(value.begin(), value.end(), plain) &&
      std::find(kWords.begin(), kWords.end(), lower) == kWords.end()) {
    return std::string(value);
  }
  std::string quoted = "\"";
  for (const char c : value) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (code < 0x20 || code == 0x7f) {
      static constexpr std::string_view kHex = "0123456789abcdef";
      quoted += "\\x";
      quoted += kHex[code >> 4];
      quoted += kHex[code & 15];
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace smile::data

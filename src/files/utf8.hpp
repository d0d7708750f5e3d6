// SPDX-License-Identifier: Apache-2.0
/// UTF-8, strictly: a code point at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace smile::data {

/// The code point at the start of `text` and the bytes it takes; length 0 where there is none: a stray or
/// missing continuation, an overlong form, a surrogate, or more than U+10FFFF.
/// @pre text is not empty   @source RFC 3629
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;
};
CodePoint next_code_point(std::string_view text);

void append_utf8(std::string& out, char32_t point);

}  // namespace smile::data

// SPDX-License-Identifier: Apache-2.0
/// The largest entry of a row, the first among equals.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace smile {

template <class T>
std::uint32_t argmax(std::span<const T> row) {
  return static_cast<std::uint32_t>(std::max_element(row.begin(), row.end()) - row.begin());
}

}  // namespace smile

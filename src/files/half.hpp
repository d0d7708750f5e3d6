// SPDX-License-Identifier: Apache-2.0
/// Half-precision numbers as bits: IEEE binary16 and bfloat16, rounded to nearest, ties to even.
#pragma once

#include <bit>
#include <cstdint>

namespace smile::data {

/// NaN stays NaN; what rounds beyond ±65504 becomes infinite; subnormal halves are kept.
inline std::uint16_t half_of(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value), magnitude = bits & 0x7fffffffU;
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  if (magnitude > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7e00U);
  if (magnitude >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U);  // 65520 and more
  std::uint32_t mantissa, shift;
  if (magnitude < 0x38800000U) {               // below 2^-14: a multiple of 2^-24
    if (magnitude < 0x33000000U) return sign;  // below 2^-25
    mantissa = (magnitude & 0x7fffffU) | 0x800000U;
    shift = 126 - (magnitude >> 23);
  } else {
    mantissa = magnitude - 0x38000000U;  // with the exponent moved from a bias of 127 to 15
    shift = 13;
  }
  const std::uint32_t half = 1U << (shift - 1), rest = mantissa & ((1U << shift) - 1);
  std::uint32_t rounded = mantissa >> shift;
  if (rest > half || (rest == half && (rounded & 1U))) ++rounded;  // a carry into the exponent is right
  return static_cast<std::uint16_t>(sign | rounded);
}

inline float float_of_half(std::uint16_t bits) {
  const std::uint32_t sign = std::uint32_t{bits & 0x8000U} << 16, exponent = (bits >> 10) & 0x1fU,
                      mantissa = bits & 0x3ffU;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
    return sign ? -magnitude : magnitude;
  }
  const std::uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | (wide << 23) | (mantissa << 13));
}

inline std::uint16_t bfloat_of(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>((bits >> 16) | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

inline float float_of_bfloat(std::uint16_t bits) {
  return std::bit_cast<float>(std::uint32_t{bits} << 16);
}

}  // namespace smile::data

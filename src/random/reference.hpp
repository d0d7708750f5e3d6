// SPDX-License-Identifier: Apache-2.0
/// Plain scalar form of fill_normals; the tests compare the vector form with it.
///
/// Which words make which element is fixed, so that the numbers do not depend on the width of a vector.
/// Elements come in chunks of 16 groups × (normals a block gives): in chunk k, normal j of block 16k + l is
/// element 64k + 16j + l (float, four normals a block) or 32k + 16j + l (double, two). A vector register of
/// up to 16 lanes thus holds consecutive elements made from consecutive blocks.
#pragma once

#include <array>
#include <cmath>
#include <numbers>

#include "random/philox.hpp"

namespace smile::random_detail {

inline constexpr std::size_t kBlocksPerChunk = 16;

/// 2π·turn, reduced to the nearest quarter turn before it is multiplied, as the vector form does it.
struct CosSin {
  double cos, sin;
};
inline CosSin cos_sin(double turn) {
  const double quarter = std::nearbyint(4 * turn), angle = 2 * std::numbers::pi * (turn - quarter / 4);
  const double c = std::cos(angle), s = std::sin(angle);
  switch (int(quarter) & 3) {
    case 0:
      return {c, s};
    case 1:
      return {-s, c};
    case 2:
      return {-c, -s};
    default:
      return {s, -c};
  }
}

/// Two standard normals by Box–Muller; uniform in (0, 1], turn in [0, 1).
inline std::array<double, 2> box_muller(double uniform, double turn) {
  const double radius = std::sqrt(-2 * std::log(uniform));
  const auto [c, s] = cos_sin(turn);
  return {radius * c, radius * s};
}

/// Normal j (0 … 3) of a block, for single precision: words 0 and 1 make normals 0 and 1, words 2 and 3 the
/// others.
inline float block_normal_float(const std::array<std::uint32_t, 4>& words, std::size_t j) {
  const std::size_t pair = 2 * (j / 2);
  return float(box_muller((words[pair] >> 1) * 0x1p-31 + 0x1p-32, words[pair + 1] * 0x1p-32)[j % 2]);
}

/// Normal j (0, 1) of a block, for double precision: 53 bits of (word 1, word 0) and of (word 3, word 2).
inline double block_normal_double(const std::array<std::uint32_t, 4>& words, std::size_t j) {
  const std::uint64_t radial = std::uint64_t(words[1]) << 32 | words[0];
  const std::uint64_t angular = std::uint64_t(words[3]) << 32 | words[2];
  return box_muller(double((radial >> 11) + 1) * 0x1p-53, double(angular >> 11) * 0x1p-53)[j];
}

template <class T>
T normal_at(const PhiloxStart& start, std::size_t element) {
  constexpr bool kSingle = sizeof(T) == 4;
  constexpr std::size_t kChunk = kBlocksPerChunk * (kSingle ? 4 : 2);
  const std::size_t within = element % kChunk, j = within / kBlocksPerChunk;
  const auto block = std::uint32_t(element / kChunk * kBlocksPerChunk + within % kBlocksPerChunk);
  const auto words = philox_block(start, block);
  if constexpr (kSingle)
    return block_normal_float(words, j);
  else
    return block_normal_double(words, j);
}

}  // namespace smile::random_detail

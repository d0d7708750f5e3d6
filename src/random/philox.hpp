// SPDX-License-Identifier: Apache-2.0
/// The generator under every stream: Philox4x32-10, and how a stream is named by its key and counter.
#pragma once

#include <Random123/philox.h>

#include <array>
#include <cassert>
#include <cstdint>

#include "smile/random/stream.hpp"

namespace smile::random_detail {

/// Key and counter of block 0 of a (stream key, step). No two (seed, chain, purpose, step, block) share both:
///   key = seed (64 bits);   counter = { block, purpose·2²⁴ + chain, step low, step high }.
struct PhiloxStart {
  std::array<std::uint32_t, 2> key;
  std::array<std::uint32_t, 4> counter;
};

inline PhiloxStart philox_start(StreamKey key, std::uint64_t step) noexcept {
  assert(key.chain < (1u << 24));
  return {{std::uint32_t(key.seed), std::uint32_t(key.seed >> 32)},
          {0, std::uint32_t(key.purpose) << 24 | key.chain, std::uint32_t(step), std::uint32_t(step >> 32)}};
}

/// The four words of one block.
inline std::array<std::uint32_t, 4> philox_block(const PhiloxStart& start, std::uint32_t block) noexcept {
  const r123::Philox4x32 generate;
  const auto words = generate({{block, start.counter[1], start.counter[2], start.counter[3]}},
                              {{start.key[0], start.key[1]}});
  return {words[0], words[1], words[2], words[3]};
}

}  // namespace smile::random_detail

// SPDX-License-Identifier: Apache-2.0
#include "smile/random/stream.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "random/philox.hpp"

namespace smile {

Stream::Stream(StreamKey key, std::uint64_t step) noexcept {
  const auto start = random_detail::philox_start(key, step);
  std::copy(start.key.begin(), start.key.end(), key_);
  std::copy(start.counter.begin(), start.counter.end(), counter_);
}

void Stream::refill() noexcept {
  const random_detail::PhiloxStart start{{key_[0], key_[1]},
                                         {counter_[0], counter_[1], counter_[2], counter_[3]}};
  const auto words = random_detail::philox_block(start, counter_[0]);
  std::copy(words.begin(), words.end(), words_);
  ++counter_[0];
  used_ = 0;
}

std::uint32_t Stream::bits32() noexcept {
  if (used_ == 4) refill();
  return words_[used_++];
}

std::uint64_t Stream::bits64() noexcept {
  const std::uint64_t low = bits32();
  return std::uint64_t(bits32()) << 32 | low;
}

double Stream::uniform() noexcept {
  // Multiples of 2^-53; zero is drawn again, so that the logarithm of a uniform is always finite.
  std::uint64_t bits;
  do bits = bits64() >> 11;
  while (bits == 0);
  return double(bits) * 0x1p-53;
}

std::uint32_t Stream::below(std::uint32_t bound) noexcept {
  // Lemire 2019: the high word of bits·bound, with the few low words refused that would favour some values.
  std::uint64_t product = std::uint64_t(bits32()) * bound;
  if (std::uint32_t(product) < bound) {
    const std::uint32_t excess = (0u - bound) % bound;
    while (std::uint32_t(product) < excess) product = std::uint64_t(bits32()) * bound;
  }
  return std::uint32_t(product >> 32);
}

double Stream::normal() noexcept {
  if (has_spare_) {
    has_spare_ = false;
    return spare_normal_;
  }
  const double radius = std::sqrt(-2 * std::log(uniform()));
  const double angle = 2 * std::numbers::pi * uniform();
  spare_normal_ = radius * std::sin(angle);
  has_spare_ = true;
  return radius * std::cos(angle);
}

void random_permutation(StreamKey key, std::uint64_t step, std::span<std::uint32_t> out) {
  std::iota(out.begin(), out.end(), 0u);
  Stream stream(key, step);
  for (std::size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[stream.below(std::uint32_t(i))]);
}

}  // namespace smile

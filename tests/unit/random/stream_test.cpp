// SPDX-License-Identifier: Apache-2.0
// Known answers, ranges and distributions of the counter-based streams.
#include "smile/random/stream.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <vector>

#include "random/philox.hpp"

namespace smile {
namespace {

// Published answers of Philox4x32-10 (Salmon et al. 2011), with key and counter of all zeros, all ones, and
// digits of pi.
TEST(Philox, GivesThePublishedAnswers) {
  struct Case {
    std::array<std::uint32_t, 4> counter;
    std::array<std::uint32_t, 2> key;
    std::array<std::uint32_t, 4> words;
  };
  const Case cases[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const Case& c : cases)
    EXPECT_EQ(random_detail::philox_block({c.key, c.counter}, c.counter[0]), c.words);
}

TEST(Stream, WordsAreThoseOfConsecutiveBlocks) {
  const StreamKey key{0x0123456789abcdef, 77, Purpose::batches};
  const std::uint64_t step = 0xfedcba9876543210;
  Stream stream(key, step);
  const random_detail::PhiloxStart start{{0x89abcdef, 0x01234567},
                                         {0, 3u << 24 | 77, 0x76543210, 0xfedcba98}};
  for (std::uint32_t block = 0; block < 10; ++block)
    for (std::uint32_t word : random_detail::philox_block(start, block)) EXPECT_EQ(stream.bits32(), word);
}

TEST(Stream, DifferentNamesGiveDifferentNumbers) {
  std::set<std::uint64_t> seen;
  int streams = 0;
  for (std::uint64_t seed : {0ull, 1ull, 1ull << 32})
    for (std::uint32_t chain : {0u, 1u, 255u, (1u << 24) - 1})
      for (Purpose purpose : {Purpose::initialisation, Purpose::batches, Purpose::bootstrap})
        for (std::uint64_t step : {0ull, 1ull, 1ull << 32, ~0ull}) {
          seen.insert(Stream({seed, chain, purpose}, step).bits64());
          ++streams;
        }
  EXPECT_EQ(seen.size(), std::size_t(streams));
}

TEST(Stream, UniformLiesStrictlyInsideTheUnitIntervalWithTheRightMoments) {
  Stream stream({5, 0, Purpose::diagnostics});
  const int n = 1'000'000;
  double sum = 0, square = 0;
  for (int i = 0; i < n; ++i) {
    const double u = stream.uniform();
    ASSERT_GT(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u - 0.5;
    square += u * u - 1.0 / 3;
  }
  EXPECT_LT(std::fabs(sum / n) / std::sqrt(1.0 / 12 / n), 4.5);
  EXPECT_LT(std::fabs(square / n) / std::sqrt(4.0 / 45 / n), 4.5);
}

TEST(Stream, BelowIsUniformAlsoWhereTheBoundIsNoPowerOfTwo) {
  for (std::uint32_t bound : {1u, 2u, 3u, 7u, 100u}) {
    Stream stream({6, bound, Purpose::split});
    std::vector<int> counts(bound);
    const int n = 200'000;
    for (int i = 0; i < n; ++i) {
      const std::uint32_t value = stream.below(bound);
      ASSERT_LT(value, bound);
      ++counts[value];
    }
    double chi2 = 0;
    const double expected = double(n) / bound;
    for (int count : counts) chi2 += (count - expected) * (count - expected) / expected;
    const double freedom = bound - 1.0;
    EXPECT_LE(chi2, freedom + 4.5 * std::sqrt(2 * freedom) + 1e-9) << "bound " << bound;
  }
  // With a bound of 3·2^30 plain multiplication would give every third value twice as often.
  Stream stream({7, 0, Purpose::split});
  int thirds[3] = {0, 0, 0};
  const int n = 300'000;
  for (int i = 0; i < n; ++i) ++thirds[stream.below(3u << 30) % 3];
  for (int count : thirds) EXPECT_LT(std::fabs(count - n / 3.0) / std::sqrt(n * 2.0 / 9), 4.5);
}

TEST(Stream, NormalHasTheMomentsOfAStandardNormal) {
  Stream stream({8, 3, Purpose::momentum}, 12);
  const int n = 1'000'000;
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0, neighbours = 0, last = 0;
  for (int i = 0; i < n; ++i) {
    const double z = stream.normal();
    m1 += z, m2 += z * z, m3 += z * z * z, m4 += z * z * z * z;
    neighbours += z * last;
    last = z;
  }
  EXPECT_LT(std::fabs(m1 / n) * std::sqrt(n), 4.5);
  EXPECT_LT(std::fabs(m2 / n - 1) * std::sqrt(n / 2.0), 4.5);
  EXPECT_LT(std::fabs(m3 / n) * std::sqrt(n / 15.0), 4.5);
  EXPECT_LT(std::fabs(m4 / n - 3) * std::sqrt(n / 96.0), 4.5);
  EXPECT_LT(std::fabs(neighbours / n) * std::sqrt(n), 4.5);
}

TEST(RandomPermutation, IsAPermutationAndEveryPositionIsUniform) {
  const std::uint32_t n = 7;
  std::vector<std::vector<int>> counts(n, std::vector<int>(n));
  const int draws = 70'000;
  for (int step = 0; step < draws; ++step) {
    std::array<std::uint32_t, n> out;
    random_permutation({9, 0, Purpose::batches}, std::uint64_t(step), out);
    std::set<std::uint32_t> values(out.begin(), out.end());
    ASSERT_EQ(values.size(), n);
    ASSERT_LT(*values.rbegin(), n);
    for (std::uint32_t i = 0; i < n; ++i) ++counts[i][out[i]];
  }
  for (const auto& row : counts)
    for (int count : row) EXPECT_LT(std::fabs(count - draws / 7.0) / std::sqrt(draws * 6 / 49.0), 4.5);
}

TEST(RandomPermutation, OfNothingAndOfOneIsTrivial) {
  random_permutation({1, 0, Purpose::split}, 0, {});
  std::uint32_t one = 99;
  random_permutation({1, 0, Purpose::split}, 0, {&one, 1});
  EXPECT_EQ(one, 0u);
}

}  // namespace
}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
// fill_normals: the same numbers for every instruction set and length, and the distribution they should have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "random/reference.hpp"
#include "smile/instruction_set.hpp"
#include "smile/random/stream.hpp"

namespace smile {
namespace {

template <class T>
class Normals : public ::testing::Test {
 protected:
  template <class F>
  void for_each_instruction_set(F body) {
    for (const std::string& name : available_instruction_sets()) {
      SCOPED_TRACE("instruction set " + name);
      force_instruction_set(name);
      body();
    }
    force_instruction_set("");
  }
};
using Elements = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Normals, Elements);

template <class T>
std::vector<T> normals(std::size_t n, StreamKey key, std::uint64_t step) {
  std::vector<T> out(n);
  fill_normals(key, step, std::span<T>(out));
  return out;
}

TYPED_TEST(Normals, EqualThePlainFormForEveryInstructionSet) {
  using T = TypeParam;
  // The float form is exact to a few units of the last place of numbers of order one.
  const double tolerance = sizeof(T) == 4 ? 1.5e-6 : 1e-14;
  const StreamKey key{0xdeadbeefcafef00d, 0xabcdef, Purpose::gradient_noise};
  const std::uint64_t step = 0x1234567890abcdef;
  const auto start = random_detail::philox_start(key, step);
  this->for_each_instruction_set([&] {
    const auto fast = normals<T>(20'003, key, step);
    for (std::size_t i = 0; i < fast.size(); ++i) {
      const double plain = random_detail::normal_at<T>(start, i);
      ASSERT_TRUE(std::fabs(fast[i] - plain) <= tolerance * std::max(1.0, std::fabs(plain)))
          << i << ": " << fast[i] << " not " << plain;
    }
  });
}

TYPED_TEST(Normals, OfEveryLengthAreThePrefixOfLongerOnesAndNothingIsWrittenBeyond) {
  using T = TypeParam;
  this->for_each_instruction_set([] {
    const StreamKey key{3, 4, Purpose::noise};
    const auto longest = normals<T>(2'000, key, 5);
    for (std::size_t n = 0; n <= 300; ++n) {
      std::vector<T> out(n + 70, T{77});
      fill_normals(key, 5, std::span<T>(out).first(n));
      for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], longest[i]) << "length " << n << " element " << i;
      for (std::size_t i = n; i < out.size(); ++i) ASSERT_EQ(out[i], T{77}) << "length " << n;
    }
  });
}

TYPED_TEST(Normals, FromAnElementOnAreThoseOfTheWhole) {
  using T = TypeParam;
  this->for_each_instruction_set([] {
    const StreamKey key{3, 4, Purpose::noise};
    const auto whole = normals<T>(2'000, key, 5);
    for (std::size_t first = 0; first < 2'000; first += 64)
      for (const std::size_t n : {1, 40, 64, 100}) {
        if (first + n > whole.size()) continue;
        std::vector<T> out(n);
        fill_normals_from(key, 5, first, std::span<T>(out));
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(out[i], whole[first + i]) << first << " + " << i;
      }
  });
}

TYPED_TEST(Normals, DoNotDependOnAlignment) {
  using T = TypeParam;
  const StreamKey key{3, 4, Purpose::noise};
  const auto expected = normals<T>(129, key, 6);
  std::vector<T> room(200);
  for (std::size_t offset = 0; offset < 64; ++offset) {
    fill_normals(key, 6, std::span<T>(room).subspan(offset, 129));
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), room.begin() + std::ptrdiff_t(offset)))
        << offset;
  }
}

TYPED_TEST(Normals, HaveTheMomentsAndTailsOfAStandardNormal) {
  using T = TypeParam;
  const std::size_t n = 4'000'000;
  const auto z = normals<T>(n, {11, 2, Purpose::noise}, 7);
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0, next = 0, across = 0;
  const double edges[] = {0.01, 0.1, 0.5, 1, 2, 3, 4};
  double beyond[7] = {};
  double negative = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = z[i];
    m1 += x, m2 += x * x, m3 += x * x * x, m4 += x * x * x * x;
    if (i >= 1) next += x * z[i - 1];
    if (i >= 16) across += x * z[i - 16];  // cosine and sine of one pair
    for (int k = 0; k < 7; ++k) beyond[k] += std::fabs(x) > edges[k];
    negative += x < 0;
  }
  const double d = double(n);
  const auto expect_z = [](double score, const std::string& what) {
    EXPECT_TRUE(std::fabs(score) < 4.5) << what << ' ' << score;
  };
  expect_z(m1 / std::sqrt(d), "mean");
  expect_z((m2 - d) / std::sqrt(2 * d), "variance");
  expect_z(m3 / std::sqrt(15 * d), "third moment");
  expect_z((m4 - 3 * d) / std::sqrt(96 * d), "fourth moment");
  expect_z(next / std::sqrt(d), "neighbours");
  expect_z(across / std::sqrt(d), "pairs");
  expect_z((negative - d / 2) / std::sqrt(d / 4), "sign");
  for (int k = 0; k < 7; ++k) {
    const double p = std::erfc(edges[k] / std::sqrt(2.0));
    expect_z((beyond[k] - d * p) / std::sqrt(d * p * (1 - p)), "beyond " + std::to_string(edges[k]));
  }
}

TYPED_TEST(Normals, OfDifferentPurposesChainsStepsAndSeedsAreIndependent) {
  using T = TypeParam;
  const std::size_t n = 200'000;
  const auto base = normals<T>(n, {1, 1, Purpose::noise}, 1);
  const std::vector<T> others[] = {
      normals<T>(n, {1, 1, Purpose::momentum}, 1), normals<T>(n, {1, 2, Purpose::noise}, 1),
      normals<T>(n, {1, 1, Purpose::noise}, 2), normals<T>(n, {2, 1, Purpose::noise}, 1),
      normals<T>(n, {1, 1, Purpose::noise}, std::uint64_t{1} << 32 | 1)};
  for (const auto& other : others) {
    double product = 0, squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
      product += double(base[i]) * other[i];
      squares += (double(base[i]) * base[i] - 1) * (double(other[i]) * other[i] - 1);
    }
    EXPECT_TRUE(std::fabs(product / std::sqrt(double(n))) < 4.5) << product;
    EXPECT_TRUE(std::fabs(squares / std::sqrt(4.0 * double(n))) < 4.5) << squares;
  }
}

// The words at the ends of the range give finite numbers: the largest radius and a radius near zero.
TEST(BoxMuller, IsFiniteAtTheEndsOfTheRange) {
  for (std::uint32_t radial : {0u, 1u, ~0u, ~0u - 1})
    for (std::uint32_t angular : {0u, 1u << 29, 1u << 30, 1u << 31, 3u << 30, ~0u})
      for (std::size_t j = 0; j < 4; ++j) {
        const std::array<std::uint32_t, 4> words{radial, angular, radial, angular};
        EXPECT_TRUE(std::isfinite(random_detail::block_normal_float(words, j)));
        EXPECT_LT(std::fabs(random_detail::block_normal_float(words, j)), 6.7);
        EXPECT_TRUE(std::isfinite(random_detail::block_normal_double(words, j % 2)));
      }
}

}  // namespace
}  // namespace smile

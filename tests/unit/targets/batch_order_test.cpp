// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "smile/error.hpp"
#include "smile/targets/batch_order.hpp"

namespace smile {
namespace {

StreamKey key(std::uint64_t seed = 1, std::uint32_t chain = 0) {
  return {seed, chain, Purpose::batches};
}

std::vector<std::uint32_t> batch(BatchOrder& order, std::uint64_t t) {
  const auto rows = order.rows(t);
  return {rows.begin(), rows.end()};
}

std::vector<std::size_t> sizes(const BatchOrder& order) {
  std::vector<std::size_t> out;
  for (std::size_t t = 0; t < order.batches_per_epoch(); ++t) out.push_back(order.size(t));
  return out;
}

using Sizes = std::vector<std::size_t>;

TEST(BatchOrder, sizes_follow_the_mode) {
  EXPECT_EQ(sizes(BatchOrder(1052, 256, BatchMode::even, key())), (Sizes{263, 263, 263, 263}));
  EXPECT_EQ(sizes(BatchOrder(1052, 256, BatchMode::keep, key())), (Sizes{256, 256, 256, 256, 28}));
  EXPECT_EQ(sizes(BatchOrder(1052, 256, BatchMode::drop, key())), (Sizes{256, 256, 256, 256}));
  EXPECT_EQ(sizes(BatchOrder(537, 256, BatchMode::even, key())), (Sizes{268, 269}));
  EXPECT_EQ(sizes(BatchOrder(537, 256, BatchMode::keep, key())), (Sizes{256, 256, 25}));
  EXPECT_EQ(sizes(BatchOrder(10, 4, BatchMode::even, key())), (Sizes{3, 3, 4}));  // 2.5 rounds up
  EXPECT_EQ(sizes(BatchOrder(512, 256, BatchMode::keep, key())), (Sizes{256, 256}));
  for (const BatchMode mode : {BatchMode::even, BatchMode::keep, BatchMode::drop}) {
    EXPECT_EQ(sizes(BatchOrder(100, 256, mode, key())), (Sizes{100}));
    EXPECT_EQ(sizes(BatchOrder(3, 1, mode, key())), (Sizes{1, 1, 1}));
  }
}

TEST(BatchOrder, all_rows_are_the_empty_span) {
  BatchOrder full(10), large(10, 11, BatchMode::drop, key()), equal(10, 10, BatchMode::keep, key()),
      one(300, 256, BatchMode::even, key());
  for (BatchOrder* order : {&full, &large, &equal, &one}) {
    EXPECT_TRUE(order->full());
    EXPECT_TRUE(order->rows(3).empty());
    EXPECT_EQ(order->size(3), order->observations());
  }
  // One batch an epoch, but not of all rows.
  BatchOrder dropped(300, 256, BatchMode::drop, key());
  EXPECT_FALSE(dropped.full());
  EXPECT_EQ(dropped.rows(0).size(), 256U);
}

TEST(BatchOrder, an_epoch_is_without_replacement) {
  for (const BatchMode mode : {BatchMode::even, BatchMode::keep, BatchMode::drop, BatchMode::reversed})
    for (const std::size_t n : {7U, 537U, 1052U})
      for (const std::size_t b : {1U, 3U, 256U, 500U}) {
        BatchOrder order(n, b, mode, key());
        if (order.full()) continue;
        for (std::uint64_t epoch : {0U, 1U, 5U}) {
          std::vector<std::uint32_t> seen;
          for (std::size_t k = 0; k < order.batches_per_epoch(); ++k) {
            const auto rows = batch(order, epoch * order.batches_per_epoch() + k);
            EXPECT_EQ(rows.size(), order.size(epoch * order.batches_per_epoch() + k));
            seen.insert(seen.end(), rows.begin(), rows.end());
          }
          std::sort(seen.begin(), seen.end());
          EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
          EXPECT_LT(seen.back(), n);
          EXPECT_EQ(seen.size(), mode == BatchMode::drop ? n / b * b : n);
        }
      }
}

/// Two epochs make a palindrome of the batches that `even` would have; then comes a new shuffle.
TEST(BatchOrder, reversed_epochs_take_the_batches_back) {
  for (const std::size_t rows : {537U, 1000U, 10U}) {
    BatchOrder even(rows, 4, BatchMode::even, key()), order(rows, 4, BatchMode::reversed, key());
    const std::size_t batches = order.batches_per_epoch();
    ASSERT_EQ(batches, even.batches_per_epoch());
    EXPECT_EQ(batches, BatchOrder::batches_in_epoch(rows, 4, BatchMode::reversed));
    for (std::uint64_t pair = 0; pair < 3; ++pair)
      for (std::size_t k = 0; k < batches; ++k) {
        const auto wanted = batch(even, pair * batches + k);
        const std::uint64_t there = 2 * pair * batches + k, back = 2 * (pair + 1) * batches - 1 - k;
        ASSERT_EQ(batch(order, there), wanted);
        ASSERT_EQ(batch(order, back), wanted);
        ASSERT_EQ(order.size(back), wanted.size());
      }
    EXPECT_NE(batch(order, 0), batch(order, 2 * batches));
  }
  EXPECT_TRUE(BatchOrder(300, 256, BatchMode::reversed, key()).full());
}

/// Batches of sizes that differ: weighted by their sizes, the scaled sums of an epoch average to the sum over
/// all rows exactly; unweighted, they do on average over the epochs.
TEST(BatchOrder, an_epoch_is_exact_with_weights_and_right_on_average_without) {
  constexpr std::size_t kRows = 537;
  std::vector<double> f(kRows);
  Stream stream({9, 0, Purpose::noise});
  for (double& value : f) value = stream.normal() + 1;
  const double whole = std::accumulate(f.begin(), f.end(), 0.0);
  BatchOrder order(kRows, 256, BatchMode::even, key());
  const std::size_t batches = order.batches_per_epoch();
  constexpr std::uint64_t kEpochs = 20000;
  double largest = 0, sum = 0, squares = 0;
  for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    double weighted = 0, plain = 0;
    for (std::size_t k = 0; k < batches; ++k) {
      double value = 0;
      const auto rows = order.rows(epoch * batches + k);
      for (const std::uint32_t i : rows) value += f[i];
      value *= double(kRows) / double(rows.size());
      weighted += value * double(rows.size()) / double(kRows);
      plain += value / double(batches);
    }
    ASSERT_NEAR(weighted, whole, 1e-10 * kRows);
    const double off = plain / whole - 1;
    largest = std::max(largest, std::fabs(off));
    sum += off, squares += off * off;
  }
  EXPECT_GT(largest, 5e-5) << "the plain mean of one epoch is not exact";
  EXPECT_LT(largest, 1e-3);
  const double n = double(kEpochs), mean = sum / n;
  EXPECT_LT(std::fabs(mean), 4 * std::sqrt((squares / n - mean * mean) / n));
}

TEST(BatchOrder, batches_do_not_depend_on_what_was_asked_before) {
  BatchOrder forward(100, 7, BatchMode::even, key(4, 2)), backward(100, 7, BatchMode::even, key(4, 2));
  std::vector<std::vector<std::uint32_t>> first, second(60);
  for (std::uint64_t t = 0; t < 60; ++t) first.push_back(batch(forward, t));
  for (std::uint64_t t = 60; t-- > 0;) second[t] = batch(backward, t);
  EXPECT_EQ(first, second);
}

TEST(BatchOrder, epochs_chains_and_seeds_differ) {
  BatchOrder a(50, 10, BatchMode::even, key(1, 0)), b(50, 10, BatchMode::even, key(1, 1)),
      c(50, 10, BatchMode::even, key(2, 0));
  EXPECT_NE(batch(a, 0), batch(a, 5));
  EXPECT_NE(batch(a, 0), batch(b, 0));
  EXPECT_NE(batch(a, 0), batch(c, 0));
}

TEST(BatchOrder, impossible_requests_are_errors) {
  EXPECT_THROW(BatchOrder(0), Error);
  EXPECT_THROW(BatchOrder(0, 1, BatchMode::even, key()), Error);
  EXPECT_THROW(BatchOrder(5, 0, BatchMode::even, key()), Error);
  EXPECT_EQ(parse_name<BatchMode>("keep"), BatchMode::keep);
  EXPECT_FALSE(parse_name<BatchMode>("odd"));
}

}  // namespace
}  // namespace smile

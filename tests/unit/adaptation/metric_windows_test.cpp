// SPDX-License-Identifier: Apache-2.0
// The windows of a warm-up, the variances that they leave, and the step size that holds an acceptance.
#include "smile/adaptation/metric_windows.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "smile/adaptation/dual_averaging.hpp"

namespace smile {
namespace {

std::vector<std::uint64_t> ends(std::uint64_t warmup) {
  MetricWindows windows(1, warmup);
  std::vector<std::uint64_t> all;
  for (std::uint64_t t = 1; t <= warmup; ++t)
    if (windows.add(std::vector<double>{0.0}, t)) all.push_back(t);
  return all;
}

TEST(MetricWindows, end_where_stans_do) {
  using Ends = std::vector<std::uint64_t>;
  EXPECT_EQ(ends(1000), (Ends{100, 150, 250, 450, 950}));
  EXPECT_EQ(ends(300), (Ends{100, 150, 250}));
  EXPECT_EQ(ends(150), (Ends{100}));
  EXPECT_EQ(ends(100), (Ends{90}));  // 15 %, 75 %, 10 %
  EXPECT_EQ(ends(19), (Ends{}));
  EXPECT_EQ(ends(0), (Ends{}));
}

TEST(MetricWindows, variances_are_those_of_the_last_window_and_shrunk) {
  MetricWindows windows(2, 150);
  std::vector<double> variance;
  double sum = 0, squares = 0;
  for (std::uint64_t t = 1; t <= 100; ++t) {
    // What came before the window says nothing.
    const double x = t <= 75 ? 1e6 : std::sin(double(t)), y = 1e8 + 2 * x;
    if (t > 75) sum += x, squares += x * x;
    if (auto found = windows.add(std::vector<double>{x, y}, t)) variance = *found;
  }
  const double plain = (squares - sum * sum / 25) / 24;
  ASSERT_EQ(variance.size(), 2u);
  EXPECT_NEAR(variance[0], 25.0 / 30 * plain + 1e-3 * 5 / 30, 1e-12);
  EXPECT_NEAR(variance[1], 25.0 / 30 * 4 * plain + 1e-3 * 5 / 30, 1e-6);
}

TEST(DualAveraging, finds_the_step_of_the_acceptance_wanted) {
  // a(ε) = exp(−ε): 0.8 at ε = 0.2231.
  DualAveraging averaging(0.8);
  averaging.restart(5);
  for (int m = 0; m < 2000; ++m) averaging.observe(std::exp(-averaging.step_size()));
  EXPECT_NEAR(averaging.average(), -std::log(0.8), 0.01);
}

TEST(DualAveraging, first_step_by_hand) {
  DualAveraging averaging(0.8);
  averaging.restart(0.1);
  EXPECT_EQ(averaging.step_size(), 0.1);
  EXPECT_EQ(averaging.average(), 0.1);
  averaging.observe(0.5);  // H̄ = 0.3/11; ln ε = ln 1 − H̄/0.05
  EXPECT_NEAR(averaging.step_size(), std::exp(-0.3 / 11 / 0.05), 1e-15);
  EXPECT_NEAR(averaging.average(), averaging.step_size(), 1e-15);
  averaging.observe(std::nan(""));  // counts as 0: H̄ = (11/12)(0.3/11) + 0.8/12
  EXPECT_NEAR(averaging.step_size(), std::exp(-(0.3 / 12 + 0.8 / 12) * std::sqrt(2.0) / 0.05), 1e-14);
}

}  // namespace
}  // namespace smile

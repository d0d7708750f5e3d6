// SPDX-License-Identifier: Apache-2.0
#include "smile/statistics/summaries.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace smile {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

LogSumExp accumulated(const std::vector<double>& values) {
  LogSumExp sum;
  for (double v : values) sum.add(v);
  return sum;
}

TEST(LogSumExp, equals_the_plain_sum_where_that_fits) {
  const std::vector<double> v = {0.3, -2, 1.7, 1.7, -0.4};
  double sum = 0;
  for (double x : v) sum += std::exp(x);
  EXPECT_NEAR(log_sum_exp(v), std::log(sum), 1e-14);
  EXPECT_NEAR(accumulated(v).value(), std::log(sum), 1e-14);
}

TEST(LogSumExp, survives_values_far_apart_and_infinite_ones) {
  for (const std::vector<double>& v : {std::vector<double>{-1e6, 1e5, -3}, {-3, -1e6, 1e5}})
    EXPECT_EQ(accumulated(v).value(), 1e5);
  EXPECT_NEAR(accumulated({-1e6, -1e6}).value(), -1e6 + std::log(2), 1e-9);
  EXPECT_EQ(accumulated({-kInfinity, -kInfinity}).value(), -kInfinity);
  EXPECT_EQ(accumulated({}).value(), -kInfinity);
  EXPECT_EQ(log_sum_exp({}), -kInfinity);
  EXPECT_NEAR(accumulated({-kInfinity, 2, -kInfinity}).value(), 2, 1e-15);
  EXPECT_EQ(accumulated({1, kInfinity, 2, kInfinity}).value(), kInfinity);
  for (const std::vector<double>& v : {std::vector<double>{kNan, 1}, {1, kNan}, {kNan, -kInfinity, 5}}) {
    EXPECT_TRUE(std::isnan(accumulated(v).value()));
    EXPECT_TRUE(std::isnan(log_sum_exp(v)));
  }
}

TEST(LogSumExp, merging_equals_adding_one_after_the_other) {
  const std::vector<double> a = {-5, 2, 0.5}, b = {3, -900, 2.5};
  for (const auto& [first, second] : {std::pair{a, b}, {b, a}, {a, {}}, {{}, b}, {a, {-kInfinity}}}) {
    auto merged = accumulated(first);
    merged.merge(accumulated(second));
    auto both = first;
    both.insert(both.end(), second.begin(), second.end());
    EXPECT_NEAR(merged.value(), log_sum_exp(both), 1e-14);
  }
  auto spoilt = accumulated({1});
  spoilt.merge(accumulated({kNan}));
  EXPECT_TRUE(std::isnan(spoilt.value()));
}

TEST(RunningMoments, equal_two_passes_far_from_zero) {
  RunningMoments m;
  for (double v : {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16}) m.add(v);
  EXPECT_EQ(m.mean(), 1e9 + 10);
  EXPECT_EQ(m.sample_variance(), 30);
  EXPECT_EQ(m.variance(), 22.5);
}

TEST(RunningMoments, weights_count_as_repetitions) {
  RunningMoments weighted, repeated;
  weighted.add(2, 3);
  weighted.add(7, 0);
  weighted.add(-1, 2);
  for (double v : {2.0, 2.0, 2.0, -1.0, -1.0}) repeated.add(v);
  EXPECT_NEAR(weighted.mean(), repeated.mean(), 1e-15);
  EXPECT_NEAR(weighted.variance(), repeated.variance(), 1e-14);
  EXPECT_EQ(weighted.total_weight(), 5);
  EXPECT_TRUE(std::isnan(RunningMoments().mean()));
}

TEST(RunningMoments, merging_equals_one_stream) {
  RunningMoments first, second, all;
  for (double v : {1.0, 4.0, -2.0}) first.add(v), all.add(v);
  for (double v : {10.0, 0.5}) second.add(v), all.add(v);
  first.merge(second);
  first.merge(RunningMoments());
  EXPECT_EQ(first.count(), 5u);
  EXPECT_NEAR(first.mean(), all.mean(), 1e-15);
  EXPECT_NEAR(first.sample_variance(), all.sample_variance(), 1e-13);
}

TEST(Quantile, interpolates_between_order_statistics) {
  std::vector<double> v = {30, 10, 40, 20};
  EXPECT_EQ(quantile(v, 0), 10);
  EXPECT_EQ(quantile(v, 1), 40);
  EXPECT_EQ(quantile(v, 0.5), 25);
  EXPECT_NEAR(quantile(v, 0.1), 13, 1e-14);
  const std::vector<double> sorted = {10, 20, 30, 40};
  for (double q = 0; q <= 1; q += 0.03) EXPECT_EQ(quantile(v, q), quantile_of_sorted(sorted, q));
  std::vector<double> one = {7};
  EXPECT_EQ(quantile(one, 0.3), 7);
  EXPECT_TRUE(std::isnan(quantile({}, 0.5)));
}

TEST(Quantile, several_at_once_equal_those_one_by_one) {
  for (std::size_t n : {1, 2, 3, 10, 101, 1000}) {
    std::vector<double> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = std::round(20 * std::sin(static_cast<double>(i) * 12.9898));
    const std::vector<double> q = {0, 0.025, 0.1, 0.1, 0.5, 0.9, 0.975, 1};
    std::vector<double> together(q.size()), sorted = v;
    std::sort(sorted.begin(), sorted.end());
    quantiles(v, q, together);
    for (std::size_t i = 0; i < q.size(); ++i)
      EXPECT_EQ(together[i], quantile_of_sorted(sorted, q[i])) << n << " " << q[i];
  }
}

TEST(Bootstrap, sd_of_the_mean_is_near_sd_over_root_n_and_repeats) {
  std::vector<double> v;
  for (int i = 0; i < 50; ++i) v.push_back(std::sin(i * 1.7));
  const double n = 50, expected = sample_sd(v) * std::sqrt((n - 1) / n) / std::sqrt(n);
  const double sd = bootstrap_sd_of_mean(v, 4000, 3);
  EXPECT_NEAR(sd / expected, 1, 0.05);
  EXPECT_EQ(sd, bootstrap_sd_of_mean(v, 4000, 3));
  EXPECT_NE(sd, bootstrap_sd_of_mean(v, 4000, 4));
  const std::vector<double> one = {2};
  EXPECT_EQ(bootstrap_sd_of_mean(one, 100, 3), 0);
}

TEST(Moments, mean_and_sample_sd) {
  const std::vector<double> v = {2, 4, 9};
  EXPECT_EQ(mean_of(v), 5);
  EXPECT_NEAR(sample_sd(v), std::sqrt(13), 1e-14);
  EXPECT_TRUE(std::isnan(mean_of({})));
  EXPECT_TRUE(std::isnan(sample_sd(std::vector<double>{1})));
}

}  // namespace
}  // namespace smile

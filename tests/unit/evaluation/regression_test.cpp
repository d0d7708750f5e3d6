// SPDX-License-Identifier: Apache-2.0
#include "smile/evaluation/regression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "smile/error.hpp"
#include "smile/random/stream.hpp"

namespace smile {
namespace {

std::vector<double> normals(std::size_t n, std::uint64_t seed) {
  std::vector<double> out(n);
  fill_normals({seed, 0, Purpose::noise}, 0, std::span<double>(out));
  return out;
}

double density(double y, double mean, double sd) {
  const double z = (y - mean) / sd;
  return std::exp(-z * z / 2) / (sd * std::sqrt(2 * std::numbers::pi));
}

/// Predictions of 3 chains of 4, 7 and 5 draws on 301 rows.
struct Example {
  static constexpr std::size_t kRows = 301;
  const std::vector<std::size_t> draws = {4, 7, 5};
  std::vector<double> y = normals(kRows, 1);
  std::vector<std::vector<std::vector<double>>> mean, log_sd;  // [chain][draw][row]

  Example() {
    for (std::size_t k = 0, seed = 10; k < draws.size(); ++k) {
      mean.emplace_back();
      log_sd.emplace_back();
      for (std::size_t s = 0; s < draws[k]; ++s, seed += 2) {
        mean[k].push_back(normals(kRows, seed));
        log_sd[k].push_back(normals(kRows, seed + 1));
        for (double& r : log_sd[k][s]) r = 0.3 * r - 0.5;
      }
    }
  }

  /// The definition, as two plain loops.
  double lppd(std::size_t samples, std::size_t first_chain, std::size_t last_chain) const {
    double total = 0;
    for (std::size_t i = 0; i < kRows; ++i) {
      double sum = 0;
      std::size_t count = 0;
      for (std::size_t k = first_chain; k < last_chain; ++k)
        for (std::size_t s = 0; s < std::min(samples, draws[k]); ++s, ++count)
          sum += density(y[i], mean[k][s][i], std::exp(log_sd[k][s][i]));
      total += std::log(sum / static_cast<double>(count));
    }
    return total / kRows;
  }
};

TEST(Regression, equals_a_plain_double_loop_whatever_the_batches) {
  const Example e;
  RegressionMetrics whole;
  for (std::size_t batch : {301, 256, 1}) {
    RegressionAccumulator accumulator(e.y, e.draws);
    for (std::size_t k = 0; k < e.draws.size(); ++k)
      for (std::size_t s = 0; s < e.draws[k]; ++s)
        for (std::size_t first = 0; first < e.kRows; first += batch) {
          const std::size_t rows = std::min(batch, e.kRows - first);
          accumulator.add<double>(k, s, std::span(e.mean[k][s]).subspan(first, rows),
                                  std::span(e.log_sd[k][s]).subspan(first, rows), first);
        }
    const RegressionMetrics m = accumulator.metrics();
    const double allowed = 1e-6 / e.kRows;
    EXPECT_EQ(m.points, 301u);
    EXPECT_NEAR(m.lppd.lppd, e.lppd(7, 0, 3), allowed);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_NEAR(m.lppd.chainwise[k], e.lppd(7, k, k + 1), allowed);
      EXPECT_NEAR(m.lppd.sequential[k], e.lppd(7, 0, k + 1), allowed);
    }
    ASSERT_EQ(m.lppd.running.samples, (std::vector<std::size_t>{1, 2, 3, 4, 5, 6, 7}));
    for (std::size_t s = 1; s <= 7; ++s) EXPECT_NEAR(m.lppd.running.lppd[s - 1], e.lppd(s, 0, 3), allowed);
    double squares = 0;
    for (std::size_t i = 0; i < e.kRows; ++i) {
      double mean = 0;
      for (const auto& chain : e.mean)
        for (const auto& draw : chain) mean += draw[i] / 16;
      squares += (mean - e.y[i]) * (mean - e.y[i]);
      EXPECT_NEAR(accumulator.pointwise_mean()[i], mean, 1e-14);
      if (batch == 1 && i > 10) break;  // the vectors above are copies
    }
    if (batch == 301) {
      EXPECT_NEAR(m.rmse, std::sqrt(squares / e.kRows), 1e-12);
      whole = m;
    }
    EXPECT_EQ(m.rmse, whole.rmse);
    for (std::size_t j = 0; j < m.intervals.size(); ++j) {
      EXPECT_EQ(m.intervals[j].observed, whole.intervals[j].observed);
      EXPECT_EQ(m.intervals[j].width, whole.intervals[j].width);
    }
  }
}

TEST(Regression, row_batches_may_be_the_outer_loop_and_chains_come_in_any_order) {
  const Example e;
  RegressionAccumulator one(e.y, e.draws), other(e.y, e.draws);
  for (std::size_t k = 0; k < e.draws.size(); ++k)
    for (std::size_t s = 0; s < e.draws[k]; ++s) one.add<double>(k, s, e.mean[k][s], e.log_sd[k][s]);
  for (std::size_t first : {200, 0, 100}) {
    const std::size_t rows = first == 200 ? 101 : 100;
    for (std::size_t k : {2, 0, 1})
      for (std::size_t s = 0; s < e.draws[k]; ++s)
        other.add<double>(k, s, std::span(e.mean[k][s]).subspan(first, rows),
                          std::span(e.log_sd[k][s]).subspan(first, rows), first);
  }
  const RegressionMetrics a = one.metrics(), b = other.metrics();
  EXPECT_NEAR(a.lppd.lppd, b.lppd.lppd, 1e-14);
  for (std::size_t j = 0; j < a.lppd.running.lppd.size(); ++j)
    EXPECT_NEAR(a.lppd.running.lppd[j], b.lppd.running.lppd[j], 1e-13);
  EXPECT_EQ(a.rmse, b.rmse);
  EXPECT_EQ(a.intervals[1].width, b.intervals[1].width);
}

TEST(Regression, the_mixture_of_each_point_equals_its_definition) {
  const Example e;
  RegressionAccumulator accumulator(e.y, e.draws);
  for (std::size_t k = 0; k < e.draws.size(); ++k)
    for (std::size_t s = 0; s < e.draws[k]; ++s) accumulator.add<double>(k, s, e.mean[k][s], e.log_sd[k][s]);
  const PointwisePredictive pointwise = accumulator.pointwise();
  ASSERT_EQ(pointwise.pit.size(), Example::kRows);
  std::size_t inside = 0;
  for (std::size_t i = 0; i < Example::kRows; ++i) {
    double mean = 0, noise = 0, below = 0, squares = 0, count = 16;
    for (std::size_t k = 0; k < e.draws.size(); ++k)
      for (std::size_t s = 0; s < e.draws[k]; ++s) {
        const double sd = std::exp(e.log_sd[k][s][i]);
        mean += e.mean[k][s][i] / count;
        noise += sd * sd / count;
        below += 0.5 * (1 + std::erf((e.y[i] - e.mean[k][s][i]) / sd / std::numbers::sqrt2)) / count;
      }
    for (std::size_t k = 0; k < e.draws.size(); ++k)
      for (std::size_t s = 0; s < e.draws[k]; ++s)
        squares += (e.mean[k][s][i] - mean) * (e.mean[k][s][i] - mean) / count;
    EXPECT_NEAR(pointwise.mean[i], mean, 1e-12);
    EXPECT_NEAR(pointwise.aleatoric_sd[i], std::sqrt(noise), 1e-12);
    EXPECT_NEAR(pointwise.epistemic_sd[i], std::sqrt(squares), 1e-10);
    EXPECT_NEAR(pointwise.pit[i], below, 1e-12);
    inside += below >= 0.05 && below <= 0.95;
  }
  EXPECT_DOUBLE_EQ(pointwise.coverage(0.9), double(inside) / Example::kRows);
  EXPECT_EQ(pointwise.coverage(1), 1);
}

TEST(Regression, one_sample_by_hand) {
  const std::vector<double> y = {1, -2}, mean = {0, -2};
  RegressionAccumulator accumulator(y, {1}, {.target_scale = 10, .nominal_coverages = {}});
  accumulator.add<double>(0, 0, mean, std::log(2.0));
  const RegressionMetrics m = accumulator.metrics();
  EXPECT_NEAR(m.lppd.lppd, -std::log(2 * std::sqrt(2 * std::numbers::pi)) - 0.25 / 2 / 2, 1e-15);
  EXPECT_NEAR(m.rmse, std::sqrt(0.5), 1e-15);
  EXPECT_NEAR(m.rmse_own_unit, 10 * std::sqrt(0.5), 1e-14);
  EXPECT_TRUE(m.intervals.empty());
  EXPECT_TRUE(std::isnan(m.calibration_error));
}

TEST(Regression, sigma_is_clipped_at_both_ends) {
  const std::vector<double> y = {0, 0}, mean = {0, 0}, log_sd = {-100, 100};
  RegressionAccumulator accumulator(y, {1}, {.nominal_coverages = {}});
  accumulator.add<double>(0, 0, mean, log_sd);
  const auto log_density = accumulator.pointwise_lppd();
  const double constant = -0.5 * std::log(2 * std::numbers::pi);
  EXPECT_NEAR(log_density[0], constant + std::log(1e6), 1e-12);
  EXPECT_NEAR(log_density[1], constant - std::log(1e6), 1e-12);
}

TEST(Regression, intervals_of_a_true_model_cover_as_often_as_they_say) {
  const std::size_t n = 2000, samples = 400;
  const auto y = normals(n, 5);
  RegressionAccumulator accumulator(y, {samples},
                                    {.nominal_coverages = {0.5, 0.9}, .interval_bytes = 8 * n * samples});
  const std::vector<float> mean(n, 0.0f);
  for (std::size_t s = 0; s < samples; ++s) accumulator.add<float>(0, s, mean, 0.0);
  const RegressionMetrics m = accumulator.metrics();
  EXPECT_EQ(m.interval_draws, samples);
  EXPECT_NEAR(m.intervals[0].observed, 0.5, 4 * std::sqrt(0.25 / n));
  EXPECT_NEAR(m.intervals[1].observed, 0.9, 4 * std::sqrt(0.09 / n));
  EXPECT_NEAR(m.intervals[0].width, 2 * 0.674489750196, 1e-9);
  EXPECT_NEAR(m.intervals[1].width, 2 * 1.644853626951, 1e-9);
  const double a = 0.5 - m.intervals[0].observed, b = 0.9 - m.intervals[1].observed;
  EXPECT_NEAR(m.calibration_error, std::sqrt((a * a + b * b) / 2), 1e-15);
}

/// Four members that fitted different parts of a line with noise 0.5: intervals of one random draw a member
/// would hold a third of the targets that those of the mixture do.
TEST(Regression, intervals_of_few_normals_are_those_of_their_exact_mixture) {
  const std::size_t n = 3000;
  const auto noise = normals(n, 5), place = normals(n, 6);
  std::vector<double> y(n);
  for (std::size_t i = 0; i < n; ++i) y[i] = place[i] + 0.5 * noise[i];
  const double shift[] = {-0.2, 0.05, 0.1, 0.3}, sd[] = {0.35, 0.5, 0.45, 0.8};
  for (const std::size_t members : {4u, 1u}) {
    const std::vector<double> nominal = {0.5, 0.8, 0.9, 0.95};
    RegressionAccumulator accumulator(y, std::vector<std::size_t>(members, 1),
                                      {.nominal_coverages = nominal});
    for (std::size_t k = 0; k < members; ++k) {
      std::vector<double> mean(n);
      for (std::size_t i = 0; i < n; ++i) mean[i] = place[i] + shift[k];
      accumulator.add<double>(k, 0, mean, std::log(sd[k]));
    }
    const RegressionMetrics m = accumulator.metrics();
    // All rows have one mixture about their own place, whose quantiles bisection finds.
    const auto quantile = [&](double p) {
      double low = -20, high = 20;
      for (int step = 0; step < 200; ++step) {
        const double middle = (low + high) / 2;
        double below = 0;
        for (std::size_t k = 0; k < members; ++k)
          below += 0.5 * std::erfc((shift[k] - middle) / sd[k] / std::numbers::sqrt2) / double(members);
        (below < p ? low : high) = middle;
      }
      return low;
    };
    for (std::size_t j = 0; j < nominal.size(); ++j) {
      const double low = quantile((1 - nominal[j]) / 2), high = quantile((1 + nominal[j]) / 2);
      std::size_t inside = 0;
      for (std::size_t i = 0; i < n; ++i) inside += low <= y[i] - place[i] && y[i] - place[i] <= high;
      EXPECT_NEAR(m.intervals[j].observed, double(inside) / double(n), 1e-6) << members << " " << nominal[j];
      EXPECT_NEAR(m.intervals[j].width, high - low, 1e-6) << members << " " << nominal[j];
    }
  }
}

TEST(Regression, little_memory_thins_draws_evenly_and_coarsens_the_running_lppd) {
  const std::size_t n = 50, samples = 100;
  const auto y = normals(n, 8);
  RegressionAccumulator accumulator(
      y, {samples, samples},
      {.nominal_coverages = {0.5}, .interval_bytes = 8 * n * 70, .running_bytes = 16 * n * 10});
  for (std::size_t k : {0, 1})
    for (std::size_t s = 0; s < samples; ++s)
      accumulator.add<double>(k, s, normals(n, 100 + s + 1000 * k), 0.1);
  const RegressionMetrics m = accumulator.metrics();
  EXPECT_EQ(m.interval_draws, 2 * 34u);  // every third
  EXPECT_EQ(m.lppd.running.samples, (std::vector<std::size_t>{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}));
  EXPECT_NEAR(m.lppd.running.lppd.back(), m.lppd.lppd, 1e-13);
}

TEST(Regression, a_prediction_that_is_no_number_is_named_and_shows_in_the_metrics) {
  const std::vector<double> y = {0, 1, 2};
  RegressionAccumulator accumulator(y, {2});
  const std::vector<double> good = {0, 1, 2}, bad = {0, std::numeric_limits<double>::quiet_NaN(), 2};
  accumulator.add<double>(0, 0, good, 0.0);
  accumulator.add<double>(0, 1, bad, 0.0);
  const RegressionMetrics m = accumulator.metrics();
  ASSERT_TRUE(m.nonfinite);
  EXPECT_EQ(m.nonfinite->draw, 1u);
  EXPECT_EQ(m.nonfinite->row, 1u);
  EXPECT_TRUE(std::isnan(m.lppd.lppd) && std::isnan(m.rmse) && std::isnan(m.calibration_error));
  EXPECT_TRUE(std::isnan(m.intervals[0].width));
  EXPECT_TRUE(std::isfinite(m.lppd.running.lppd[0]));
}

TEST(Regression, wrong_use_is_refused) {
  const std::vector<double> y = {0, 1}, p = {0, 1}, nan = {0, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THROW(RegressionAccumulator({}, {1}), Error);
  EXPECT_THROW(RegressionAccumulator(y, {}), Error);
  EXPECT_THROW(RegressionAccumulator(y, {1, 0}), Error);
  EXPECT_THROW(RegressionAccumulator(nan, {1}), Error);
  EXPECT_THROW(RegressionAccumulator(y, {1}, {.nominal_coverages = {1.0}}), Error);
  RegressionAccumulator accumulator(y, {2});
  EXPECT_THROW(accumulator.metrics(), Error);
  EXPECT_THROW(accumulator.add<double>(1, 0, p, 0.0), Error);
  EXPECT_THROW(accumulator.add<double>(0, 1, p, 0.0), Error);
  EXPECT_THROW(accumulator.add<double>(0, 0, p, 0.0, 1), Error);
  EXPECT_THROW(accumulator.add<double>(0, 0, p, std::span(p).first(1)), Error);
  accumulator.add<double>(0, 0, p, 0.0);
  EXPECT_THROW(accumulator.add<double>(0, 0, p, 0.0), Error);
  accumulator.add<double>(0, 1, std::span(p).first(1), 0.0);
  EXPECT_THROW(accumulator.metrics(), Error);
  accumulator.add<double>(0, 1, std::span(p).last(1), 0.0, 1);
  EXPECT_NO_THROW(accumulator.metrics());
  EXPECT_THROW(accumulator.add<double>(0, 2, p, 0.0), Error);
}

TEST(DeepEnsemble, residual_sigmas_give_an_equal_mixture) {
  const std::vector<double> y = {0.3, -1}, means = {0, -1.5, 1, -0.5}, sd = {0.5, 2};
  const auto result = evaluate_deep_ensemble(y, means, sd);
  const double expected = (std::log((density(0.3, 0, 0.5) + density(0.3, 1, 2)) / 2) +
                           std::log((density(-1, -1.5, 0.5) + density(-1, -0.5, 2)) / 2)) /
                          2;
  EXPECT_NEAR(result.lppd_residual, expected, 1e-14);
  EXPECT_NEAR(result.spread[0], 0.5, 1e-15);
  const double straw_man = (std::log((density(0.3, 0, 0.5) + density(0.3, 1, 0.5)) / 2) +
                            std::log((density(-1, -1.5, 0.5) + density(-1, -0.5, 0.5)) / 2)) /
                           2;
  EXPECT_NEAR(result.lppd_spread, straw_man, 1e-14);
  EXPECT_NEAR(result.rmse, std::sqrt(0.04 / 2), 1e-15);
  EXPECT_TRUE(std::isnan(evaluate_deep_ensemble(y, means).lppd_residual));
  EXPECT_THROW(evaluate_deep_ensemble(y, std::vector<double>{1, 2, 3}), Error);
  EXPECT_THROW(evaluate_deep_ensemble(y, means, std::vector<double>{1}), Error);
}

}  // namespace
}  // namespace smile

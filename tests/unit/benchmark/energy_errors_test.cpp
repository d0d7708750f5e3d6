// SPDX-License-Identifier: Apache-2.0
// Energy errors of single steps: the two fits on values that follow one of the laws, and ΔE itself on a
// Gaussian.
#include "benchmark/energy_errors.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "smile/random/stream.hpp"

namespace smile::analytic {
namespace {

constexpr std::size_t kValues = 4000;
/// Kolmogorov's distance of as many values to their law is above this in one of 10⁴ cases; of a fitted law
/// less often.
const double kChance = 2.23 / std::sqrt(double(kValues));

TEST(EnergyErrors, AreToldFromEachOtherByTheirFits) {
  std::vector<double> gamma, half_normal;
  Stream stream({.seed = 6, .purpose = Purpose::diagnostics});
  for (std::size_t i = 0; i < kValues; ++i) {
    gamma.push_back(gamma_quantile({0.7, 3}, (double(i) + 0.5) / double(kValues)));
    half_normal.push_back(std::abs(2 * stream.normal()));
  }
  const EnergyErrors of_gamma = fitted(gamma), of_normal = fitted(half_normal);
  EXPECT_NEAR(of_gamma.gamma.shape, 0.7, 0.02);
  EXPECT_NEAR(of_gamma.gamma.scale, 3, 0.1);
  EXPECT_LT(of_gamma.gamma_distance, kChance);
  EXPECT_GT(of_gamma.half_normal_distance, 3 * kChance);
  EXPECT_NEAR(of_normal.half_normal_scale, 2, 0.1);
  EXPECT_LT(of_normal.half_normal_distance, kChance);
  EXPECT_TRUE(std::is_sorted(of_normal.sorted.begin(), of_normal.sorted.end()));
  EXPECT_TRUE(fitted({}).sorted.empty());
}

/// Without noise ΔE is the integrator's error: third order in the step and more, so that half the step leaves
/// less than an eighth of it. Every step is measured and none refused.
TEST(EnergyErrors, OfAGaussianAreThoseOfTheIntegrator) {
  AnalyticConfig config;
  config.steps = 3000, config.chains = 1;
  config.targets = {AnalyticalKind::icg};
  config.noises = {NoiseStructure::none};
  config.record_energies = true;
  AnalyticMethod method;
  method.name = method.label = "smile-naive";
  method.decoherence_lengths = {std::numeric_limits<double>::infinity()};
  const auto mean = [&](double step_size) {
    method.step_sizes = {step_size};
    config.methods = {method};
    const AnalyticReport report = run_analytic(config, {});
    const EnergyErrors& errors = report.cells.at(0).energies.value();
    EXPECT_EQ(errors.sorted.size(), 3000u);
    return errors.gamma.shape * errors.gamma.scale;
  };
  const double whole = mean(0.1), half = mean(0.05);
  EXPECT_GT(half, 0);
  EXPECT_LT(half, whole / 8);
  config.record_energies = false;
  EXPECT_FALSE(run_analytic(config, {}).cells.at(0).energies.has_value());
}

}  // namespace
}  // namespace smile::analytic

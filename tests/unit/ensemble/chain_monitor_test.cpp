// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "smile/ensemble/chain_monitor.hpp"

namespace smile {
namespace {

StepReport step(double step_size, double energy = 1, Refusal refusal = Refusal::none) {
  StepReport report;
  report.step_size = step_size;
  report.energy_change = energy;
  report.refusal = refusal;
  report.gradients = 2;
  return report;
}

TEST(ChainMonitor, CountsRefusalsByCauseAndPhase) {
  ChainMonitor monitor;
  monitor.add(step(0.1), true, false);
  monitor.add(step(0.1, 1, Refusal::energy_error), true, false);
  monitor.add(step(0.4, NAN, Refusal::gradient), false, false);
  monitor.add(step(0.1, NAN, Refusal::position), false, false);
  EXPECT_EQ(monitor.warmup.refused(), 1u);
  EXPECT_EQ(monitor.warmup.nonfinite(), 0u);
  EXPECT_EQ(monitor.sampling.refused(), 2u);
  EXPECT_EQ(monitor.sampling.nonfinite(), 2u);
  EXPECT_EQ(monitor.sampling.gradients, 4u);
  EXPECT_DOUBLE_EQ(monitor.sampling.mean_step_size(), 0.2);
  EXPECT_EQ(monitor.first_step_size, 0.1);
  EXPECT_EQ(monitor.largest_step_size, 0.4);
}

TEST(ChainMonitor, JudgesTheLastHundredSteps) {
  ChainMonitor monitor;
  for (int i = 0; i < 99; ++i) monitor.add(step(0.1, NAN, Refusal::log_density), true, false);
  EXPECT_EQ(monitor.recent_nonfinite_fraction(), 1) << "fewer than a hundred steps";
  monitor.add(step(0.1, NAN, Refusal::gradient), true, false);
  EXPECT_DOUBLE_EQ(monitor.recent_nonfinite_fraction(), 1);
  EXPECT_EQ(monitor.recent_cause(), Refusal::log_density);
  for (int i = 0; i < 75; ++i) monitor.add(step(0.1), true, false);
  EXPECT_DOUBLE_EQ(monitor.recent_nonfinite_fraction(), 0.25);
  // Refused for its energy, but finite.
  for (int i = 0; i < 100; ++i) monitor.add(step(0.1, 9, Refusal::energy_error), true, false);
  EXPECT_DOUBLE_EQ(monitor.recent_nonfinite_fraction(), 0);
}

TEST(EnergyErrors, KolmogorovDistanceTellsAFitFromAMisfit) {
  EnergyErrors uniform, skewed;
  StepReport report = step(0.1);
  for (int i = 0; i < 10000; ++i) {
    const double u = (i + 0.5) / 10000;
    report.probability = u;
    uniform.add(report);
    report.probability = u * u;  // distribution function √u: largest distance ¼ at u = ¼
    skewed.add(report);
  }
  EXPECT_LT(uniform.kolmogorov_distance(), 0.001);
  EXPECT_NEAR(skewed.kolmogorov_distance(), 0.25, 0.006);
}

TEST(EnergyErrors, SortsByMagnitude) {
  EnergyErrors errors;
  errors.add(step(0.1, -1e-3));
  errors.add(step(0.1, 0));
  errors.add(step(0.1, 1e300));
  errors.add(step(0.1, NAN));
  EXPECT_EQ(errors.finite, 3u);
  EXPECT_EQ(errors.counts.front(), 1u);
  EXPECT_EQ(errors.counts.back(), 1u);
  const double width = (EnergyErrors::kHighest - EnergyErrors::kLowest) / double(EnergyErrors::kBins);
  // −3 is an edge: the value may fall to either side of it.
  const auto edge = std::size_t(std::lround((-3 - EnergyErrors::kLowest) / width));
  EXPECT_EQ(errors.counts[edge] + errors.counts[edge - 1], 1u);
}

TEST(StepSums, GiveTheTurningAngleItsLength) {
  StepSums sums;
  StepReport report = step(0.02);
  report.turn_angle = 0.1;
  report.gradient_norm = 6;
  sums.add(report, false);
  report.energy_change = 3;
  sums.add(report, true);
  EXPECT_DOUBLE_EQ(sums.implied_decoherence_length(), 2 * sums.mean_step_size() / 0.01);
  EXPECT_DOUBLE_EQ(sums.gradient_rms(9), 2);
  EXPECT_DOUBLE_EQ(sums.same_batch_energy_variance(9), 1) << "only the step with one batch counts";
}

}  // namespace
}  // namespace smile

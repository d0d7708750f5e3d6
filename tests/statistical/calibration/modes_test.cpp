// SPDX-License-Identifier: Apache-2.0
// The choices of the default sampler are options of the others, and hold there, too: a fixed step, other
// integrators, explicit noise with a length. And the guardrail refuses what it says: a share κ of the steps.
#include <gtest/gtest.h>

#include <cmath>

#include "smile/samplers/microcanonical.hpp"
#include "support/calibration.hpp"
#include "support/gaussian_target.hpp"
#include "support/stream_normals.hpp"

namespace smile {
namespace {

const std::string kChoices =
    "decoherence_length: auto\npreconditioner_freeze: 0.9\nbatches: reversed\npreconditioner_reference: "
    "half\n";

/// Ten data sets of 60,000 steps; the tolerance is the step's own bias and three standard errors.
void expect_right(const std::string& sampler, double tolerance) {
  for (const test::Temperature& group :
       test::temperatures(test::linear_regression(200, 50), sampler, 10, 10000, 60000)) {
    EXPECT_NEAR(group.value, 1, tolerance + 3 * group.standard_error) << group.name << "\n" << sampler;
    // The thermometer of a run knows no truth, and says the same.
    EXPECT_NEAR(group.thermometer, group.value, 0.1) << group.name << "\n" << sampler;
  }
}

TEST(ChoicesOfTheDefault, hold_with_a_fixed_step_and_three_stages) {
  expect_right("name: psmile-naive\nstep_size: 0.02\nintegrator: three-stage\n" + kChoices, 0.05);
}
TEST(ChoicesOfTheDefault, hold_with_a_fixed_step_and_mclachlan) {
  expect_right("name: psmile-naive\nstep_size: 0.02\nintegrator: mclachlan\n" + kChoices, 0.05);
}
TEST(ChoicesOfTheDefault, hold_without_preconditioner) {
  expect_right("name: smile-auto", 0.08);
}
TEST(ChoicesOfTheDefault, noise_with_a_length_of_its_own) {
  expect_right("name: smile-naive\nstep_size: 0.02\nintegrator: velocity-verlet\ndecoherence_length: 1\n",
               0.08);
}
TEST(ChoicesOfTheDefault, without_noise_directions_without_data_are_wrong) {
  const auto groups = test::temperatures(test::linear_regression(200, 50),
                                         "name: psmile-naive\nstep_size: 0.03", 10, 10000, 60000);
  for (const test::Temperature& group : groups) {
    if (group.name == "prior-only") {
      EXPECT_LT(group.value, 0.4);
    }
  }
}

/// |ΔE| of a Gaussian with gradient noise is near enough to a Gamma for the share of refused steps to be κ,
/// to 0.01 (50,000 steps, correlated; their own error is some 0.002).
TEST(Guardrail, refuses_its_share) {
  const std::vector<double> mean(20, 0.0);
  std::vector<double> precision;
  for (int i = 0; i < 20; ++i) precision.push_back(0.5 * std::pow(4, i / 19.0));
  for (const double kappa : {0.02, 0.05}) {
    test::GaussianTarget<double> target(mean, precision, 8, 21);
    test::StreamNormals<double> normals(22);
    MicrocanonicalOptions options;
    options.rule = StepSizeRule::fixed;
    options.step_size = 0.05;
    options.tuner.reset_prob = 1 - kappa;
    options.tuner.adaption_prob = 0;
    MicrocanonicalSampler<HostVector<double>> sampler(options, {2000, 50000});
    sampler.start(HostVector<double>(20, 0.5), target, normals);
    std::uint64_t refused = 0;
    for (std::uint64_t t = 1; t <= 52000; ++t)
      refused += sampler.step(target, normals, t).refusal == Refusal::energy_error && t > 2000;
    EXPECT_NEAR(double(refused) / 50000, kappa, 0.01) << kappa;
  }
}

}  // namespace
}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
// The moment check passes with the mini-batch posterior as it is, and rejects every planted fault.
#include <gtest/gtest.h>

#include <functional>

#include "conjugate_model.hpp"
#include "moment_check.hpp"
#include "smile/samplers/langevin.hpp"
#include "smile/samplers/microcanonical.hpp"
#include "smile/samplers/momentum_samplers.hpp"
#include "smile/samplers/scale_adapted_sghmc.hpp"

namespace smile {
namespace {

using test::Fault;
using test::MomentCheck;
using test::Vector;

constexpr std::size_t kDimension = 8, kObservations = 100, kBatch = 10;
constexpr double kPriorMean = 0.05, kPriorScale = 0.1;                                  // precision 100
constexpr double kPrecision = double(kObservations) + 1 / (kPriorScale * kPriorScale);  // of the posterior

MinibatchPosterior<double> posterior() {
  auto model = std::make_unique<test::GaussianMean>(kObservations, kDimension);
  auto prior = make_prior("Normal", {{"loc", kPriorMean}, {"scale", kPriorScale}}, model->layout());
  return {std::move(model), std::move(prior),
          BatchOrder(kObservations, kBatch, BatchMode::even, {7, 0, Purpose::batches})};
}

struct Method {
  const char* name;
  std::function<std::unique_ptr<Sampler<Vector>>()> make;
  double injected_noise;  ///< of the gradient
  double
      noise_factor;  ///< √(2ε) or the like: what a missing square root multiplies the noise by; 1: no noise
  /// Stationary variance over 1/precision: exact for the recursion.
  double variance_ratio;
  /// The same where it depends on what the sampler has adapted.
  std::function<double(const Sampler<Vector>&, std::size_t)> variance_ratio_of = {};
  /// The batches' own noise and the remaining error of the step add less than this.
  double variance_bias = 0.01;
};
std::ostream& operator<<(std::ostream& out, const Method& method) {
  return out << method.name;
}

const SamplingPlan kPlan{3000, 200000};

std::vector<Method> methods() {
  std::vector<Method> all;
  {
    LangevinOptions options;
    options.step_size = 0.05 / kPrecision;
    const double e = options.step_size;
    all.push_back({"sgld", [=] { return std::make_unique<LangevinSampler<Vector>>(options, kPlan); }, 0,
                   std::sqrt(2 * e), kPrecision * test::langevin_variance(e * kPrecision, 2 * e)});
  }
  {
    SghmcOptions options;
    options.step_size = 0.02 / kPrecision;
    options.friction = 0.2;
    const double e = options.step_size, q = 2 * 0.2 * e;
    all.push_back({"sghmc", [=] { return std::make_unique<SghmcSampler<Vector>>(options, kPlan); }, 0,
                   std::sqrt(q), kPrecision * test::momentum_variance(0.8, e * kPrecision, 1, q)});
  }
  for (const bool rmsprop : {false, true}) {
    ScaleAdaptedOptions options;
    options.rmsprop = rmsprop;
    options.step_size = 0.05;
    options.friction = 0.1;
    Method method{rmsprop ? "rmsprop_sghmc" : "adasghmc",
                  [=] { return std::make_unique<ScaleAdaptedSampler<Vector>>(options, kPlan); }, 0, 0.5, 0};
    method.variance_bias = 0.02;  // of which 1 % are the batches' noise
    method.variance_ratio_of = [=](const Sampler<Vector>& sampler, std::size_t j) {
      const double s = std::sqrt(dynamic_cast<const ScaleAdaptedSampler<Vector>&>(sampler).variance()[j]);
      const double e = options.step_size, a = options.friction;
      return kPrecision *
             test::momentum_variance(1 - a, e * kPrecision, e / s, std::max(2 * a * s - e * e * s * s, 1e-7));
    };
    all.push_back(std::move(method));
  }
  {
    SgnhtOptions options;
    options.step_size = 0.1 / std::sqrt(kPrecision);
    options.diffusion = 10;
    // The thermostat makes up for noise of the wrong size, see GaussianMoments.sgnht_thermostat.
    all.push_back({"sgnht", [=] { return std::make_unique<SgnhtSampler<Vector>>(options, kPlan); }, 0, 1, 1});
  }
  {
    MicrocanonicalOptions options;
    options.rule = StepSizeRule::fixed;
    options.guardrail = false;
    options.step_size = 0.05 / std::sqrt(kPrecision);
    all.push_back({"smile_naive",
                   [=] { return std::make_unique<MicrocanonicalSampler<Vector>>(options, kPlan); },
                   5 * std::sqrt(kPrecision), 1, 1});
    options.preconditioner.emplace();
    all.push_back({"psmile_naive",
                   [=] { return std::make_unique<MicrocanonicalSampler<Vector>>(options, kPlan); },
                   5 * std::sqrt(kPrecision), 1, 1});
  }
  return all;
}

std::string verdict(const Method& method, Fault fault, double noise_factor) {
  auto batches = posterior();
  const auto& model = dynamic_cast<const test::GaussianMean&>(batches.likelihood());
  test::FaultyPosterior target(batches, fault, method.injected_noise);
  test::ScaledNoise normals(17, noise_factor);
  auto sampler = method.make();
  MomentCheck check(kDimension);
  test::run(*sampler, target, normals, Vector(kDimension, 0.1), 5, check);
  std::vector<double> mean, variance;
  for (std::size_t j = 0; j < kDimension; ++j) {
    mean.push_back((double(kObservations) * model.mean_of(j) + kPriorMean / (kPriorScale * kPriorScale)) /
                   kPrecision);
    variance.push_back(
        (method.variance_ratio_of ? method.variance_ratio_of(*sampler, j) : method.variance_ratio) /
        kPrecision);
  }
  return check.disagreement(mean, variance, method.variance_bias);
}

/// Rejected because a moment is wrong, not for want of draws.
void expect_rejection(const std::string& message) {
  EXPECT_NE(message.find("was expected"), std::string::npos) << message;
}

class PlantedFaults : public testing::TestWithParam<Method> {};
INSTANTIATE_TEST_SUITE_P(Samplers, PlantedFaults, testing::ValuesIn(methods()),
                         [](const auto& method) { return std::string(method.param.name); });

TEST_P(PlantedFaults, none_passes) {
  EXPECT_EQ(verdict(GetParam(), Fault::none, 1), "");
}
TEST_P(PlantedFaults, unscaled_likelihood_is_rejected) {
  expect_rejection(verdict(GetParam(), Fault::likelihood_not_scaled, 1));
}
TEST_P(PlantedFaults, likelihood_scaled_by_half_as_much_again_is_rejected) {
  expect_rejection(verdict(GetParam(), Fault::likelihood_half_as_much, 1));
}
TEST_P(PlantedFaults, prior_counted_per_batch_is_rejected) {
  expect_rejection(verdict(GetParam(), Fault::prior_per_batch, 1));
}
TEST_P(PlantedFaults, missing_square_root_in_the_noise_is_rejected) {
  if (GetParam().noise_factor == 1) GTEST_SKIP() << "adds no noise of its own";
  expect_rejection(verdict(GetParam(), Fault::none, GetParam().noise_factor));
}

}  // namespace
}  // namespace smile

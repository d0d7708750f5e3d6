// SPDX-License-Identifier: Apache-2.0
// b² of every sampler on every density at a stated step size lies in the band that its Monte-Carlo error
// allows, and the preconditioner does what the paper says. Seeds are fixed: these tests fail by chance only
// where the random numbers change, each then with a probability of about 1e-5.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "smile/benchmark/analytic.hpp"

namespace smile {
namespace {

constexpr std::uint64_t kChains = 16;
constexpr double kDeviations = 4.5;

/// Mean and standard deviation of ln b² over the chains of one grid point. The logarithm, because b² is far
/// from normal.
struct LogBias {
  double mean = 0, deviation = 0;
};

AnalyticConfig one_point(AnalyticalKind target, const std::string& method, double step,
                         NoiseStructure noise) {
  AnalyticConfig config;
  config.steps = 20000;
  config.chains = kChains;
  config.targets = {target};
  config.noises = {noise};
  AnalyticMethod& only = config.methods.emplace_back();
  only.name = only.label = method;
  only.step_sizes = {step};
  only.decoherence_lengths = {method == "mclmc" ? 20.0 : INFINITY};
  only.preconditioner.normalisation = Normalisation::inverse_rms;
  return config;
}

LogBias log_bias(const AnalyticConfig& config) {
  const auto report = run_analytic(config, {});
  const auto& bias = report.cells.front().points.front().bias;
  LogBias result;
  for (const double b : bias) result.mean += std::log(b) / double(bias.size());
  for (const double b : bias) result.deviation += std::pow(std::log(b) - result.mean, 2);
  result.deviation = std::sqrt(result.deviation / double(bias.size() - 1));
  return result;
}

struct Band {
  AnalyticalKind target;
  const char* method;
  double step;
  LogBias expected;  ///< from kBandChains chains with another seed
};
constexpr std::uint64_t kBandChains = 320;
constexpr std::uint64_t kBandSeed = 77;

/// SMILE_PRINT_BANDS=1 prints these lines anew.
const Band kBands[] = {
    {AnalyticalKind::icg, "mclmc", 0.2, {-5.0902, 0.8330}},
    {AnalyticalKind::icg, "smile-naive", 0.02, {-2.0394, 0.9814}},
    {AnalyticalKind::icg, "psmile-naive", 0.02, {-2.0207, 0.9716}},
    {AnalyticalKind::icg, "sgld", 0.001, {-1.1729, 0.9808}},
    {AnalyticalKind::icg, "psgld", 0.02, {-1.2065, 0.9991}},
    {AnalyticalKind::icg, "sghmc", 0.0001, {-1.3411, 1.0757}},
    {AnalyticalKind::rosenbrock, "mclmc", 0.2, {-4.9209, 0.6716}},
    {AnalyticalKind::rosenbrock, "smile-naive", 0.02, {-2.2991, 0.9267}},
    {AnalyticalKind::rosenbrock, "psmile-naive", 0.02, {-2.1757, 1.1060}},
    {AnalyticalKind::rosenbrock, "sgld", 0.001, {-1.3457, 1.1828}},
    {AnalyticalKind::rosenbrock, "psgld", 0.02, {-1.3850, 1.2011}},
    {AnalyticalKind::rosenbrock, "sghmc", 0.0001, {-1.5723, 1.1649}},
    {AnalyticalKind::funnel, "mclmc", 0.2, {-5.9851, 1.7011}},
    {AnalyticalKind::funnel, "smile-naive", 0.02, {-5.1312, 2.0653}},
    {AnalyticalKind::funnel, "psmile-naive", 0.02, {-4.9381, 1.9561}},
    {AnalyticalKind::funnel, "sgld", 0.001, {-3.9936, 1.5939}},
    {AnalyticalKind::funnel, "psgld", 0.02, {-4.0394, 1.6533}},
    {AnalyticalKind::funnel, "sghmc", 0.0001, {-4.5015, 1.9547}},
};

TEST(AnalyticBands, every_sampler_keeps_its_bias) {
  const bool print = std::getenv("SMILE_PRINT_BANDS") != nullptr;
  for (const Band& band : kBands) {
    const std::string name = std::string(band.method) + " on " + std::string(name_of(band.target));
    AnalyticConfig config = one_point(band.target, band.method, band.step, NoiseStructure::isotropic);
    if (print) {
      config.chains = kBandChains;
      config.seed = kBandSeed;
    }
    const LogBias found = log_bias(config);
    if (print) {
      std::printf("{AnalyticalKind::%s, \"%s\", %g, {%.4f, %.4f}},\n", name_of(band.target).data(),
                  band.method, band.step, found.mean, found.deviation);
      continue;
    }
    const double error = band.expected.deviation * std::sqrt(1 / double(kChains) + 1 / double(kBandChains));
    EXPECT_NEAR(found.mean, band.expected.mean, kDeviations * error) << name;
  }
}

/// The claim of the paper's Table 1: under noise that is not isotropic the preconditioner takes bias away.
/// The paper's Figure 4: with lognormal noise turned by a matrix of its own b² is 0.07 to 0.08 for small σ;
/// ours 0.089 ± 0.012 at this step. Turned by the target's matrix it is 0.8 to 1 here.
TEST(AnalyticBands, noise_with_a_rotation_of_its_own) {
  AnalyticConfig config = one_point(AnalyticalKind::icg, "psmile-naive", 7.2e-4, NoiseStructure::correlated);
  config.steps = 1'000'000;
  config.chains = 10;
  config.exact_start = false;
  config.distributions = {BaseNoise::lognormal};
  config.lognormal_sigma = {0.01};
  config.noise_rotation = NoiseRotation::authors;
  const auto mean_of = [](const AnalyticConfig& one) {
    return run_analytic(one, {}).cells.front().points.front().mean;
  };
  const double own = mean_of(config);
  EXPECT_GT(own, 0.05);
  EXPECT_LT(own, 0.12);
  config.noise_rotation = NoiseRotation::target;
  EXPECT_GT(mean_of(config), 2 * own);
}

TEST(AnalyticBands, preconditioning_reduces_bias_on_the_ill_conditioned_gaussian) {
  for (const NoiseStructure noise : {NoiseStructure::diagonal, NoiseStructure::correlated}) {
    // Scales from 0.3 to 3: at the benchmark's 0.1 to 10 chains of a test's length say nothing yet.
    AnalyticConfig plain = one_point(AnalyticalKind::icg, "smile-naive", 1e-2, noise);
    plain.condition_number = 10;
    plain.noise_scale = 10;
    plain.steps = 200000;
    AnalyticConfig preconditioned = plain;
    preconditioned.methods[0].name = "psmile-naive";
    const LogBias without = log_bias(plain), with = log_bias(preconditioned);
    const double error = std::hypot(without.deviation, with.deviation) / std::sqrt(double(kChains));
    EXPECT_LT(with.mean, without.mean - kDeviations * error) << name_of(noise);
  }
}

}  // namespace
}  // namespace smile

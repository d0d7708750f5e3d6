// SPDX-License-Identifier: Apache-2.0
// Geweke's joint test of the full-batch samplers on a two-layer network: parameters and data are drawn in
// turn, data given parameters and a chain's move given data, and the parameters must keep the law of the
// prior.
// @source Geweke 2004, "Getting it right"
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "smile/network/fcn.hpp"
#include "smile/samplers/hmc.hpp"
#include "smile/samplers/mams.hpp"
#include "smile/samplers/mclmc.hpp"
#include "smile/samplers/microcanonical.hpp"
#include "smile/samplers/nuts.hpp"
#include "smile/statistics/convergence.hpp"
#include "smile/targets/posterior.hpp"
#include "support/stream_normals.hpp"

namespace smile {
namespace {

using Vector = HostVector<double>;
constexpr std::size_t kRows = 10, kInputs = 2;

using Make = std::function<std::unique_ptr<Sampler<Vector>>()>;

/// @param make       a sampler of so many steps that the chain forgets
/// @param sd_factor  of the noise with which data are drawn: 1 where they follow the model
/// @return z scores of the mean of θ_i² against 1, over all parameters
std::vector<double> joint_test(const Make& make, double sd_factor, int rounds) {
  const FcnSpec spec{kInputs, {3, 1}, Activation::tanh, true, Task::mean_regression};
  Stream stream({.seed = 31, .purpose = Purpose::split});
  std::vector<double> x(kRows * kInputs);
  for (double& v : x) v = stream.normal();
  const std::size_t d = spec.layout().size();
  Vector theta(d);
  for (std::size_t i = 0; i < d; ++i) theta[i] = stream.normal();
  std::vector<std::vector<double>> squares(d);
  for (int r = 0; r < rounds; ++r) {
    const std::vector<double> nothing(kRows);
    const auto inputs = std::make_shared<const FcnData<double>>(kRows, kInputs, x, nothing);
    std::vector<double> y(kRows);
    Fcn<double>(spec, inputs).predict(*inputs, theta, y);
    for (double& v : y) v += sd_factor * std::exp(theta[d - 1]) * stream.normal();
    auto network =
        std::make_unique<Fcn<double>>(spec, std::make_shared<const FcnData<double>>(kRows, kInputs, x, y));
    auto prior = make_prior("StandardNormal", {}, network->layout());
    MinibatchPosterior<double> posterior(std::move(network), std::move(prior), BatchOrder(kRows));
    const auto sampler = make();
    test::StreamNormals<double> normals(std::uint64_t(1000 + r));
    sampler->start(theta, posterior, normals);
    for (std::uint64_t t = 1; t <= sampler->total_steps(); ++t) sampler->step(posterior, normals, t);
    theta = sampler->position();
    for (std::size_t i = 0; i < d; ++i) squares[i].push_back(theta[i] * theta[i]);
  }
  std::vector<double> scores;
  for (const auto& of_one : squares) {
    double mean = 0, variance = 0;
    for (const double v : of_one) mean += v / double(of_one.size());
    for (const double v : of_one) variance += (v - mean) * (v - mean) / double(of_one.size());
    scores.push_back((mean - 1) / std::sqrt(variance / convergence(of_one, 1).ess_mean));
  }
  return scores;
}

double largest(const std::vector<double>& scores) {
  double out = 0;
  for (const double z : scores) out = std::max(out, std::fabs(z));
  return out;
}

std::unique_ptr<Sampler<Vector>> smile_naive() {
  MicrocanonicalOptions options;
  options.rule = StepSizeRule::fixed;
  options.guardrail = false;
  options.step_size = 0.15;
  options.decoherence_length = 1.5;
  return std::make_unique<MicrocanonicalSampler<Vector>>(options, SamplingPlan{0, 40});
}
std::unique_ptr<Sampler<Vector>> mclmc() {
  MclmcOptions options;
  options.fixed = {.step_size = 0.3, .decoherence_length = 1.5};
  return std::make_unique<MclmcSampler<Vector>>(options, SamplingPlan{0, 20});
}
/// Steps so long that the acceptance test has something to do.
template <template <class> class Of>
std::unique_ptr<Sampler<Vector>> adjusted(double step_size) {
  AdjustedOptions options;
  options.step_size = step_size;
  options.max_tree_depth = 3;
  return std::make_unique<Of<Vector>>(options, SamplingPlan{0, 4});
}

// Thirteen parameters; a right sampler exceeds 4 with a probability of about 1e-3. Seeds are fixed. The data
// are drawn anew between the transitions, so a sampler that keeps the wrong law drifts away from the prior.
constexpr int kRounds = 8000;

TEST(Geweke, parameters_keep_their_prior) {
  EXPECT_LT(largest(joint_test(smile_naive, 1, kRounds)), 4);
}
TEST(Geweke, parameters_keep_their_prior_under_mclmc) {
  EXPECT_LT(largest(joint_test(mclmc, 1, kRounds)), 4);
}
TEST(Geweke, parameters_keep_their_prior_under_hmc) {
  EXPECT_LT(largest(joint_test([] { return adjusted<HmcSampler>(0.2); }, 1, kRounds)), 4);
}
TEST(Geweke, parameters_keep_their_prior_under_nuts) {
  EXPECT_LT(largest(joint_test([] { return adjusted<NutsSampler>(0.2); }, 1, kRounds)), 4);
}
TEST(Geweke, parameters_keep_their_prior_under_mams) {
  EXPECT_LT(largest(joint_test([] { return adjusted<MamsSampler>(0.7); }, 1, kRounds)), 4);
}
TEST(Geweke, data_of_another_model_are_rejected) {
  EXPECT_GT(largest(joint_test(smile_naive, 1.3, kRounds)), 4);
}

}  // namespace
}  // namespace smile

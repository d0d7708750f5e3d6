// SPDX-License-Identifier: Apache-2.0
// Chains in lanes: the same law as one by one, no dependence on neighbours, threads or instruction set, and
// the bias of each sampler at a stated step size.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string>

#include "smile/benchmark/analytic.hpp"
#include "smile/ensemble/lane_chains.hpp"
#include "smile/instruction_set.hpp"

namespace smile {
namespace {

MicrocanonicalOptions naive() {
  MicrocanonicalOptions options;
  options.rule = StepSizeRule::fixed;
  options.guardrail = false;
  return options;
}
MicrocanonicalOptions preconditioned() {
  MicrocanonicalOptions options = naive();
  options.preconditioner = PreconditionerOptions{};
  options.preconditioner->normalisation = Normalisation::inverse_rms;
  return options;
}
MicrocanonicalOptions full_batch(double length) {
  MicrocanonicalOptions options = naive();
  options.decoherence_length = length;
  return options;
}

std::vector<LaneChain> chains_of(const AnalyticalDensity& density, std::size_t count, double step,
                                 double length = INFINITY) {
  std::vector<LaneChain> chains;
  for (std::size_t i = 0; i < count; ++i) {
    chains.push_back({std::uint32_t(i), step, length, std::vector<double>(density.dimension())});
    Stream stream({7, std::uint32_t(i), Purpose::analytic_start});
    density.draw(stream, chains.back().start);
  }
  return chains;
}

std::vector<double> biases(const std::vector<LaneChainResult>& results, const AnalyticalDensity& density) {
  std::vector<double> values;
  for (const auto& result : results)
    values.push_back(bias_squared(result.mean_square, density.second_moment(), density.variance_of_square()));
  return values;
}
double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

/// SMILE_COMPARED_CHAINS asks for a sharper comparison.
const std::size_t kCompared = [] {
  const char* asked = std::getenv("SMILE_COMPARED_CHAINS");
  return asked ? std::stoul(asked) : std::size_t{64};
}();

class LaneChains : public testing::Test {
 protected:
  LaneChains() : icg_(AnalyticalKind::icg), rosenbrock_(AnalyticalKind::rosenbrock) {
    isotropic_.structure = NoiseStructure::isotropic;
    isotropic_.amplitude = 4;
    correlated_.structure = NoiseStructure::correlated;
    correlated_.scales = benchmark_scales(10);
    correlated_.amplitude = 4;
  }
  AnalyticalDensity icg_, rosenbrock_;
  InjectedNoise none_, isotropic_, correlated_;
};

/// Full-batch MCLMC samples the density itself: b² at the size of Monte-Carlo error.
TEST_F(LaneChains, full_batch_has_no_bias) {
  const LaneExperiment experiment{&rosenbrock_, &none_, full_batch(15), 3, 60000, 100};
  const auto values = biases(run_in_lanes(experiment, chains_of(rosenbrock_, 16, 0.1, 15)), rosenbrock_);
  EXPECT_LT(mean_of(values), 0.03);
}

/// A chain that hardly moves scores what one exact draw scores: E b² = 1 over chains, and never looks good.
TEST_F(LaneChains, a_vanishing_step_scores_one_draw) {
  const std::size_t count = 320;
  for (const LaneExperiment& experiment :
       {LaneExperiment{&icg_, &correlated_, naive(), 3, 300, 3},
        LaneExperiment{&icg_, &correlated_, preconditioned(), 3, 300, 3}}) {
    const auto values = biases(run_in_lanes(experiment, chains_of(icg_, count, 1e-9)), icg_);
    EXPECT_NEAR(mean_of(values), 1, 5 * bootstrap_error(values, 1));
  }
}

/// The same means, within their errors, from chains in lanes and chains one by one (other random numbers).
TEST_F(LaneChains, lanes_agree_with_one_by_one) {
  const auto compare = [&](LaneExperiment experiment, double step, const char* what) {
    experiment.steps = 20000;
    experiment.blocks = 10;
    experiment.seed = 5;
    const auto chains = chains_of(icg_, kCompared, step, 15);
    const auto a = run_in_lanes(experiment, chains), b = run_one_by_one(experiment, chains);
    for (std::size_t j = 0; j < 10; ++j) {
      std::vector<double> left, right;
      // Logarithms: means of squares over short chains are far from normal.
      for (std::size_t i = 0; i < chains.size(); ++i)
        left.push_back(std::log(a[i].mean_square[j])), right.push_back(std::log(b[i].mean_square[j]));
      const double error = std::hypot(bootstrap_error(left, 1), bootstrap_error(right, 2));
      EXPECT_NEAR(mean_of(left), mean_of(right), 5 * error) << what << ", coordinate " << j;
    }
  };
  compare({&icg_, &isotropic_, naive()}, 0.02, "smile-naive");
  compare({&icg_, &correlated_, preconditioned()}, 0.02, "psmile-naive");
  compare({&icg_, &none_, full_batch(15)}, 0.1, "mclmc");
  compare({&icg_, &isotropic_, LangevinOptions{}}, 1e-3, "sgld");
  compare({&icg_, &isotropic_, SghmcOptions{}}, 1e-4, "sghmc");
}

/// A chain's numbers do not depend on its lane, nor on chains that share its bundle and accept every step.
TEST_F(LaneChains, neighbours_do_not_matter) {
  const LaneExperiment experiment{&icg_, &correlated_, preconditioned(), 3, 500, 5};
  const auto chains = chains_of(icg_, 20, 0.01);
  const auto together = run_in_lanes(experiment, chains);
  for (const std::size_t i : {0, 3, 19}) {
    const auto alone = run_in_lanes(experiment, std::span(&chains[i], 1));
    EXPECT_EQ(alone[0].mean_square, together[i].mean_square) << i;
  }
}

/// A chain that blows up is refused, marked, and leaves its neighbours alone but for rounding.
TEST_F(LaneChains, a_failing_chain_fails_alone) {
  const LaneExperiment experiment{&rosenbrock_, &isotropic_, LangevinOptions{}, 3, 3000, 5};
  auto chains = chains_of(rosenbrock_, 16, 1e-4);
  const auto calm = run_in_lanes(experiment, chains);
  chains[5].start.assign(10, 1e200);  // its log-density overflows
  const auto results = run_in_lanes(experiment, chains);
  EXPECT_TRUE(results[5].failed);
  EXPECT_GT(results[5].refused, 1000u);
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 5) continue;
    EXPECT_FALSE(results[i].failed);
    EXPECT_EQ(results[i].refused, 0u);
    EXPECT_EQ(results[i].mean_square, calm[i].mean_square) << i;
  }
}

TEST_F(LaneChains, a_failing_microcanonical_chain_fails_alone) {
  LaneExperiment experiment{&rosenbrock_, &isotropic_, preconditioned(), 3, 400, 5};
  auto chains = chains_of(rosenbrock_, 16, 1e-2);
  chains[5].start.assign(10, 1e200);
  const auto results = run_in_lanes(experiment, chains);
  EXPECT_GT(results[5].refused, 300u);
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 5) continue;
    EXPECT_EQ(results[i].refused, 0u);
    for (std::size_t j = 0; j < 10; ++j) EXPECT_TRUE(std::isfinite(results[i].mean_square[j]));
  }
}

/// Rounding is all that an instruction set may change: over a few steps it cannot be told.
TEST_F(LaneChains, instruction_sets_agree) {
  const std::string best = instruction_set();
  const auto chains = chains_of(icg_, 16, 0.01, 15);
  for (const LaneExperiment& experiment : {LaneExperiment{&icg_, &correlated_, preconditioned(), 3, 30, 1},
                                           LaneExperiment{&icg_, &none_, full_batch(15), 3, 30, 1},
                                           LaneExperiment{&icg_, &correlated_, SghmcOptions{}, 3, 30, 1}}) {
    force_instruction_set(best);
    const auto expected = run_in_lanes(experiment, chains);
    for (const std::string& set : available_instruction_sets()) {
      force_instruction_set(set);
      const auto results = run_in_lanes(experiment, chains);
      for (std::size_t i = 0; i < chains.size(); ++i)
        for (std::size_t j = 0; j < 10; ++j)
          EXPECT_NEAR(results[i].mean_square[j], expected[i].mean_square[j],
                      1e-4 * (1 + expected[i].mean_square[j]))
              << set;
    }
    force_instruction_set(best);
  }
}

/// The whole benchmark: the same numbers whatever the number of threads, winners by the rules.
TEST(AnalyticBenchmark, threads_change_nothing_and_stuck_chains_do_not_win) {
  AnalyticConfig config;
  config.steps = 100000;
  config.chains = 6;
  config.targets = {AnalyticalKind::icg, AnalyticalKind::rosenbrock};
  config.noises = {NoiseStructure::diagonal};
  config.noise_scale = 1;
  AnalyticMethod method;
  method.name = method.label = "psmile-naive";
  method.step_sizes = {1e-9, 0.05, 0.1, 0.2};
  method.decoherence_lengths = {INFINITY};
  config.methods = {method};
  AnalyticRunOptions one, three;
  one.threads = 1;
  three.threads = 3;
  const AnalyticReport a = run_analytic(config, one), b = run_analytic(config, three);
  ASSERT_EQ(a.cells.size(), 2u);
  for (std::size_t c = 0; c < a.cells.size(); ++c) {
    const AnalyticCell& cell = a.cells[c];
    for (std::size_t p = 0; p < cell.points.size(); ++p) {
      EXPECT_EQ(cell.points[p].bias, b.cells[c].points[p].bias);
      EXPECT_EQ(cell.points[p].standard_error, b.cells[c].points[p].standard_error);
    }
    EXPECT_EQ(cell.points[0].marked_chains, config.chains) << "a step of 1e-9";
    ASSERT_TRUE(cell.winner);
    EXPECT_NE(*cell.winner, 0u);
    EXPECT_EQ(cell.at_edge, *cell.winner == 3);
  }
}

}  // namespace
}  // namespace smile

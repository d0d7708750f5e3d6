// SPDX-License-Identifier: Apache-2.0
/// Chain-steps a second of processor time on a 10-dimensional diagonal Gaussian: chains in lanes against one
/// by one. Two gradients a step; the random numbers are counter-based. Usage: bench_lanes [steps]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>

#include "smile/ensemble/lane_chains.hpp"
#include "smile/instruction_set.hpp"

namespace {

using namespace smile;

double rate(const LaneExperiment& experiment, bool in_lanes) {
  std::vector<LaneChain> chains(in_lanes ? kChainsPerBundle : 1);
  for (std::size_t i = 0; i < chains.size(); ++i) {
    chains[i].number = std::uint32_t(i);
    chains[i].step_size = 0.1;
    chains[i].decoherence_length = 15;
    chains[i].start.resize(experiment.density->dimension());
    Stream stream({1, std::uint32_t(i), Purpose::analytic_start});
    experiment.density->draw(stream, chains[i].start);
  }
  double best = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const std::clock_t begin = std::clock();  // of the process, which has one thread
    const auto results = in_lanes ? run_in_lanes(experiment, chains) : run_one_by_one(experiment, chains);
    const double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
    double done = 0;
    for (const auto& result : results) done += double(result.steps);
    best = std::max(best, done / seconds);
  }
  return best / 1e6;
}

void report(const char* name, LaneExperiment experiment, std::uint64_t steps) {
  experiment.steps = steps;
  const double lanes = rate(experiment, true);
  experiment.steps = steps / 8;
  const double single = rate(experiment, false);
  fmt::print("{:<44} {:6.2f} M chain-steps/s in lanes, {:5.2f} M one by one, ratio {:4.1f}\n", name, lanes,
             single, lanes / single);
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t steps = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100000;
  std::vector<double> covariance(100, 0.0);
  for (std::size_t i = 0; i < 10; ++i) covariance[11 * i] = std::pow(10.0, -1 + 2 * double(i) / 9);
  const auto diagonal = AnalyticalDensity::gaussian(covariance, 10, "bench");
  const AnalyticalDensity icg(AnalyticalKind::icg);
  const InjectedNoise none;
  InjectedNoise isotropic, correlated;
  isotropic.structure = NoiseStructure::isotropic;
  isotropic.amplitude = 1;
  correlated.structure = NoiseStructure::correlated;
  correlated.scales = benchmark_scales(10);

  MicrocanonicalOptions smile_naive;
  smile_naive.rule = StepSizeRule::fixed;
  smile_naive.guardrail = false;
  MicrocanonicalOptions psmile_naive = smile_naive, mclmc = smile_naive;
  psmile_naive.preconditioner = PreconditionerOptions{};
  mclmc.decoherence_length = 15;

  fmt::print("instruction set: {}\n", instruction_set());
  report("smile-naive, diagonal Gaussian, noise", {&diagonal, &isotropic, smile_naive, 1}, steps);
  report("mclmc, diagonal Gaussian (20 normals a step)", {&diagonal, &none, mclmc, 1}, steps);
  report("smile-naive, icg, correlated noise", {&icg, &correlated, smile_naive, 1}, steps);
  report("psmile-naive, icg, correlated noise", {&icg, &correlated, psmile_naive, 1}, steps);
  LangevinOptions sgld;
  report("sgld, icg, correlated noise", {&icg, &correlated, sgld, 1}, steps);
  SghmcOptions sghmc;
  report("sghmc, icg, correlated noise", {&icg, &correlated, sghmc, 1}, steps);
}

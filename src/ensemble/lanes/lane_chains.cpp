// SPDX-License-Identifier: Apache-2.0
#include "smile/ensemble/lane_chains.hpp"

#include <algorithm>
#include <string>

#include "ensemble/lanes/bundle.hpp"
#include "ensemble/lanes/chain_loop.hpp"
#include "smile/ensemble/stream_normals.hpp"
#include "smile/instruction_set.hpp"

namespace smile {
namespace {

lanes::RunBundle best_bundle() {
#if defined(__x86_64__)
  const std::string set = instruction_set();
  if (set == "avx3") return lanes::run_bundle_avx3;
  if (set == "avx2") return lanes::run_bundle_avx2;
#endif
  return lanes::run_bundle_baseline;
}

struct OnlyEntry {
  static double at(double scalar, std::size_t) { return scalar; }
};

}  // namespace

std::vector<LaneChainResult> run_in_lanes(const LaneExperiment& experiment,
                                          std::span<const LaneChain> chains) {
  const lanes::RunBundle run = best_bundle();
  std::vector<LaneChainResult> results;
  for (std::size_t first = 0; first < chains.size(); first += kChainsPerBundle) {
    auto bundle = run(experiment, chains.subspan(first, std::min(kChainsPerBundle, chains.size() - first)));
    std::move(bundle.begin(), bundle.end(), std::back_inserter(results));
  }
  return results;
}

std::vector<LaneChainResult> run_one_by_one(const LaneExperiment& experiment,
                                            std::span<const LaneChain> chains) {
  using Vector = HostVector<double>;
  std::vector<LaneChainResult> results;
  for (const LaneChain& chain : chains) {
    Vector start(chain.start.size());
    std::copy(chain.start.begin(), chain.start.end(), start.data());
    StreamNormals<Vector> normals(experiment.seed, chain.number);
    auto result = std::visit(
        [&](const auto& options) {
          return lanes::run_loop<Vector, OnlyEntry>(experiment, options, normals, start, chain.step_size,
                                                    chain.decoherence_length, 1);
        },
        experiment.sampler);
    results.push_back(std::move(result.front()));
  }
  return results;
}

}  // namespace smile

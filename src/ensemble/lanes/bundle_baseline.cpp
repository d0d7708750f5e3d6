// SPDX-License-Identifier: Apache-2.0
// The bundle of chains for what every machine of the architecture has.
#include "ensemble/lanes/bundle-inl.hpp"

namespace smile::lanes {
std::vector<LaneChainResult> run_bundle_baseline(const LaneExperiment& experiment,
                                                 std::span<const LaneChain> chains) {
  return HWY_NAMESPACE::run_bundle(experiment, chains);
}
}  // namespace smile::lanes

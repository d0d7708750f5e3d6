// SPDX-License-Identifier: Apache-2.0
// The bundle of chains for one instruction set.
#if defined(__x86_64__)
#define HWY_BASELINE_TARGETS HWY_AVX2
#include "ensemble/lanes/bundle-inl.hpp"

namespace smile::lanes {
std::vector<LaneChainResult> run_bundle_avx2(const LaneExperiment& experiment,
                                             std::span<const LaneChain> chains) {
  return HWY_NAMESPACE::run_bundle(experiment, chains);
}
}  // namespace smile::lanes
#endif

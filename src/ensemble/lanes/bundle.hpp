// SPDX-License-Identifier: Apache-2.0
/// One bundle of chains, compiled for every instruction set (bundle_*.cpp).
#pragma once

#include <span>
#include <vector>

namespace smile {

struct LaneExperiment;
struct LaneChain;
struct LaneChainResult;

namespace lanes {

/// At most kChainsPerBundle chains.
using RunBundle = std::vector<LaneChainResult> (*)(const LaneExperiment&, std::span<const LaneChain>);

std::vector<LaneChainResult> run_bundle_avx3(const LaneExperiment&, std::span<const LaneChain>);
std::vector<LaneChainResult> run_bundle_avx2(const LaneExperiment&, std::span<const LaneChain>);
std::vector<LaneChainResult> run_bundle_baseline(const LaneExperiment&, std::span<const LaneChain>);

}  // namespace lanes
}  // namespace smile

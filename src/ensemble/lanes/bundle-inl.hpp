// SPDX-License-Identifier: Apache-2.0
// Runs one bundle of chains. Included by a source file for each instruction set, which names the set in
// HWY_BASELINE_TARGETS: what stands between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE, the text of the
// samplers above all, is compiled for it. What has nothing to do with bundles is included before, so that it
// is compiled as everywhere else (docs/decisions/0010-chains-in-lanes.md).
#pragma once

#define HWY_COMPILE_ONLY_STATIC
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "ensemble/lanes/bundle.hpp"
#include "random/philox.hpp"
#include "random/reference.hpp"
#include "smile/adaptation/energy_tuner.hpp"
#include "smile/adaptation/schedule.hpp"
#include "smile/adaptation/turning_angle.hpp"
#include "smile/archive.hpp"
#include "smile/dynamics/splitting.hpp"
#include "smile/dynamics/turning_noise.hpp"
#include "smile/kernels/host_vector.hpp"
#include "smile/kernels/lanes_of_one.hpp"
#include "smile/refusal.hpp"
#include "smile/targets/analytical.hpp"
#include "smile/targets/target.hpp"

#include "ensemble/lanes/lane_normals-inl.hpp"

HWY_BEFORE_NAMESPACE();
#include "ensemble/lanes/chain_loop.hpp"

namespace smile::lanes {
namespace HWY_NAMESPACE {

namespace bundle = smile::HWY_NAMESPACE;
static_assert(bundle::kLanes == kChainsPerBundle);

struct LaneEntries {
  static double at(const bundle::LaneScalar& scalar, std::size_t lane) { return scalar.at(lane); }
};

/// Lanes without a chain of their own repeat the last one.
inline std::vector<LaneChainResult> run_bundle(const LaneExperiment& experiment,
                                               std::span<const LaneChain> chains) {
  const std::size_t d = experiment.density->dimension();
  const auto chain_of = [&](std::size_t lane) -> const LaneChain& {
    return chains[std::min(lane, chains.size() - 1)];
  };
  std::array<std::uint32_t, bundle::kLanes> numbers{};
  double steps[bundle::kLanes], lengths[bundle::kLanes], entry[bundle::kLanes];
  for (std::size_t l = 0; l < bundle::kLanes; ++l) {
    numbers[l] = chain_of(l).number;
    steps[l] = chain_of(l).step_size;
    lengths[l] = chain_of(l).decoherence_length;
  }
  bundle::LaneVector start(d);
  for (std::size_t j = 0; j < d; ++j) {
    for (std::size_t l = 0; l < bundle::kLanes; ++l) entry[l] = chain_of(l).start[j];
    start[j] = bundle::LaneScalar::of(entry);
  }
  bundle::LaneNormals normals(experiment.seed, numbers);
  const auto step = bundle::LaneScalar::of(steps), length = bundle::LaneScalar::of(lengths);
  if (const auto* smile = std::get_if<MicrocanonicalOptions>(&experiment.sampler))
    return run_loop<bundle::LaneVector, LaneEntries>(experiment, *smile, normals, start, step, length,
                                                     chains.size());
  if (const auto* sgld = std::get_if<LangevinOptions>(&experiment.sampler))
    return run_loop<bundle::LaneVector, LaneEntries>(experiment, *sgld, normals, start, step, length,
                                                     chains.size());
  return run_loop<bundle::LaneVector, LaneEntries>(experiment, std::get<SghmcOptions>(experiment.sampler),
                                                   normals, start, step, length, chains.size());
}

}  // namespace HWY_NAMESPACE
}  // namespace smile::lanes
HWY_AFTER_NAMESPACE();

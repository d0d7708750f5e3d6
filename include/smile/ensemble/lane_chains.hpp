// SPDX-License-Identifier: Apache-2.0
/// Many chains on an analytical density at once, one a lane of SIMD registers: for densities of few
/// dimensions, where a chain alone would leave the registers empty. The samplers are those of smile/samplers,
/// compiled once more with bundles of chains as their vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <variant>
#include <vector>

#include "smile/samplers/langevin.hpp"
#include "smile/samplers/microcanonical.hpp"
#include "smile/samplers/momentum_samplers.hpp"
#include "smile/targets/analytical.hpp"

namespace smile {

/// What the chains of a bundle share. Step sizes in `sampler` do not count: every chain has its own.
struct LaneExperiment {
  const AnalyticalDensity* density = nullptr;
  const InjectedNoise* noise = nullptr;
  /// smile-naive or psmile-naive; sgld or psgld; sghmc.
  std::variant<MicrocanonicalOptions, LangevinOptions, SghmcOptions> sampler;
  std::uint64_t seed = 0;
  std::uint64_t steps = 1;   ///< ≥ 1
  std::uint64_t blocks = 1;  ///< in [1, steps]: means of θ_j² are kept for so many blocks of equal length
  std::uint64_t record_every = 0;  ///< keep the first two coordinates after every so many steps; 0: never
  double max_nonfinite_fraction = 0.5;  ///< a chain fails where more of its last 100 steps were not finite
};

/// One chain: which random numbers it uses, where it starts, how it steps.
struct LaneChain {
  std::uint32_t number = 0;                                             ///< below 2²⁴
  double step_size = 0;                                                 ///< > 0
  double decoherence_length = std::numeric_limits<double>::infinity();  ///< > 0
  std::vector<double> start;                                            ///< @shape [d]
};

struct LaneChainResult {
  std::uint64_t steps = 0;          ///< fewer than asked for only where every chain of a bundle failed
  std::uint64_t refused = 0;        ///< steps
  bool failed = false;              ///< by the rule of chain_loop.hpp
  std::vector<double> mean_square;  ///< mean_t θ_j², @shape [d]
  std::vector<double> mean_fourth;  ///< mean_t θ_j⁴, @shape [d]
  std::vector<double> block_means;  ///< of θ_j², @shape [d, blocks]
  std::vector<float> recorded;      ///< (θ₀, θ₁), @shape [·, 2]
  double mean_move = 0;             ///< mean_t ‖θ_t − θ_{t−1}‖, where recorded
};

/// Runs each chain for the steps of the experiment, in the calling thread. The result of a chain depends on
/// its number, start and step size, on the seed and, by rounding, on the instruction set; not on its
/// neighbours but by rounding in steps that some of them refuse.
std::vector<LaneChainResult> run_in_lanes(const LaneExperiment& experiment,
                                          std::span<const LaneChain> chains);

/// The same, one chain after the other, with a HostVector<double> and the numbers of StreamNormals: the form
/// against which the lanes are tested and measured. Slow.
std::vector<LaneChainResult> run_one_by_one(const LaneExperiment& experiment,
                                            std::span<const LaneChain> chains);

/// Chains that share a bundle.
inline constexpr std::size_t kChainsPerBundle = 32;

}  // namespace smile

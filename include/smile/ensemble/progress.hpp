// SPDX-License-Identifier: Apache-2.0
/// How far a run is, for whoever shows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "smile/samplers/sampler.hpp"

namespace smile {

/// One chain of the sampling phase.
struct ChainProgress {
  std::uint32_t chain = 0;
  std::uint64_t done = 0, total = 0;  ///< steps; a chain that has not begun has a total of 0
  std::uint64_t warmup = 0;           ///< steps of warm-up
  std::uint64_t refused = 0;
  double log_density = StepReport::kNone;
  double step_size = StepReport::kNone;
};

/// A moment of one phase. NaN where a quantity does not apply.
struct Progress {
  std::string phase;                       ///< "warm start", "sampling", "evaluation"
  std::string unit = "steps";              ///< what is counted
  std::uint64_t done = 0, total = 0;       ///< over all chains or members
  double seconds = 0;                      ///< since the phase began in this process
  double per_second = 0;                   ///< units a second in this process
  double log_density = StepReport::kNone;  ///< mean over the chains that have begun
  double step_size = StepReport::kNone;    ///< geometric mean over the chains that have begun
  std::uint64_t refused = 0;               ///< refused steps of all chains
  bool finished = false;                   ///< last call of the phase
  std::vector<ChainProgress> chains;       ///< of the sampling phase; empty in others
};

}  // namespace smile

/// How far a run is, for whoever shows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "smile/samplers/sampler.hpp"

namespace smile {

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
};

}  // namespace smile

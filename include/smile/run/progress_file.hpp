// SPDX-License-Identifier: Apache-2.0
/// progress.json: how far a run is, for others to read while it goes on. Whoever writes or reads that file
/// does it here.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "smile/ensemble/progress.hpp"

namespace smile {

/// Time spent in a phase, all sessions of the run together.
struct PhaseTime {
  std::string name, unit;
  double seconds = 0;
  std::uint64_t done = 0;
};

struct LiveProgress {
  Progress now;
  double seconds_left = StepReport::kNone;  ///< of the phase; NaN where that is not known
  std::int64_t written = 0;                 ///< seconds since 1970
  std::vector<PhaseTime> phases;
};

/// Writes the file of a run.
/// @throws Error of kind run where it cannot be written
void write_progress(const std::filesystem::path& run, const LiveProgress& progress);
/// Nothing where there is none, or none that can be read.
std::optional<LiveProgress> read_progress(const std::filesystem::path& run);

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// How a run is doing, running or not: the document behind `smile status`. Reads files only, takes no lock.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smile/ensemble/progress.hpp"
#include "smile/run/run_inspection.hpp"

namespace smile {

/// A log predictive density of the draws so far.
struct LppdSoFar {
  double lppd = 0;
  std::size_t draws = 0;  ///< taken evenly from the second half of each chain's draws
  std::size_t rows = 0;   ///< validation rows
};

struct RunStatusReport {
  RunFacts facts;
  std::optional<Progress> progress;  ///< of the phase under way, or the last one
  double seconds_since_news = 0;     ///< age of `progress`
  std::vector<std::pair<std::string, double>> phase_seconds;
  std::uint64_t resets = 0;  ///< refused steps of all chains; while a run goes on those of its last news
  std::optional<double> test_lppd, ensemble_test_lppd;  ///< of an evaluated run
  std::optional<LppdSoFar> validation_lppd;             ///< of a run that is not evaluated and has draws
};

/// @param with_lppd  predicts the validation rows with some of the draws so far; takes a moment
/// @throws Error where there is no run, or another version wrote it
RunStatusReport run_status(const std::filesystem::path& run, bool with_lppd = true);

std::string to_json(const RunStatusReport& report);
std::string to_text(const RunStatusReport& report);

}  // namespace smile

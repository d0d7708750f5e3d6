// SPDX-License-Identifier: Apache-2.0
/// How far a run is, kept in a file that others read while it goes on: progress.json.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "smile/ensemble/progress.hpp"
#include "smile/run/progress_file.hpp"
#include "smile/run/run_directory.hpp"

namespace smile::experiment {

/// "sampling: 45,000 of 150,000 steps (30 %), 27,000 steps/s, 0:04 left, log-density -101.3, ε 0.00326, 79
/// resets", and one line for each chain.
std::vector<std::string> describe(const Progress& progress);
/// Until the end of the phase at the present speed; NaN where that is not known.
double seconds_left(const Progress& progress);
/// "4:05", "1:02:03"; "?" where it is not known.
std::string clock_text(double seconds);

/// Writes progress.json once a second and at the end of a phase, and a snapshot to the log when asked for.
/// What goes wrong with these files does not concern the run.
class LiveStatus {
 public:
  /// @param snapshot  may be null; see RunOptions
  LiveStatus(const RunDirectory& directory, std::atomic<bool>* snapshot);
  void show(const Progress& progress);

 private:
  void write(const Progress& progress) const noexcept;
  const RunDirectory& directory_;
  std::atomic<bool>* snapshot_;
  std::vector<PhaseTime> phases_;
  double earlier_seconds_ = 0;  // of the phase under way, in earlier sessions
  std::string phase_;
  std::chrono::steady_clock::time_point written_{};
};

}  // namespace smile::experiment

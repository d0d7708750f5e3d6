// SPDX-License-Identifier: Apache-2.0
/// The phases of a run, one after the other; whatever happens the state of its directory says so.
#pragma once

#include "experiment/experiment.hpp"
#include "smile/run/run_directory.hpp"

namespace smile::experiment {

enum class Phases {
  all,
  evaluation,  ///< of a run as far as it is: its state stays
  finishing,   ///< of one whose chains were moved by many processes
};

/// "2 of 10 chains failed": the reason in the state of a run that was evaluated without them.
std::string failed_reason(std::size_t failed, std::size_t chains);

/// @pre the directory is locked
RunSummary run_phases(Experiment& experiment, RunDirectory& directory, const RunOptions& options,
                      Phases phases);

}  // namespace smile::experiment

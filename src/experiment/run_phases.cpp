// SPDX-License-Identifier: Apache-2.0
#include "experiment/run_phases.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>

#include "experiment/live_status.hpp"
#include "smile/error.hpp"
#include "smile/run/run_paths.hpp"

namespace smile::experiment {
namespace {

/// Runs the phases; whatever happens the directory's state says so.
class Run {
 public:
  Run(Experiment& e, RunDirectory& directory, const RunOptions& options)
      : e_(e), directory_(directory), live_(directory, options.snapshot), options_(options) {
    options_.on_progress = [this, caller = options.on_progress](const Progress& progress) {
      if (which_ != Phases::evaluation) live_.show(progress);
      if (caller) caller(progress);
    };
    summary_.directory = directory.path().string();
    summary_.samples_directory = RunPaths(directory.path()).samples().string();
    summary_.warnings = e.warnings;
  }

  RunSummary go(Phases which) {
    which_ = which;
    const auto begin = std::chrono::steady_clock::now();
    if (which_ != Phases::finishing)  // else they were told when the chains began
      for (const auto& warning : e_.warnings) remark(options_, directory_, "warning: " + warning);
    try {
      phases();
    } catch (const std::exception& error) {
      directory_.log(std::string("failed: ") + error.what());
      // Where not even that can be written, the old status stays: "running" of a process that is gone.
      try {
        write_state({"failed", phase_, error.what()});
      } catch (const Error&) {
      }
      throw;
    }
    summary_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::move(summary_);
  }

 private:
  void phases() {
    if (which_ == Phases::finishing)
      finish_warm_start(e_, directory_, read_members(directory_.path(), e_.chains(), e_.member_dimension()));
    if (which_ == Phases::all) {
      enter("warm start");
      const auto start = warm_start(e_, directory_, options_);
      if (start.interrupted) return interrupted();
      enter("sampling");
      if (!sample(e_, directory_, options_, start)) return interrupted();
    } else if (!e_.prior) {
      complete_prior(e_, directory_.path(),
                     read_members(directory_.path(), e_.chains(), e_.member_dimension()));
    }
    enter("evaluation");
    if (!evaluate(e_, directory_, options_, summary_)) return interrupted();
    for (std::size_t i = e_.warnings.size(); i < summary_.warnings.size(); ++i)
      remark(options_, directory_, "warning: " + summary_.warnings[i]);
    if (summary_.failed_chains > 0) {
      summary_.status = RunStatus::failed;
      summary_.reason = failed_reason(summary_.failed_chains, summary_.chains);
      write_state({"failed", phase_, summary_.reason});
    } else if (summary_.incomplete_chains > 0) {
      summary_.status = RunStatus::interrupted;
      summary_.reason =
          fmt::format("{} of {} chains are incomplete", summary_.incomplete_chains, summary_.chains);
      write_state({"interrupted", phase_, summary_.reason});
    } else {
      directory_.write_state({"complete", phase_, ""});
    }
    directory_.log("done");
  }

  void enter(const char* phase) {
    phase_ = phase;
    directory_.log(phase_);
    write_state({"running", phase_, ""});
  }

  /// Evaluating a run anew does not change how far it came.
  void write_state(const RunState& state) const {
    if (which_ != Phases::evaluation) directory_.write_state(state);
  }

  void interrupted() {
    summary_.status = RunStatus::interrupted;
    summary_.reason = "interrupted during " + phase_;
    directory_.log(summary_.reason);
    write_state({"interrupted", phase_, summary_.reason});
  }

  Experiment& e_;
  RunDirectory& directory_;
  LiveStatus live_;
  RunOptions options_;
  RunSummary summary_;
  std::string phase_;
  Phases which_ = Phases::all;
};

}  // namespace

std::string failed_reason(std::size_t failed, std::size_t chains) {
  return fmt::format("{} of {} chains failed", failed, chains);
}

RunSummary run_phases(Experiment& e, RunDirectory& directory, const RunOptions& options, Phases phases) {
  return Run(e, directory, options).go(phases);
}

}  // namespace smile::experiment

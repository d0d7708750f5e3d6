// SPDX-License-Identifier: Apache-2.0
/// What is in a run directory, as `smile status`, `diagnose` and `report` need it (spec 5.3). Takes no lock
/// and changes nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>

#include "smile/run/run_directory.hpp"

namespace smile {

struct RunFacts {
  std::filesystem::path path;
  RunState state;           ///< status.json
  std::string time;         ///< when that was written
  std::string writer;       ///< "process 4711 on host" while a process has the run, else empty
  std::size_t chains = 0;   ///< the configuration's
  std::size_t members = 0;  ///< warm-started networks in warmstart/
  std::size_t chains_complete = 0, chains_failed = 0,
              chains_begun = 0;  ///< begun: with a checkpoint or draws
  std::uint64_t draws = 0;       ///< of all chains
  bool evaluated = false;        ///< eval/metrics.json is there

  /// Its status says "running" and no process has it: it was killed.
  bool is_abandoned() const { return writer.empty() && state.status == "running"; }
  /// "running", "killed", "interrupted", "failed", "complete".
  std::string status() const { return is_abandoned() ? "killed" : state.status; }
  /// "10 of 10 warm-started members, 3 of 10 chains complete, 1200 draws, not evaluated".
  std::string inventory() const;
  /// The command that lets it go on.
  std::string resume_command() const;
};

/// @throws Error where there is no run, or another version wrote it (run_access.hpp)
RunFacts inspect_run(const std::filesystem::path& path);

/// The least that a command needs of a run.
enum class RunPart {
  begun,      ///< a chain with a checkpoint: something to diagnose
  evaluated,  ///< eval/metrics.json: something to report
};

/// inspect_run() that also refuses a run that a process is writing, and one that lacks `needed`: the message
/// says what is there and what can be done.
RunFacts require_part(const std::filesystem::path& path, RunPart needed);

}  // namespace smile

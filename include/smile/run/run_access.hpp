// SPDX-License-Identifier: Apache-2.0
/// What every command that reads a run asks of its directory before it reads anything (spec 5.1, 5.3).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace smile {

/// How far the chains of a run came, from their checkpoints.
struct RunProgress {
  std::string status, phase, reason;  ///< of status.json; empty where there is none
  std::size_t chains = 0, complete = 0, failed = 0;
  std::uint64_t draws = 0;                      ///< stored by all chains that did not fail
  std::uint64_t steps_done = 0, steps_all = 0;  ///< of the chains that did not fail; 0 of 0 before sampling

  bool all_ended() const { return chains > 0 && complete + failed == chains; }
};

/// The first half of require_run(): refuses what is not a run, and a run of another version.
/// @throws Error of kind usage
void require_known_run(const std::filesystem::path& run);

/// "process 4711 on host" where a process has the run or a part of it ("… and 3 more" where several have),
/// else empty. Takes no lock. What dead processes have left does not count (docs/decisions/0030).
std::string run_writer(const std::filesystem::path& run);

/// Refuses a path that is not a run (and names the runs in it, where it is a folder of runs), a run of
/// another version (another major or, before 1.0, another minor number), and a run that another process is
/// writing.
/// @throws Error of kind usage; of kind run where it is being written
void require_run(const std::filesystem::path& run);

/// What is known of the run's chains. @pre require_run() has not thrown
RunProgress run_progress(const std::filesystem::path& run);

/// Refuses a run with a chain that has not ended: says what is there and what can be done.
/// @param use_anyway  the option of the calling command that takes what is there, e.g. "--incomplete"; empty:
/// none
/// @throws Error of kind run
void require_complete(const std::filesystem::path& run, const std::string& use_anyway = "--incomplete");

}  // namespace smile

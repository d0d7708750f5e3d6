// SPDX-License-Identifier: Apache-2.0
/// The folder of one run: its lock, its status, its log, and where things are in it (spec 5.3).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smile/config/config.hpp"
#include "smile/run/lock_file.hpp"

namespace smile {

/// status.json.
struct RunState {
  std::string status;                   ///< "running", "interrupted", "failed", "complete"
  std::string phase;                    ///< "warm start", "sampling", "evaluation"; where it is or ended
  std::string reason;                   ///< of an interruption or failure
  std::string time = {}, version = {};  ///< when it was written, and by which smile; set where it is read
  std::string host = {};                ///< where, and
  std::int64_t pid = 0;                 ///< by which process; set where it is read
};

/// A run directory that this process writes to: all of it, or parts.
class RunDirectory {
 public:
  /// Makes a new run directory (and its parents) and locks it.
  /// @param config  whose files are read: it is not made inside of them
  /// @throws Error where it exists and holds anything, cannot be made, is locked, or would lie in what is
  /// read or in what belongs to another run
  static RunDirectory create(const std::filesystem::path& path, const Config* config = nullptr,
                             const LockPatience& patience = {});
  /// Locks one that is there, and all of its chains: what dead processes have left is taken over.
  /// @throws Error where there is none, or another process has it or a part of it (named with pid and host)
  static RunDirectory open(const std::filesystem::path& path, const LockPatience& patience = {});
  /// create() for one of several processes that start at once: waits while another prepares the run.
  /// @return nothing where there is a run by now, which may be joined
  static std::optional<RunDirectory> create_unless_there(const std::filesystem::path& path,
                                                         const Config* config,
                                                         const LockPatience& patience = {});
  /// For a process that has the run's lock.
  static RunDirectory held(const std::filesystem::path& path, std::unique_ptr<LockFile> lock);
  /// For a process that does parts of the run, with a lock for each of them.
  static RunDirectory join(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  /// Writes config.yaml: the completed configuration, with version, host and libraries as comments.
  void write_config(const Config& config) const;
  void write_state(const RunState& state) const;
  /// Appends a line with the time to run.log, or to the process's own log where it does parts; never throws.
  void log(const std::string& line) const noexcept;

 private:
  explicit RunDirectory(std::filesystem::path path);
  void lock(const LockPatience& patience);
  std::filesystem::path path_, log_;
  std::unique_ptr<LockFile> lock_;
};

/// What is left of a chain that a dead process had, or what a living one is at.
struct RunLock {
  std::string part;  ///< "chain-03"; empty: the whole run
  LockLook look;
};
/// The lock of the run and those of its parts, as far as they are taken.
std::vector<RunLock> run_locks(const std::filesystem::path& run, const LockPatience& patience = {});

/// What status.json says; nothing where there is none.
std::optional<RunState> read_run_state(const std::filesystem::path& path);

/// <saving_dir>/<experiment_name>/<local time, 2026-05-31_14-03-59>, with a number behind it where that is
/// taken.
std::filesystem::path new_run_path(const Config& config);
/// The youngest run of the experiment that is not complete; nothing where all are.
std::optional<std::filesystem::path> latest_unfinished_run(const Config& config);

/// The first key in which two configurations differ, with both values: "training.sampler.step_size (0.001 in
/// the run, 0.01 now)"; empty where they are equal. Keys that name places are not compared: files are known
/// by what is in them (inputs.hpp).
std::string first_difference(const Config& run, const Config& now);

}  // namespace smile

/// The folder of one run: its lock, its status, its log, and where things are in it (spec 5.3).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "smile/config/config.hpp"

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

/// A run directory that this process holds. Two processes on one directory: the second is refused. The lock
/// ends with the process, however it ends.
class RunDirectory {
 public:
  /// Makes a new run directory (and its parents) and locks it.
  /// @param config  whose files are read: it is not made inside of them
  /// @throws Error where it exists and holds anything, cannot be made, is locked, or would lie in what is
  /// read or in what belongs to another run
  static RunDirectory create(const std::filesystem::path& path, const Config* config = nullptr);
  /// Locks one that is there.
  /// @throws Error where there is none, or another process has it (named with its pid and host)
  static RunDirectory open(const std::filesystem::path& path);

  RunDirectory(RunDirectory&& other) noexcept;
  RunDirectory& operator=(RunDirectory&&) = delete;
  ~RunDirectory();

  const std::filesystem::path& path() const { return path_; }
  /// Writes config.yaml: the completed configuration, with version, host and libraries as comments.
  void write_config(const Config& config) const;
  void write_state(const RunState& state) const;
  /// Appends a line with the time to run.log; never throws.
  void log(const std::string& line) const noexcept;

 private:
  explicit RunDirectory(std::filesystem::path path);
  void lock();
  std::filesystem::path path_;
  int lock_descriptor_ = -1;
};

/// What status.json says; nothing where there is none.
std::optional<RunState> read_run_state(const std::filesystem::path& path);

/// <saving_dir>/<experiment_name>/<local time, 2026-05-31_14-03-59>, with a number behind it where that is
/// taken.
std::filesystem::path new_run_path(const Config& config);
/// The youngest run of the experiment that is not complete; nothing where all are.
std::optional<std::filesystem::path> latest_unfinished_run(const Config& config);

/// The first key in which two configurations differ, with both values: "training.sampler.step_size (0.001 in
/// the run, 0.01 now)"; empty where they are equal.
std::string first_difference(const Config& run, const Config& now);

}  // namespace smile

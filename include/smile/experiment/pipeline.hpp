// SPDX-License-Identifier: Apache-2.0
/// From a configuration to predictions and numbers: warm start, chains, evaluation, report (spec 2.5,
/// 3, 5.3). Nothing here prints: progress and messages go to the caller's functions.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smile/config/config.hpp"
#include "smile/data/table.hpp"
#include "smile/ensemble/progress.hpp"
#include "smile/named.hpp"
#include "smile/run/launcher.hpp"
#include "smile/run/metrics_file.hpp"

namespace smile {

struct RunSummary;

/// What the caller of a run decides; nothing in it changes a number.
struct RunOptions {
  std::string out;      ///< run directory; empty: `saving_dir/experiment_name/TIME`
  std::string data;     ///< of a run that exists: where its data are by now, if they have moved
  int threads = 0;      ///< 0: one for each core the process may use
  bool resume = false;  ///< go on with `out`, or with the latest unfinished run of the experiment
  /// Exactly these chains, beside other processes that do others in the same folder. Empty: all.
  std::vector<std::uint32_t> chains = {};
  /// This process is one of several that share the chains of a run, or the runs of a sweep.
  std::optional<Launch> launch = {};
  double takeover_seconds = 60;    ///< silence of a process on another host after which it counts as dead
  double checkpoint_seconds = 10;  ///< between two checkpoints of a chain
  /// Set from outside (a signal handler) to end the run after the step under way, with a checkpoint.
  const std::atomic<bool>* stop = nullptr;
  /// Set from outside to have a snapshot of the state written to run.log; set back when that is done.
  std::atomic<bool>* snapshot = nullptr;
  std::function<void(const Progress&)> on_progress;    ///< several times a second; may be empty
  std::function<void(const std::string&)> on_message;  ///< warnings and remarks, one line each; may be empty
  std::function<void(const RunSummary&)> on_run_done;  ///< after each run of a sweep; may be empty

  bool in_parts() const { return !chains.empty() || launch; }
};

enum class RunStatus { complete, interrupted, failed };
template <>
struct Named<RunStatus> {
  static constexpr Alternative<RunStatus> all[] = {{RunStatus::complete, "complete"},
                                                   {RunStatus::interrupted, "interrupted"},
                                                   {RunStatus::failed, "failed"}};
};

struct RunSummary {
  RunStatus status = RunStatus::complete;
  std::string directory;
  std::string samples_directory;  ///< where the draws are
  std::string reason;             ///< why it failed or stopped; empty where complete
  std::vector<MetricRow> metrics;
  std::vector<std::string> warnings;
  std::vector<std::string> findings;  ///< warnings about all chains together, to be read last
  double seconds = 0;                 ///< wall time of this call
  std::size_t chains = 0, failed_chains = 0, draws = 0;
  std::size_t incomplete_chains = 0;  ///< stopped before their last step; --resume lets them go on
  /// Of a process that did parts: one line on what it did and what is left; empty where it has evaluated.
  std::string part;

  /// 0 complete; 1 where the run was interrupted, or it or one of its chains failed.
  int exit_status() const { return status == RunStatus::complete && failed_chains == 0 ? 0 : 1; }
};

/// "3-5,9" as numbers, in order. @throws Error at --chains
std::vector<std::uint32_t> parse_chain_list(const std::string& text);

/// Runs or resumes one experiment.
/// @throws Error for wrong input (before anything is written) and where the run cannot go on (full disk, …);
///         what was written so far can be resumed
/// @param table  rows in memory; `data.path` of the configuration is kMemoryPath then. Null: that file is
/// read
RunSummary run_experiment(const Config& config, const RunOptions& options,
                          const std::shared_ptr<const Table>& table = nullptr);

/// Where the rows of a run are now.
struct RunData {
  std::string file;                    ///< empty: the run's own `data.path`
  std::shared_ptr<const Table> table;  ///< where set: in memory
};

/// Evaluates the draws of a run directory anew and rewrites eval/ and the report. What the run's status says
/// stays, but that a run all of whose chains are complete becomes complete; chains that are not are evaluated
/// as far as they came, with a warning and the status `interrupted` of the summary.
/// @param data  the rows that the run was made with, where they are elsewhere now
RunSummary evaluate_run(const std::string& directory, const RunOptions& options = {},
                        const RunData& data = {});

struct MergeOptions {
  RunOptions run;           ///< threads, data, takeover_seconds and functions are used
  std::string out;          ///< of several parts: the folder of the whole run; made
  bool incomplete = false;  ///< evaluate also where chains are missing
};
/// Puts the parts of a run together, checks that they are of one run, and evaluates it: chains that many
/// processes did in one folder, or parts that were made in folders of their own, whose files are copied.
/// @throws Error (usage) where parts are of different runs (says what differs), (run) where chains are
/// missing or still being moved
RunSummary merge_run(const std::vector<std::string>& parts, const MergeOptions& options = {});

/// One point of a sweep that is done.
struct SweepEntry {
  std::string name;
  RunSummary summary;
};
struct SweepSummary {
  std::vector<SweepEntry> entries;
  std::string csv, json;  ///< paths of the pooled table
  bool interrupted = false;
  int exit_status() const;
};

/// One run for each point of the search file, in `saving_dir/experiment_name/POINT`. Finished runs are
/// skipped (their metrics are read), unfinished ones go on. All points are checked before the first one
/// starts.
SweepSummary run_sweep(const std::string& config_file, const std::vector<Setting>& settings,
                       const std::string& sweep_file, const RunOptions& options);

/// A small table of the metrics for a terminal, and where the draws are.
std::string metrics_table(const RunSummary& summary);
/// The pooled table of a sweep.
std::string sweep_table(const SweepSummary& summary);

}  // namespace smile

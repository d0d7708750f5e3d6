// SPDX-License-Identifier: Apache-2.0
/// Where things lie in the folder of a run (spec 5.3). No other file spells these names. The files of the
/// chains (samples/, trace/, checkpoint/) are in ensemble/chain_files.hpp, whose functions take the same
/// folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <utility>

namespace smile {

class RunPaths {
 public:
  /// The folder need not be there.
  explicit RunPaths(std::filesystem::path run) : run_(std::move(run)) {}

  /// The completed configuration. A folder is a run where it has this file.
  std::filesystem::path config() const { return run_ / "config.yaml"; }
  bool is_run() const;
  std::filesystem::path state() const { return run_ / "status.json"; }       ///< run_directory.hpp
  std::filesystem::path progress() const { return run_ / "progress.json"; }  ///< while the run goes on
  std::filesystem::path log() const { return run_ / "run.log"; }
  std::filesystem::path lock() const { return run_ / "lock"; }
  /// Of a chain, and of a member that several chains need (run/lock_file.hpp).
  std::filesystem::path locks() const { return run_ / "locks"; }
  std::filesystem::path chain_lock(std::size_t chain) const;
  std::filesystem::path member_lock(std::size_t member) const;
  /// Of rank 0, which stays to the end.
  std::filesystem::path first_rank_lock() const { return locks() / "rank-0"; }
  /// Logs of the processes that did parts of the run.
  std::filesystem::path part_logs() const { return run_ / "log"; }
  std::filesystem::path inputs() const { return run_ / "inputs.json"; }  ///< where the data are: inputs.hpp
  /// Rows of each part, normalisation, labels: what the data was.
  std::filesystem::path data() const { return run_ / "dataset_splits.npz"; }
  std::filesystem::path parameters() const { return run_ / "parameters.json"; }  ///< what a draw is made of
  std::filesystem::path network() const { return run_ / "network.json"; }  ///< what the network is made of

  std::filesystem::path warmstart() const { return run_ / "warmstart"; }
  std::filesystem::path member(std::size_t number) const;  ///< parameters of a member, .npy
  /// CRC-32 of the parameters of every member, once all are there.
  std::filesystem::path member_checksums() const { return warmstart() / "checksums.json"; }
  /// Standard deviations of a prior that follows from the members, by tensor.
  std::filesystem::path prior() const { return warmstart() / "prior.json"; }
  std::filesystem::path member_epochs(std::size_t number) const;                ///< rows are EpochReport
  std::filesystem::path epochs() const { return warmstart() / "metrics.csv"; }  ///< those of all members

  std::filesystem::path samples() const;
  std::filesystem::path evaluation() const { return run_ / "eval"; }
  std::filesystem::path metrics() const { return evaluation() / "metrics.json"; }  ///< the short table
  std::filesystem::path sampling_metrics() const { return evaluation() / "sampling.json"; }
  /// Of the linearised network, with the sampler laplace.
  std::filesystem::path linearised_metrics() const { return evaluation() / "linearised.json"; }
  std::filesystem::path member_metrics() const { return evaluation() / "ensemble_initialization.json"; }
  std::filesystem::path diagnostics() const { return evaluation() / "diagnostics.json"; }
  std::filesystem::path chains() const { return evaluation() / "chains.json"; }
  std::filesystem::path predictions() const {
    return evaluation() / "predictions.npz";
  }  ///< of the test rows
  std::filesystem::path out_of_distribution() const { return evaluation() / "ood.npz"; }
  std::filesystem::path log_densities() const { return evaluation() / "log_densities.npz"; }
  std::filesystem::path orderings() const { return evaluation() / "lppd_orderings.npz"; }
  /// Outputs of the network at each draw of a chain, where they are kept.
  std::filesystem::path outputs(std::uint32_t chain) const;

  /// What `predict`, `export` and `report` write where no other place is given.
  std::filesystem::path new_predictions() const { return run_ / "predictions.csv"; }
  std::filesystem::path report() const { return run_ / "report.html"; }

  /// What a search for the step size leaves.
  std::filesystem::path tried_steps() const { return run_ / "steps.csv"; }
  std::filesystem::path tuned() const { return run_ / "tuned.yaml"; }

  /// Whether the program keeps a file or folder of that name at the top of a run's or a search's folder. All
  /// else there is the user's, such as predictions and exports.
  static bool is_own(const std::filesystem::path& name);

 private:
  std::filesystem::path run_;
};

/// The pooled tables of a sweep, in the folder of its runs.
class SweepPaths {
 public:
  explicit SweepPaths(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path csv() const { return folder_ / "sweep.csv"; }
  std::filesystem::path json() const { return folder_ / "sweep.json"; }

 private:
  std::filesystem::path folder_;
};

/// What a benchmark on analytical densities leaves in its folder, beside its figures.
class AnalyticPaths {
 public:
  explicit AnalyticPaths(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path table() const { return folder_ / "table.txt"; }
  std::filesystem::path points() const { return folder_ / "points.csv"; }      ///< a row a grid point
  std::filesystem::path results() const { return folder_ / "results.json"; }   ///< all of it
  std::filesystem::path energies() const { return folder_ / "energies.csv"; }  ///< fits to |ΔE|

 private:
  std::filesystem::path folder_;
};

/// Names below which an unfinished configuration or state lies in a folder that is not a run yet.
bool is_left_of_a_new_run(const std::filesystem::path& name);

}  // namespace smile

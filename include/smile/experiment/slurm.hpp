// SPDX-License-Identifier: Apache-2.0
/// A job script for Slurm: what a run needs, from its plan and from a rate that is measured here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "smile/config/config.hpp"

namespace smile {

struct SlurmOptions {
  std::string config;             ///< the file, as the script will name it
  std::vector<std::string> set;   ///< `--set` of the command
  std::string out;                ///< the run's folder; empty: <saving_dir>/<experiment_name>/slurm
  std::string program = "smile";  ///< as the nodes find it
  std::string partition;          ///< empty: the cluster's own choice
  std::size_t tasks = 0;          ///< 0: one a chain, at most 64
  std::size_t cores = 1;          ///< of a task; so many of its chains are moved at once
  bool one_job = false;           ///< one job with srun in place of an array
  double measure_seconds = 2;     ///< how long steps and epochs are timed
};

struct SlurmPlan {
  std::size_t tasks = 0, cores = 1, chains = 0;
  double steps_per_second = 0;   ///< of a chain on one core of this machine
  double epochs_per_second = 0;  ///< of a member; 0: none is trained
  double seconds = 0;            ///< of a task, with half as much again
  std::uint64_t memory_megabytes = 0;
};

/// Reads the data, moves one chain and trains one member for a moment, and keeps nothing of it.
/// @throws Error as check_run()
SlurmPlan plan_for_slurm(const Config& config, const SlurmOptions& options);
/// The script. It is queued again when it is preempted (status 75), and goes on then.
std::string slurm_script(const Config& config, const SlurmOptions& options, const SlurmPlan& plan);

}  // namespace smile

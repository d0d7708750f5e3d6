// SPDX-License-Identifier: Apache-2.0
/// What a run will need, before it starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "smile/config/config.hpp"
#include "smile/data/dataset.hpp"

namespace smile {

/// What the estimates depend on beside the configuration.
struct RunSize {
  std::size_t dimension = 0;  ///< d, entries of θ
  std::size_t training_rows = 0;
  double data_bytes = 0;       ///< the data set in memory
  double workspace_bytes = 0;  ///< of one chain's gradient: activations of a mini-batch
  std::optional<double> device_bytes =
      std::nullopt;          ///< free on a device that chains share; none: chains are on the host
  double flops_per_row = 0;  ///< of a gradient; 0: not known, and no time is estimated unless it is measured
  std::optional<double> seconds_per_row = std::nullopt;  ///< of a gradient on one thread, measured
  double outputs_of_draw = 0;  ///< numbers that PredSaver keeps of a draw: test points times outputs
};

struct RunEstimate {
  std::size_t dimension = 0;           ///< d, entries of θ
  std::uint64_t steps_per_chain = 0;   ///< warm-up and sampling, epoch_wise_sampling carried out
  std::uint64_t stored_per_chain = 0;  ///< at most; exploration parts of a cycle store nothing
  std::uint64_t gradients_per_chain = 0;

  // Memory, resident; none of it depends on the number of draws.
  /// As many as there are threads; on a device at most as many as fit into its memory, and 0 where one does
  /// not.
  std::size_t chains_at_once = 0;
  std::optional<double> device_bytes;  ///< as in RunSize
  double members_bytes = 0;            ///< the starts of all chains
  double chain_bytes = 0;  ///< of each chain at work: parameters, gradient, sampler state and its checkpoint
  double optimiser_bytes = 0;  ///< of each member in training: parameters, gradient, moments, best epoch
  double data_bytes = 0;
  double memory_bytes = 0;  ///< peak of all together

  // On disk.
  double draws_bytes = 0;
  double warmstart_bytes = 0;   ///< members
  double checkpoint_bytes = 0;  ///< while chains are under way
  double outputs_bytes = 0;     ///< of PredSaver
  double disk_bytes = 0;        ///< peak of all together

  double warmstart_seconds = 0;  ///< at most: max_epochs for every member; 0: not known
  double sampling_seconds = 0;   ///< 0: not known
};

/// Rough: time from the measured rate of gradients where there is one, else from the engine's arithmetic rate
/// on one core of a current x86 machine (50 GFLOP/s), and a memory rate of 8 GB/s, chains on `threads`
/// threads; within a factor of about three.
/// @param threads ≥ 1
RunEstimate estimate_run(const Config& config, const RunSize& size, int threads);
/// The same for the native network.
/// @param inputs  features of a row
RunEstimate estimate_run(const Config& config, std::size_t training_rows, std::size_t inputs, int threads);

/// A configuration made real as far as it goes without running.
struct CheckedRun {
  Config config;  ///< with what depends on the data filled in
  DatasetInfo data;
  RunEstimate estimate;
  std::vector<std::string> warnings;  ///< of the data
};
/// Reads the data, makes the network, and estimates. Writes nothing.
/// @param threads  0: one for each core that the process may use
/// @throws Error (usage) for everything that cannot work
CheckedRun check_run(const Config& config, int threads = 0);

/// What this process may still take.
struct AvailableResources {
  double memory_bytes = 0;  ///< the least of what the system, the control group and the process limit leave
  double disk_bytes = 0;    ///< free for this user where the run will be
};
/// @param path  need not be there: the nearest folder above it counts
AvailableResources available_resources(const std::filesystem::path& path);

/// Refuses a run that does not fit, naming its parts. Data already in memory do not count.
/// @param where  the run directory
/// @throws Error (run)
void refuse_what_does_not_fit(const RunEstimate& estimate, const AvailableResources& available,
                              const std::filesystem::path& where);

}  // namespace smile

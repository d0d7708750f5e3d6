/// The draws of a run in the formats of other programs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "smile/ensemble/progress.hpp"

namespace smile {

struct ExportOptions {
  /// "npz", "safetensors", "torch", "csv"; "netcdf" is export_inference_data() of smile/netcdf.
  std::string format;
  std::string out;          ///< file, or folder with per_draw; empty: RUN/draws.ENDING or RUN/draws-FORMAT
  bool per_draw = false;    ///< safetensors and torch: a file for each draw in a folder
  std::uint64_t every = 1;  ///< only every n-th draw of each chain
  bool incomplete = false;  ///< also the draws of a run that has not ended
  // netcdf
  bool predictive = true;       ///< groups predictions and predictions_constant_data, of the test rows
  bool log_likelihood = false;  ///< group predictions_log_density, of the same rows
  bool training_rows = false;   ///< groups posterior_predictive, observed_data and log_likelihood
  int threads = 0;              ///< for predictions; 0: one for each core the process may use
  /// Set from outside: ends with an Error of kind `run` after a few draws; no unfinished file is left
  /// behind. May be null.
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const Progress&)> on_progress;  ///< may be empty
};

struct ExportSummary {
  std::string path;
  std::size_t chains = 0, draws = 0;  ///< draws of each chain
  std::vector<std::string> remarks;   ///< one line each
};

/// Writes the draws with their names, the warm-up and `burn_in` left out; memory does not grow with them.
///   npz          one array [chain, draw, shape…] for each tensor of the network, by its name (numpy.load)
///   safetensors  the same in one file; or, with per_draw, a file with the network's tensors for each draw
///   torch        a file for torch.load: a dictionary of tensors [chain, draw, shape…], or with per_draw a
///                state dictionary for each draw. The names are those of a torch.nn.Sequential of linear
///                layers and activations ("0.weight", "0.bias", "2.weight", …), and log_sigma
///   csv          columns chain, draw, and one for each parameter ("layer0.weight[0,3]")
/// Chains that failed are left out; where chains have different numbers of draws (incomplete), all are cut to
/// the shortest.
/// @throws Error for what is no complete run, an unknown format, and where the file cannot be written
ExportSummary export_run(const std::string& directory, const ExportOptions& options);

}  // namespace smile

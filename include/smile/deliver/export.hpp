// SPDX-License-Identifier: Apache-2.0
/// The draws of a run in the formats of other programs.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "smile/ensemble/progress.hpp"

namespace smile {

namespace experiment {
class ExportDraws;
}

struct ExportOptions {
  std::string format;       ///< name of a row of export_formats()
  std::string out;          ///< file, or folder with per_draw; empty: RUN/draws.ENDING or RUN/draws-FORMAT
  bool per_draw = false;    ///< a file for each draw in a folder, where the format can
  std::uint64_t every = 1;  ///< only every n-th draw of each chain
  bool incomplete = false;  ///< also the draws of a run that has not ended
  // Formats with predictions:
  bool predictive = true;       ///< groups predictions and predictions_constant_data, of the test rows
  bool log_likelihood = false;  ///< group predictions_log_density, of the same rows
  bool training_rows = false;   ///< groups posterior_predictive, observed_data and log_likelihood
  std::string data;             ///< where the run's training data are by now, if they have moved
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

/// A format of exports.
struct ExportFormat {
  std::string name;           ///< "npz"
  std::string ending;         ///< of its files: "pt"
  std::string read_by;        ///< "numpy.load"
  std::string doc;            ///< what is in a file, one line
  bool per_draw = false;      ///< can also be a folder with a file for each draw, that draw's whole network
  bool predictive = false;    ///< has predictions and log-likelihoods to choose
  bool holds_frozen = false;  ///< keeps parameters that are the same in all draws of a chain
  std::string needs = {};     ///< the build option without which there is no writer
  /// Writes the file, and says what the user should know. Empty: not in this build.
  std::function<void(const experiment::ExportDraws& draws, const ExportOptions& options,
                     const std::filesystem::path& path, std::vector<std::string>& remarks)>
      write = {};
};
/// All formats. The names of tensors in torch files are those of a torch.nn.Sequential of linear layers and
/// activations ("0.weight", "0.bias", "2.weight", …), and log_sigma; elsewhere the network's.
const std::deque<ExportFormat>& export_formats();
/// Adds a format, or replaces that of the same name. To be called before threads start.
void add_export_format(ExportFormat format);

/// Writes the draws with their names, the warm-up and `burn_in` left out; memory does not grow with them.
/// Chains that failed are left out; where chains have different numbers of draws (incomplete), all are cut to
/// the shortest.
/// @throws Error for what is no complete run, a format that is unknown or not in this build, and where the
/// file cannot be written
ExportSummary export_run(const std::string& directory, const ExportOptions& options);

}  // namespace smile

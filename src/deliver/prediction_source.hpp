// SPDX-License-Identifier: Apache-2.0
/// Where `smile predict` takes its rows from: a table, or images.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "experiment/experiment.hpp"

namespace smile::experiment {

/// Some rows with the network over them.
struct PredictionBlock {
  std::size_t rows = 0;
  std::vector<std::size_t> records;        ///< among all rows, from 0
  std::vector<std::string> names;          ///< of images in files of their own; else empty
  std::vector<double> targets;             ///< scaled, or labels; NaN where unknown; empty: all are
  std::shared_ptr<const Network> network;  ///< the rows are its test part
};

class PredictionSource {
 public:
  virtual ~PredictionSource() = default;
  /// The next rows, at most `most` (none where all were left out); false at the end.
  virtual bool next(std::size_t most, PredictionBlock& block) = 0;
  /// All rows, 0 where that is not known beforehand.
  virtual std::size_t total() const { return 0; }
  /// The files that are read.
  virtual std::vector<std::filesystem::path> files() const = 0;
  /// Bytes of the longest name; 0 where rows have no names.
  virtual std::size_t longest_name() const { return 0; }
  /// After the last row: one line each.
  virtual std::vector<std::string> remarks() const = 0;
};

/// @param experiment  outlives the source
/// @throws Error for data that the network does not take
std::unique_ptr<PredictionSource> open_prediction_source(const Experiment& experiment,
                                                         const std::string& data);
/// Rows of a table in memory.
std::unique_ptr<PredictionSource> open_prediction_source(const Experiment& experiment,
                                                         std::shared_ptr<const Table> table);

}  // namespace smile::experiment

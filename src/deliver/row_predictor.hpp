// SPDX-License-Identifier: Apache-2.0
/// From rows to lines of predictions: the predictive mixture over all draws of a run.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "deliver/prediction_source.hpp"
#include "deliver/prediction_writer.hpp"
#include "experiment/stored_run.hpp"
#include "smile/deliver/predict.hpp"

namespace smile::experiment {

/// A block of rows goes in, lines of the result come out.
class RowPredictor {
 public:
  virtual ~RowPredictor() = default;
  virtual PredictionColumns columns() const = 0;
  virtual std::size_t block_rows() const = 0;
  virtual void predict(const PredictionBlock& rows, PredictionWriter& writer) = 0;
  /// Rows with a target so far.
  virtual std::size_t scored() const = 0;
  /// Of these rows.
  virtual std::vector<std::pair<std::string, double>> scores() const = 0;
};

/// @param run   outlives the predictor
/// @param stop  may be null
std::unique_ptr<RowPredictor> make_row_predictor(const StoredRun& run, std::size_t threads,
                                                 const std::atomic<bool>* stop,
                                                 std::vector<double> quantiles);

/// Refuses what no predictions by rows are made for, and a network that this build cannot compute.
void require_predictable(const StoredRun& run);

/// @param where  of the message
void check_quantiles(const std::vector<double>& quantiles, const std::string& where);

/// All rows of a source, block by block. The writer is not finished.
PredictSummary predict_all(PredictionSource& source, RowPredictor& predictor, PredictionWriter& writer,
                           const PredictOptions& options, const std::string& unit);

}  // namespace smile::experiment

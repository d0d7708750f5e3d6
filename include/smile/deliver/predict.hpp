// SPDX-License-Identifier: Apache-2.0
/// Predictions for new rows or images from the draws of a run: the predictive mixture over all draws (spec
/// 3).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smile/ensemble/progress.hpp"

namespace smile {

namespace experiment {
class PredictionWriter;
struct PredictionColumns;
}  // namespace experiment

/// A format of the file of predictions.
struct PredictionFormat {
  std::string_view name;  ///< also the ending of its files
  std::string_view doc;   ///< what is in the file, and what reads it; one line
  std::unique_ptr<experiment::PredictionWriter> (*make)(const std::filesystem::path& path,
                                                        experiment::PredictionColumns columns);
};
/// All of them; the first is that of files without an ending.
std::span<const PredictionFormat> prediction_formats();

struct PredictOptions {
  /// The columns of the training file, with or without the target, some or all of whose cells may be
  /// empty (.csv, .data, .npy); or images as
  /// PredictionImageReader reads them.
  std::string data;
  std::string out;  ///< empty: predictions.csv (or of another ending) in the run directory
  /// Name of a row of prediction_formats(); empty: by the ending of `out`.
  std::string format;
  /// Of the predictive distribution (regression), each in (0, 1).
  std::vector<double> quantiles{0.05, 0.5, 0.95};
  std::uint64_t every = 1;  ///< only every n-th draw of each chain
  int threads = 0;          ///< 0: one for each core the process may use
  bool incomplete = false;  ///< also from the draws of a run that has not ended
  /// Set from outside: ends with an Error of kind `run` after the draw under way; no file is left behind. May
  /// be null.
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const Progress&)> on_progress;  ///< once a block of rows; may be empty
};

struct PredictSummary {
  std::string file;        ///< that was written
  std::size_t rows = 0;    ///< predicted
  std::size_t scored = 0;  ///< of them, those with a target
  /// Over the rows with a target; empty where there is none: LPPD in standardised units as the evaluation
  /// gives it; RMSE in the target's own unit; coverage of the interval between the smallest and the largest
  /// quantile (where these are p and 1 − p); or accuracy.
  std::vector<std::pair<std::string, double>> scores;
  std::vector<std::string> remarks;  ///< one line each
};

/// Writes for every row
///   regression: row, mean, sd, aleatoric_sd, epistemic_sd, q0.05, … in the target's own unit, where
///     sd² = aleatoric² + epistemic², aleatoric² the mean of the draws' σ², epistemic² the variance of their
///     means, and q_p solves F(q) = p for the mixture's distribution function F;
///   classification: row, file (of images in files of their own), predicted, p_LABEL …, entropy,
///   mutual_information (nats).
/// `row` counts the rows of the file from 0, those left out included. Rows are read, predicted and written in
/// blocks: neither tables, nor photographs, nor the result need fit in memory (IDX and CIFAR files must). The
/// training normalisation and label map are applied.
/// @throws Error for what is no complete run, for missing columns (by name), unknown words or labels, an
/// unknown format or ending
PredictSummary predict_run(const std::string& directory, const PredictOptions& options);

}  // namespace smile

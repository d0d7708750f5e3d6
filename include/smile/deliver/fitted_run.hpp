// SPDX-License-Identifier: Apache-2.0
/// A stored run as something fitted that is asked in memory: for programs that embed the library, and for
/// Python. Tabular runs only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "smile/config/config.hpp"
#include "smile/data/dataset.hpp"
#include "smile/data/table.hpp"
#include "smile/ensemble/chain_files.hpp"
#include "smile/targets/parameters.hpp"

namespace smile {

/// The lines that predict_run() would write, as arrays.
struct RowPredictions {
  std::vector<std::string> columns;   ///< names of the numbers
  std::vector<double> numbers;        ///< @shape [rows, columns]
  std::vector<std::uint32_t> labels;  ///< @shape [rows], the class that is predicted; empty for regression
  std::size_t rows = 0;
  std::vector<std::pair<std::string, double>> scores;  ///< where the table has the target; see PredictSummary
};

/// Predictions draw by draw. Of a regression the network's mean and σ in the target's own unit, of a
/// classification the probabilities of the classes.
struct DrawPredictions {
  std::size_t rows = 0, draws = 0, width = 1;  ///< draws of all chains; classes
  std::vector<float> values;                   ///< @shape [draws, rows, width]: means, or probabilities
  std::vector<float> sds;                      ///< @shape [draws, rows]; empty for classification
};

/// Opened once, asked often. Not for several threads at once.
class FittedRun {
 public:
  /// @param incomplete  take the draws of a run that has not ended, as far as they came
  /// @throws Error as predict_run(); for what is no run on a table
  explicit FittedRun(const std::string& directory, bool incomplete = false);
  FittedRun(FittedRun&&) noexcept;
  ~FittedRun();

  const Config& config() const;
  const DatasetInfo& info() const;
  const ParameterLayout& layout() const;            ///< of a draw
  const std::vector<std::string>& remarks() const;  ///< chains left out, one line each

  std::size_t chains() const;                   ///< that have draws
  std::uint32_t number(std::size_t k) const;    ///< of the k-th of them
  std::size_t draws(std::size_t k) const;       ///< its draws after burn_in
  std::size_t first_draw(std::size_t k) const;  ///< how many stored ones come before them
  /// @param out @shape [d], overwritten
  void read(std::size_t k, std::size_t draw, std::span<float> out) const;
  /// What was noted of the draws of a chain; empty where the run has no such file.
  std::vector<DrawRow> statistics(std::size_t k) const;

  /// @param table      with the columns of the training data, with or without the target
  /// @param quantiles  of regression, each in (0, 1)
  /// @param threads    0: one a core
  /// @param stop       set from outside: ends with an Error of kind `run`; may be null
  RowPredictions predict(std::shared_ptr<const Table> table, const std::vector<double>& quantiles,
                         int threads, const std::atomic<bool>* stop = nullptr) const;
  DrawPredictions predict_draws(std::shared_ptr<const Table> table, int threads,
                                const std::atomic<bool>* stop = nullptr) const;
  /// The targets of such a table as they are predicted: in the target's own unit, or class numbers; empty
  /// where the table has none.
  std::vector<double> targets(std::shared_ptr<const Table> table) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace smile

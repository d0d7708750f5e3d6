// SPDX-License-Identifier: Apache-2.0
/// One accumulator of predictive metrics for every task.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "evaluation/row_predictive.hpp"
#include "smile/evaluation/classification.hpp"
#include "smile/evaluation/regression.hpp"

namespace smile::experiment {

class TaskAccumulator {
 public:
  /// @param outputs  of the network, a row   @param targets  normalised, or class numbers
  TaskAccumulator(Task task, std::size_t outputs, std::span<const double> targets,
                  std::vector<std::size_t> draws_per_chain, RegressionOptions regression,
                  ClassificationOptions classification = {})
      : reader_(task, outputs) {
    if (is_regression(task))
      regression_.emplace(targets, std::move(draws_per_chain), std::move(regression));
    else
      classification_.emplace(std::vector<std::uint32_t>(targets.begin(), targets.end()), outputs,
                              std::move(draws_per_chain), classification);
  }

  /// Draws of a chain in order.   @param outputs @shape [rows, outputs] of one draw, `position`
  void add(std::size_t chain, std::size_t draw, std::span<const float> position,
           std::span<const float> outputs) {
    if (classification_) return classification_->add(chain, draw, outputs);
    if (!reader_.has_own_sigma()) return regression_->add(chain, draw, outputs, double(position.back()));
    const std::size_t rows = outputs.size() / 2;
    mean_.resize(rows);
    log_sd_.resize(rows);
    for (std::size_t i = 0; i < rows; ++i) mean_[i] = outputs[2 * i], log_sd_[i] = outputs[2 * i + 1];
    regression_->add<float>(chain, draw, mean_, log_sd_);
  }

  RegressionAccumulator& regression() { return *regression_; }
  ClassificationAccumulator& classification() { return *classification_; }

  /// Calls `with` with the metrics of the task.
  template <class With>
  auto metrics(const With& with) const {
    return regression_ ? with(regression_->metrics()) : with(classification_->metrics());
  }
  std::vector<double> pointwise_lppd() const {
    return regression_ ? regression_->pointwise_lppd() : classification_->pointwise_lppd();
  }
  std::vector<double> sequential_lppd(std::span<const std::size_t> order) const {
    return regression_ ? regression_->sequential_lppd(order) : classification_->sequential_lppd(order);
  }

 private:
  RowPredictive reader_;
  std::optional<RegressionAccumulator> regression_;
  std::optional<ClassificationAccumulator> classification_;
  std::vector<float> mean_, log_sd_;
};

}  // namespace smile::experiment

// SPDX-License-Identifier: Apache-2.0
/// How a task reads the outputs of a network for one row: what a draw predicts of the row's target.
/// Evaluation, predictions, exports, the search for a step size and the state of a run read outputs through
/// it.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "evaluation/softmax.hpp"
#include "smile/targets/task_likelihood.hpp"

namespace smile {

class RowPredictive {
 public:
  /// @param outputs  of a row: 1 or 2 for regression, else the number of classes
  RowPredictive(Task task, std::size_t outputs) : task_(task), outputs_(outputs), probabilities_(outputs) {}

  bool has_own_sigma() const { return task_ == Task::regression; }

  /// A Normal, in normalised units.
  struct Normal {
    double mean = 0, log_sigma = 0;  ///< log_sigma as the network has it, not clipped
    double sigma() const { return clipped_sigma(log_sigma).sigma; }
  };
  /// @param outputs   @shape [rows, outputs] of one draw   @param position  the draw itself, for a global σ
  Normal normal(std::span<const float> outputs, std::size_t row, std::span<const float> position) const {
    if (has_own_sigma()) return {double(outputs[2 * row]), double(outputs[2 * row + 1])};
    return {double(outputs[row]), double(position.back())};
  }

  /// Probabilities of the classes, all NaN where a logit is NaN or +∞; valid until the next call.
  /// @shape [outputs]
  std::span<const double> probabilities(std::span<const float> outputs, std::size_t row) {
    softmax(outputs.subspan(row * outputs_, outputs_), std::span(probabilities_));
    return probabilities_;
  }

  /// log p(target | row, draw); for regression in normalised units.
  double log_density(std::span<const float> outputs, std::size_t row, std::span<const float> position,
                     double target) {
    if (is_regression(task_)) {
      const Normal n = normal(outputs, row, position);
      return normal_log_likelihood(target, n.mean, n.log_sigma).log_likelihood;
    }
    const auto logits = outputs.subspan(row * outputs_, outputs_);
    const SoftmaxRow result = softmax(logits, std::span(probabilities_));
    return double(logits[std::size_t(target)]) - double(logits[result.largest]) - result.log_normaliser;
  }

 private:
  Task task_;
  std::size_t outputs_;
  std::vector<double> probabilities_;
};

}  // namespace smile

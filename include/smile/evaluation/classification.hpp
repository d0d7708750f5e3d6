// SPDX-License-Identifier: Apache-2.0
/// Predictive metrics of classification, streaming over the draws of a fixed test set (spec 3.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "smile/evaluation/calibration.hpp"
#include "smile/evaluation/predictive.hpp"

namespace smile {

struct ClassificationOptions {
  /// Bins of ECE and reliability diagram.
  std::size_t bins = 15;
  /// As in RegressionOptions.
  std::size_t running_bytes = std::size_t{16} << 20;
};

/// All from the mean probabilities p̄ but the majority vote and what is named after it.
struct ClassificationMetrics {
  std::size_t points = 0;
  std::size_t classes = 0;
  std::vector<std::size_t> draws_per_chain;
  LppdMetrics lppd;
  double perplexity = 0;         ///< exp(NLL)
  double accuracy = 0;           ///< argmax of p̄, the smallest class among equals
  double majority_accuracy = 0;  ///< each sample votes for its argmax; ties to the smallest class
  double brier = 0;              ///< mean over points of Σ_c (p̄_c − 1[c=y])²
  double auroc = 0;              ///< binary (score p̄_1) for two classes, else macro one-vs-rest; may be NaN
  double aurc = 0;               ///< risk–coverage area
  double f1 = 0;                 ///< of class 1 for two classes, else macro over the classes in the labels
  Reliability reliability;       ///< confidence of the predicted class (Guo et al. 2017); holds the ECE
  Reliability true_class_reliability;  ///< the authors' variant: bins by the true class's probability, right
                                       ///< by majority vote
  std::vector<std::uint32_t> majority_vote;  ///< @shape [n]
  std::vector<double> entropy;               ///< @shape [n] of p̄, nats: total uncertainty
  std::vector<double>
      mutual_information;  ///< @shape [n] entropy of p̄ minus mean entropy: epistemic uncertainty
  double mean_entropy = 0;
  double mean_mutual_information = 0;
  /// First row with a logit that is NaN or +∞, or with no finite logit; the metrics it enters are then NaN.
  std::optional<PredictionPlace> nonfinite;
};

/// Takes the logits of one draw (or of a batch of its rows) at a time. Memory: O((K + C + grid) · n).
/// Not for use from several threads at once. For text, points are tokens and classes the vocabulary.
class ClassificationAccumulator {
 public:
  /// @param labels           @shape [n], each below `classes`
  /// @param draws_per_chain  S_k ≥ 1 of each chain
  /// @throws Error for no labels, fewer than two classes, a label out of range, no chains, a chain without
  /// draws
  ClassificationAccumulator(std::span<const std::uint32_t> labels, std::size_t classes,
                            std::vector<std::size_t> draws_per_chain, ClassificationOptions options = {});
  ~ClassificationAccumulator();
  ClassificationAccumulator(ClassificationAccumulator&&) noexcept;
  ClassificationAccumulator& operator=(ClassificationAccumulator&&) noexcept;

  /// Order of adding as in RegressionAccumulator::add. T is float or double; all sums double.
  /// @param logits @shape [rows, classes]
  /// @throws Error for a chain, draw or rows out of range or out of order
  template <class T>
  void add(std::size_t chain, std::size_t draw, std::span<const T> logits, std::size_t first_row = 0);

  /// @throws Error when draws or rows are missing
  ClassificationMetrics metrics() const;

  /// p̄   @shape [n, classes]
  std::vector<double> mean_probabilities() const;
  std::vector<double> pointwise_lppd() const;
  /// LPPD of the first k chains of `order`, k = 1 … order.size().   @throws Error for a chain out of range
  std::vector<double> sequential_lppd(std::span<const std::size_t> order) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Entropy (nats) and mutual information per point for rows without labels, e.g. an out-of-distribution set.
class UncertaintyAccumulator {
 public:
  UncertaintyAccumulator(std::size_t rows, std::size_t classes);
  /// @param logits @shape [rows, classes] of one sample
  template <class T>
  void add(std::span<const T> logits);
  /// p̄   @shape [rows, classes]
  std::vector<double> mean_probabilities() const;
  std::vector<double> entropy() const;
  std::vector<double> mutual_information() const;

 private:
  std::size_t rows_, classes_, samples_ = 0;
  std::vector<double> probability_sum_, entropy_sum_;
};

}  // namespace smile

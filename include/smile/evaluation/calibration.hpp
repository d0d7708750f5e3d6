// SPDX-License-Identifier: Apache-2.0
/// Calibration of predicted probabilities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace smile {

/// Reliability diagram over B equal bins (b/B, (b+1)/B], left-open and right-closed (0 falls into the first),
/// and the expected calibration error Σ_b count_b/n · |accuracy_b − confidence_b|.
struct Reliability {
  double ece = 0;
  std::vector<std::size_t> count;  ///< @shape [B]
  std::vector<double> accuracy;    ///< @shape [B] share of right predictions; NaN in an empty bin
  std::vector<double> confidence;  ///< @shape [B] mean of the binned probability; NaN in an empty bin
};

/// Bins points by their confidence max_c p_c; a prediction is right where argmax p (the smallest class among
/// equals) is the label.   @source Guo et al. 2017; spec 3.1
/// @param probabilities @shape [n, classes]   @param labels @shape [n]   @param bins ≥ 1
Reliability reliability(std::span<const double> probabilities, std::span<const std::uint32_t> labels,
                        std::size_t classes, std::size_t bins = 15);

/// The authors' variant, for parity only: bins by p_y, the probability of the true class, in place of the
/// confidence, and takes given predictions (theirs: the majority vote) for right or wrong. It is no measure
/// of calibration: p_y is not known to the forecaster.
/// @param predicted @shape [n]
Reliability true_class_reliability(std::span<const double> probabilities,
                                   std::span<const std::uint32_t> labels,
                                   std::span<const std::uint32_t> predicted, std::size_t classes,
                                   std::size_t bins = 15);

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// Metrics that depend on an order of the points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace smile {

/// Area under the ROC curve: the chance that a positive scores higher than a negative, ties counting ½.
/// NaN without positives or without negatives, or where a score is NaN.   @cost O(n log n)
/// @param positive  non-zero marks a positive
double auroc(std::span<const double> score, std::span<const std::uint8_t> positive);

/// Mean of the one-vs-rest AUROCs (score p_c) over the classes that have positives and negatives; NaN if none
/// has.
/// @param probabilities @shape [n, classes]
double macro_auroc(std::span<const double> probabilities, std::span<const std::uint32_t> labels,
                   std::size_t classes);

/// AUROC of a score that should be higher out of distribution (entropy, mutual information); spec 3.1.
double ood_auroc(std::span<const double> in_distribution, std::span<const double> out_of_distribution);

/// Area under the risk–coverage curve: points by falling confidence (equal ones keep their order), risk r_i
/// the error rate of the first i, trapezoids over coverage i/n from i = 1 to n; 0 for one point.
/// @source Geifman & El-Yaniv 2017; spec 3.1
/// @param correct  non-zero marks a right prediction
double aurc(std::span<const double> confidence, std::span<const std::uint8_t> correct);

/// F1 = 2TP/(2TP + FP + FN) of class 1 for two classes (0 where class 1 is in neither labels nor
/// predictions), else its mean over the classes present in the labels (0 where a class is never predicted).
double f1_score(std::span<const std::uint32_t> predicted, std::span<const std::uint32_t> labels,
                std::size_t classes);

}  // namespace smile

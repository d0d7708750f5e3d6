// SPDX-License-Identifier: Apache-2.0
/// Log-likelihood of one observation given a network's outputs, in double: the plain forms, which the engines
/// are tested against and which code off the hot path uses directly.
/// @source spec 2.1
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "smile/targets/likelihood.hpp"

namespace smile {

/// Whether targets are numbers with a Normal noise; else they are classes.
constexpr bool is_regression(Task task) {
  return task == Task::regression || task == Task::mean_regression;
}

/// σ = clip(e^r, kSigmaMin, kSigmaMax); where the clip is active the derivative with respect to r is 0.
inline constexpr double kSigmaMin = 1e-6;
inline constexpr double kSigmaMax = 1e6;

/// σ, its logarithm, and whether r = log σ still moves it. A NaN r gives a NaN σ.
struct ClippedSigma {
  double sigma = 1;
  double log_sigma = 0;
  bool active_clip = false;
};
ClippedSigma clipped_sigma(double log_sigma);

/// Value and derivatives of one Normal observation.
struct NormalScore {
  double log_likelihood = 0;
  double d_mean = 0;
  double d_log_sigma = 0;
};
/// log Normal(y; mean, clip(e^log_sigma)): tasks `regr` and `mean_regr`. Non-finite arguments give non-finite
/// results.
NormalScore normal_log_likelihood(double y, double mean, double log_sigma);

/// Log-softmax at `label`: task `class`.
/// @param logits      @shape [C]
/// @param derivative  @shape [C], overwritten with ∂/∂logits; or empty when it isn't wanted
/// @pre label < C
double categorical_log_likelihood(std::span<const double> logits, std::size_t label,
                                  std::span<double> derivative);

/// Sum over the positions of a window of the log-softmax at the position's label: task `class_multilabel`.
/// @param logits      @shape [positions, V] row-major, V = logits.size() / labels.size()
/// @param labels      @shape [positions], at least one
/// @param derivative  @shape [positions, V], overwritten; or empty
double multilabel_log_likelihood(std::span<const double> logits, std::span<const std::uint32_t> labels,
                                 std::span<double> derivative);

}  // namespace smile

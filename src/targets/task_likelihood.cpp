// SPDX-License-Identifier: Apache-2.0
#include "smile/targets/task_likelihood.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace smile {
namespace {
constexpr double kHalfLogTwoPi = 0.91893853320467274178;
}

ClippedSigma clipped_sigma(double log_sigma) {
  const double sigma = std::exp(log_sigma);
  // Written so that a NaN passes through: it is neither below nor above a bound.
  if (sigma < kSigmaMin) return {kSigmaMin, std::log(kSigmaMin), true};
  if (sigma > kSigmaMax) return {kSigmaMax, std::log(kSigmaMax), true};
  return {sigma, log_sigma, false};
}

NormalScore normal_log_likelihood(double y, double mean, double log_sigma) {
  const ClippedSigma s = clipped_sigma(log_sigma);
  const double z = (y - mean) / s.sigma;
  return {-0.5 * z * z - s.log_sigma - kHalfLogTwoPi, z / s.sigma, s.active_clip ? 0.0 : z * z - 1.0};
}

double categorical_log_likelihood(std::span<const double> logits, std::size_t label,
                                  std::span<double> derivative) {
  assert(label < logits.size() && (derivative.empty() || derivative.size() == logits.size()));
  const double largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (double logit : logits) sum += std::exp(logit - largest);
  for (std::size_t c = 0; c < derivative.size(); ++c)
    derivative[c] = (c == label ? 1.0 : 0.0) - std::exp(logits[c] - largest) / sum;
  return logits[label] - largest - std::log(sum);
}

double multilabel_log_likelihood(std::span<const double> logits, std::span<const std::uint32_t> labels,
                                 std::span<double> derivative) {
  const std::size_t vocabulary = logits.size() / labels.size();
  double total = 0;
  for (std::size_t position = 0; position < labels.size(); ++position) {
    const std::size_t first = position * vocabulary;
    total +=
        categorical_log_likelihood(logits.subspan(first, vocabulary), labels[position],
                                   derivative.empty() ? derivative : derivative.subspan(first, vocabulary));
  }
  return total;
}

}  // namespace smile

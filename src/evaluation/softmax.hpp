// SPDX-License-Identifier: Apache-2.0
/// Softmax of one row of logits, in double precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

namespace smile {

struct SoftmaxRow {
  std::size_t largest = 0;    ///< argmax, the smallest class among equals
  double log_normaliser = 0;  ///< log Σ exp(l_c − l_max)
  double entropy = 0;         ///< −Σ p log p, nats
  bool finite = true;  ///< false for a logit that is NaN or +∞, or when none is finite: all is then NaN
};

/// @param logits @shape [C]; −∞ is a class of probability 0
/// @param probabilities @shape [C], overwritten
template <class T>
SoftmaxRow softmax(std::span<const T> logits, std::span<double> probabilities) {
  SoftmaxRow row;
  bool finite = true;
  for (std::size_t c = 0; c < logits.size(); ++c) {
    if (logits[c] > logits[row.largest]) row.largest = c;
    finite = finite && logits[c] < std::numeric_limits<T>::infinity();  // false for NaN, too
  }
  const double top = static_cast<double>(logits[row.largest]);
  if (!finite || !std::isfinite(top)) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    std::fill(probabilities.begin(), probabilities.end(), nan);
    return {0, nan, nan, false};
  }
  double sum = 0;
  for (std::size_t c = 0; c < logits.size(); ++c) {
    probabilities[c] = std::exp(static_cast<double>(logits[c]) - top);
    sum += probabilities[c];
  }
  double weighted = 0;  // Σ e^s s over the shifted logits s; the limit at s = −∞ is 0
  for (std::size_t c = 0; c < logits.size(); ++c) {
    if (probabilities[c] > 0) weighted += probabilities[c] * (static_cast<double>(logits[c]) - top);
    probabilities[c] /= sum;
  }
  row.log_normaliser = std::log(sum);
  row.entropy = row.log_normaliser - weighted / sum;
  return row;
}

/// −Σ p log p, nats.
inline double entropy_of(std::span<const double> probabilities) {
  double sum = 0;
  for (double p : probabilities)
    if (p != 0) sum -= p * std::log(p);
  return sum;
}

}  // namespace smile

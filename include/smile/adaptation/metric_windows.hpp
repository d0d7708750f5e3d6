// SPDX-License-Identifier: Apache-2.0
/// The diagonal metric of the full-batch samplers with an acceptance test, from the draws of a warm-up.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "smile/adaptation/weighted_moments.hpp"
#include "smile/archive.hpp"

namespace smile {

/// Warm-up of W transitions: a first part in which the chain finds the typical set, then windows that double
/// in length, at the end of each of which the metric becomes the variance of its draws, then a last part for
/// the step size alone: 75, 25 + 50 + …, 50; of a short warm-up 15 %, 75 % in one window, and 10 %. Below 20
/// transitions there is no window.
///     variance_i = n/(n+5) · Var_i + 10⁻³ · 5/(n+5)
/// @source Stan Development Team, reference manual, "HMC algorithm parameters"; Carpenter et al. 2017
class MetricWindows {
 public:
  MetricWindows() = default;
  MetricWindows(std::size_t dimension, std::uint64_t warmup) : moments_(dimension) {
    constexpr std::uint64_t kFirst = 75, kLast = 50, kWindow = 25;
    if (warmup < 20) return;
    const bool fits = warmup >= kFirst + kLast + kWindow;
    first_ = fits ? kFirst : warmup * 15 / 100;
    last_ = warmup - (fits ? kLast : warmup / 10);
    window_ = fits ? kWindow : last_ - first_;
    begin_ = first_;
    end_ = closing(first_, window_);
  }

  /// The state after transition t = 1 … W. @return the variances where a window ends with it
  template <class Vector>
  std::optional<std::vector<double>> add(const Vector& position, std::uint64_t t) {
    if (t <= first_ || t > last_) return std::nullopt;
    moments_.add(position, 1);
    if (t != end_) return std::nullopt;
    const double n = double(t - begin_);
    std::vector<double> variance = moments_.variance();
    // Var with n − 1, shrunk towards a small number: a window is short.
    for (double& v : variance) v = n / (n + 5) * v * n / (n - 1) + 1e-3 * 5 / (n + 5);
    moments_ = WeightedMoments(variance.size());
    begin_ = end_;
    window_ *= 2;
    end_ = closing(end_, window_);
    return variance;
  }

  void serialise(Archive& archive) {
    moments_.serialise(archive);
    archive.value(begin_), archive.value(window_), archive.value(end_);
  }

 private:
  /// The last transition of the window that begins after `begin`: one that leaves no room for the next, which
  /// is twice as long, takes all that is left.
  std::uint64_t closing(std::uint64_t begin, std::uint64_t length) const {
    return begin + length + 2 * length > last_ ? last_ : begin + length;
  }

  WeightedMoments moments_;
  std::uint64_t first_ = 0, last_ = 0;              // transitions first_+1 … last_ are in windows
  std::uint64_t begin_ = 0, window_ = 0, end_ = 0;  // of the window at hand
};

}  // namespace smile

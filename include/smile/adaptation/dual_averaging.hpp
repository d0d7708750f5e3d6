// SPDX-License-Identifier: Apache-2.0
/// The step size at which proposals are accepted as often as wanted.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "smile/archive.hpp"

namespace smile {

/// With a(m) the acceptance statistic of transition m and H̄ the average of target − a:
///     H̄ ← (1 − 1/(m+t₀)) H̄ + (target − a)/(m+t₀)
///     ln ε = ln(10 ε₀) − H̄ √m/γ          used in the next transition
///     ln ε̄ ← m^−κ ln ε + (1 − m^−κ) ln ε̄   used when adaptation has ended
/// @source Nesterov 2009; Hoffman & Gelman 2014, section 3.2, with their γ = 0.05, t₀ = 10, κ = 0.75
class DualAveraging {
 public:
  DualAveraging() = default;
  /// @param target  acceptance wanted, in (0, 1)
  explicit DualAveraging(double target) : target_(target) {}

  /// Starts afresh at ε₀ > 0.
  void restart(double step_size) {
    shrinkage_point_ = std::log(10 * step_size);
    step_size_ = average_ = step_size;
    error_ = log_average_ = 0;
    count_ = 0;
  }
  /// @param acceptance  in [0, 1]; NaN counts as 0
  void observe(double acceptance) {
    constexpr double kGamma = 0.05, kT0 = 10, kKappa = 0.75;
    const double a = acceptance >= 0 ? std::min(acceptance, 1.0) : 0.0;
    const double m = double(++count_), weight = 1 / (m + kT0);
    error_ = (1 - weight) * error_ + weight * (target_ - a);
    const double log_step = shrinkage_point_ - error_ * std::sqrt(m) / kGamma;
    const double forgetting = std::pow(m, -kKappa);
    log_average_ = forgetting * log_step + (1 - forgetting) * log_average_;
    step_size_ = std::exp(log_step);
    average_ = std::exp(log_average_);
  }
  double step_size() const { return step_size_; }  ///< ε
  double average() const { return average_; }      ///< ε̄; ε₀ where nothing was observed

  void serialise(Archive& archive) {
    archive.value(shrinkage_point_), archive.value(step_size_), archive.value(average_);
    archive.value(error_), archive.value(log_average_), archive.value(count_);
  }

 private:
  double target_ = 0.8;
  double shrinkage_point_ = 0, step_size_ = 0, average_ = 0, error_ = 0, log_average_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace smile

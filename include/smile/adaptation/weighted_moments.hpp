// SPDX-License-Identifier: Apache-2.0
/// Weighted mean and variance of a moving vector, one draw at a time.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "smile/archive.hpp"

namespace smile {

/// mean = Σ w x / Σ w,  variance = Σ w (x − mean)² / Σ w, both per coordinate, without cancellation.
/// @source West 1979; spec 1.10, phase 2
class WeightedMoments {
 public:
  WeightedMoments() = default;
  explicit WeightedMoments(std::size_t dimension) : mean_(dimension), squares_(dimension) {}

  /// @param x @shape [d]   @param weight > 0
  template <class Vector>
  void add(const Vector& x, double weight) {
    weight_ += weight;
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      const double deviation = double(x[i]) - mean_[i];
      mean_[i] += deviation * weight / weight_;
      squares_[i] += weight * deviation * (double(x[i]) - mean_[i]);
    }
  }

  bool empty() const { return !(weight_ > 0); }
  const std::vector<double>& mean() const { return mean_; }
  /// NaN where nothing was added.
  std::vector<double> variance() const {
    std::vector<double> variance(squares_);
    for (double& v : variance) v /= weight_;
    return variance;
  }
  /// sqrt(Σ_j Var_j): the spread of the draws as a length.
  double spread() const {
    double sum = 0;
    for (double v : squares_) sum += v;
    return std::sqrt(sum / weight_);
  }

  void serialise(Archive& archive) {
    archive.value(weight_), archive.vector(mean_), archive.vector(squares_);
  }

 private:
  double weight_ = 0;
  std::vector<double> mean_, squares_;
};

}  // namespace smile

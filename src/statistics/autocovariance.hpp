// SPDX-License-Identifier: Apache-2.0
/// Autocovariances of a series by FFT.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace smile {

/// For series of one length n: keeps plan and buffers between calls.
/// @cost two real transforms of the padded length
class Autocovariance {
 public:
  explicit Autocovariance(std::size_t n);
  ~Autocovariance();

  /// out[t] += (1/n) Σ_i (x_i − x̄)(x_{i+t} − x̄) for t = 0 … n−1: the biased estimate, whose sum over lags is
  /// positive.   @param series @shape [n]   @param out @shape [n]
  /// @return x̄
  double add(std::span<const double> series, std::span<double> out);

 private:
  struct Transform;
  std::unique_ptr<Transform> transform_;
};

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// A Gaussian with independent coordinates, seen through gradient noise that is drawn anew each step.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "smile/kernels/host_vector.hpp"
#include "smile/random/stream.hpp"
#include "smile/targets/target.hpp"

namespace smile::test {

/// L_t(θ) = Σ_i −½ λ_i (θ_i − μ_i)² + ξ_t·θ,  ξ_t ~ N(0, σ² I), one draw a step (0 for σ = 0).
template <class T>
class GaussianTarget final : public Target<HostVector<T>> {
 public:
  GaussianTarget(std::vector<double> mean, std::vector<double> precision, double noise, std::uint64_t seed)
      : mean_(std::move(mean)),
        precision_(std::move(precision)),
        noise_(noise),
        seed_(seed),
        draw_(mean_.size()) {}

  std::size_t dimension() const override { return mean_.size(); }
  double log_density_and_gradient(const HostVector<T>& x, HostVector<T>& g, std::uint64_t step) override {
    if (noise_ > 0 && (!drawn_ || step != step_)) {
      fill_normals({seed_, 0, Purpose::gradient_noise}, step, draw_.span());
      step_ = step;
      drawn_ = true;
    }
    double value = 0;
    for (std::size_t i = 0; i < mean_.size(); ++i) {
      const double deviation = double(x[i]) - mean_[i], xi = noise_ * draw_[i];
      value += -0.5 * precision_[i] * deviation * deviation + xi * double(x[i]);
      g[i] = T(-precision_[i] * deviation + xi);
    }
    return value;
  }

 private:
  std::vector<double> mean_, precision_;
  double noise_;
  std::uint64_t seed_;
  HostVector<double> draw_;
  std::uint64_t step_ = 0;
  bool drawn_ = false;
};

}  // namespace smile::test

// SPDX-License-Identifier: Apache-2.0
/// The vector work of one preconditioned microcanonical step (spec 1.5, mclachlan) in its steady state: four
/// passes, without the gradient evaluations between them. Shared by the benchmarks of the passes.
#pragma once

#include <cmath>
#include <cstddef>
#include <random>

#include "smile/dynamics/momentum_update.hpp"
#include "smile/kernels/passes.hpp"

namespace smile::bench {

inline constexpr double kRelativeFloor = 0.03;
inline constexpr double kFirstFraction = 0.1931833275037836;

/// One chain between two steps: θ has made the first half of the step, u has made its first update.
struct PassState {
  HostVector<float> position, position_next, velocity, velocity_next, gradient, mean, variance;
  Scaling scaling;
  double step_size;
  MovingEstimate estimate{1e-6, Centre::mean, 1e-7};  // slow, so that a thousand repetitions change little

  /// s² over `decades` orders of magnitude, as after a warm-up.
  explicit PassState(std::size_t d, double decades = 6)
      : position(d),
        position_next(d),
        velocity(d),
        velocity_next(d),
        gradient(d),
        mean(d),
        variance(d),
        step_size(0.01 * double(d)) {
    std::mt19937_64 engine(d);
    const auto uniform = [&] { return double(engine() >> 11) * 0x1p-53; };
    for (std::size_t i = 0; i < d; ++i) {
      const double s = std::max(std::pow(10.0, decades * (uniform() - 0.5)), 4e-4);
      position[i] = float(uniform() - 0.5);
      velocity[i] = float((uniform() - 0.5) * std::sqrt(12 / double(d)));
      mean[i] = float(s * (uniform() - 0.5));
      gradient[i] = mean[i] + float(3 * s * (uniform() - 0.5));
      variance[i] = float(s * s);
    }
    kernels::unit_direction(velocity, velocity);
    scaling = kernels::normalise(variance, Normalisation::rms_floor, kRelativeFloor);
  }

  Metric<HostVector<float>> metric() const { return {&variance, scaling}; }

  static Kick kick_of(double norm2, double projection, double velocity_norm2, double d, double h) {
    const double n = std::sqrt(norm2);
    const auto update = momentum_update(n, projection / n, velocity_norm2, d, h);
    return {update.along_gradient / n, update.along_velocity};
  }

  /// The four passes; both gradients of the step are the one vector at hand.
  void step() {
    const double d = double(velocity.size());
    const MomentumSums middle = kernels::reduce(gradient, velocity, metric());
    const Kick kick = kick_of(middle.gradient_norm2, middle.projection, middle.velocity_norm2, d,
                              step_size * (1 - 2 * kFirstFraction));
    kernels::kick_drift(velocity, gradient, metric(), kick, position, position, step_size / 2);

    const double h = step_size * kFirstFraction;
    const ClosingSums sums = kernels::reduce_closing(gradient, velocity, &mean, metric(), estimate,
                                                     Normalisation::rms_floor, kRelativeFloor);
    const Kick closing = kick_of(sums.now.gradient_norm2, sums.now.projection, sums.now.velocity_norm2, d, h);
    const double projection = closing.gradient * sums.cross + closing.velocity * sums.next_projection;
    const Kick opening = kick_of(sums.next_norm2, projection, 1, d, h);
    kernels::close_and_open(velocity, velocity_next, gradient, &mean, &variance, scaling, sums.next, estimate,
                            closing, opening, position, position_next, step_size / 2);
    scaling = sums.next;
    velocity.swap(velocity_next);
    position.swap(position_next);
  }
};

}  // namespace smile::bench

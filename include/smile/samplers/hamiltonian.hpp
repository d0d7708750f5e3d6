// SPDX-License-Identifier: Apache-2.0
/// Hamiltonian dynamics with a diagonal metric, as hmc and nuts use them.
///     H(θ, p) = −L(θ) + ½ Σ p_i² v_i,   v the metric's inverse: the variances of the posterior, or 1
/// @source Neal 2011; Betancourt 2017
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "smile/samplers/adjusted.hpp"

namespace smile {

template <class Vector>
class HamiltonianSampler : public AdjustedSampler<Vector> {
  using Frame = AdjustedSampler<Vector>;
  using T = typename Vector::value_type;

 public:
  void serialise(Archive& archive) final {
    Frame::serialise(archive);
    archive.vector(variance_);
  }

 protected:
  HamiltonianSampler(const AdjustedOptions& options, const SamplingPlan& plan)
      : Frame(options, plan, plan.warmup_steps) {}

  /// θ with its gradient, and p.
  struct Point : Evaluated<Vector> {
    Vector momentum;
  };

  /// The state, with p ~ N(0, 1/v).
  Point depart(NormalSource<Vector>& normals, Purpose purpose, std::uint64_t number) const {
    Point z{this->state_, Vector(variance_.size())};
    normals.normals(z.momentum, purpose, number);
    for (std::size_t i = 0; i < variance_.size(); ++i)
      z.momentum[i] = T(double(z.momentum[i]) / std::sqrt(double(variance_[i])));
    return z;
  }

  /// H; +∞ where it is not finite, so that such a point has no weight.
  double energy(const Point& z) const {
    const double energy = 0.5 * product(z.momentum, z.momentum) - z.log_density;
    return std::isfinite(energy) ? energy : HUGE_VAL;
  }

  /// Σ v_i p_i r_i: whether a move with momentum p leads along r.
  double product(const Vector& momentum, const Vector& along) const {
    double sum = 0;
    for (std::size_t i = 0; i < variance_.size(); ++i)
      sum += double(variance_[i]) * double(momentum[i]) * double(along[i]);
    return sum;
  }

  /// Half an update of the momentum, one of the position, half of the momentum with the gradient there.
  /// @param step_size  ε; negative: backwards in time
  void leapfrog(Point& z, double step_size, Target<Vector>& target, std::uint64_t t) {
    kick(z, step_size / 2);
    for (std::size_t i = 0; i < variance_.size(); ++i)
      z.position[i] = T(double(z.position[i]) + step_size * double(variance_[i]) * double(z.momentum[i]));
    this->evaluate(target, z, t);
    kick(z, step_size / 2);
  }

  void allocate() final {
    Frame::allocate();
    variance_ = Vector(this->state_.position.size(), T{1});
  }

 private:
  static void kick(Point& z, double time) {
    for (std::size_t i = 0; i < z.momentum.size(); ++i)
      z.momentum[i] = T(double(z.momentum[i]) + time * double(z.gradient[i]));
  }
  double error_of_one_step(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t,
                           std::uint64_t number, double step_size) final {
    Point z = depart(normals, Purpose::direction, number);
    const double before = energy(z);
    leapfrog(z, step_size, target, t);
    return energy(z) - before;
  }
  void set_variance(const std::vector<double>& variance) final {
    for (std::size_t i = 0; i < variance.size(); ++i) variance_[i] = T(variance[i]);
  }

  Vector variance_;  // v
};

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// Metropolis-adjusted microcanonical sampling: `mams`.
/// @source Robnik, Cohn-Gordon, Seljak 2025, "Metropolis adjusted microcanonical Hamiltonian Monte Carlo"
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "smile/adaptation/decoherence_length.hpp"
#include "smile/dynamics/momentum_update.hpp"
#include "smile/kernels/passes.hpp"
#include "smile/samplers/adjusted.hpp"

namespace smile {

/// u uniform on the sphere; n isokinetic leapfrog steps B_{ε/2} A_ε B_{ε/2}; accepted with probability
/// min(1, exp(−ΔE)), ΔE = Σ ΔK − (L(θ') − L(θ)). n = ⌈h x⌉ with the t-th number h of the van der Corput
/// sequence and x such that its mean is the length of a trajectory over ε, so that no orbit closes by chance.
///
/// Warm-up: in its first four fifths the step size (acceptance 0.9) and the metric, with trajectories of
/// length √d; from the draws of the last fifth the length 0.3 · √d · mean_j(n/ESS_j).
template <class Vector>
class MamsSampler final : public AdjustedSampler<Vector> {
  using Frame = AdjustedSampler<Vector>;
  using typename Frame::Transition;
  using T = typename Vector::value_type;

 public:
  MamsSampler(const AdjustedOptions& options, const SamplingPlan& plan)
      : Frame(options, plan, plan.warmup_steps * 4 / 5) {}

  /// @throws Error where d < 2: the dynamics divide by d − 1
  void start(const Vector& position, Target<Vector>& target, NormalSource<Vector>& normals) override {
    if (position.size() < 2)
      throw Error("sampler", "the density has one parameter, and the dynamics divide by d − 1",
                  "use a model with at least two parameters, or hmc or nuts");
    Frame::start(position, target, normals);
  }

  std::vector<std::pair<std::string, double>> tuned() const override {
    auto all = Frame::tuned();
    all.emplace_back("trajectory_length", length_);
    return all;
  }

  void serialise(Archive& archive) override {
    Frame::serialise(archive);
    archive.vector(scale2_), archive.value(length_);
    draws_.serialise(archive);
  }

  /// ⌈h x⌉ of transition t, x ≥ 0 such that the mean over uniform h is `mean` ≥ 1 (less than that counts as
  /// 1).
  static std::uint64_t steps_of(std::uint64_t t, double mean) {
    double h = 0, digit = 0.5;
    for (std::uint64_t bits = t; bits != 0; bits >>= 1, digit /= 2) h += digit * double(bits & 1);
    if (!(mean > 1)) return 1;
    // For k < x ≤ k + 1 the mean of ⌈h x⌉ is (k + 1)(1 − k/(2x)).
    const double k = std::floor(2 * mean - 1);
    const double x = k * (k + 1) / (2 * (k + 1 - mean));
    return std::uint64_t(std::max(1.0, std::ceil(h * x)));
  }

 private:
  static constexpr double kMostSteps = 1024;  // on average, while the step size is still tiny

  void allocate() override {
    Frame::allocate();
    const std::size_t d = this->state_.position.size();
    scale2_ = Vector(d, T{1});
    velocity_ = Vector(d);
    length_ = std::sqrt(double(d));
    draws_ = AutocorrelationLength(d, this->plan_.warmup_steps - this->plan_.warmup_steps * 4 / 5);
  }
  Metric<Vector> metric() const { return {&scale2_, {}}; }

  void draw_velocity(NormalSource<Vector>& normals, Purpose purpose, std::uint64_t number) {
    Vector z(velocity_.size());
    normals.normals(z, purpose, number);
    kernels::unit_direction(velocity_, z);
  }

  /// B_h. @return ΔK; +∞ where the gradient is not finite
  double momentum_update(const Vector& gradient, double h) {
    const auto sums = kernels::reduce(gradient, velocity_, metric());
    const double n = std::sqrt(sums.gradient_norm2);
    if (!sums.finite || !std::isfinite(n)) return HUGE_VAL;
    if (!(n > 0)) return 0;
    const auto update = applied(
        smile::momentum_update(n, sums.projection / n, sums.velocity_norm2, double(velocity_.size()), h));
    kernels::kick(velocity_, gradient, metric(), {update.along_gradient / n, update.along_velocity});
    return update.kinetic_change;
  }

  /// n steps from z; inner half updates of the momentum with one gradient are one. @return ΔE, +∞ where the
  /// dynamics broke off
  double travel(Evaluated<Vector>& z, std::uint64_t n, double step_size, Target<Vector>& target,
                std::uint64_t t) {
    const double before = z.log_density;
    double energy = momentum_update(z.gradient, step_size / 2);
    for (std::uint64_t i = 1; i <= n && energy <= HUGE_VAL; ++i) {
      if (!kernels::drift(velocity_, metric(), z.position, z.position, step_size)) return HUGE_VAL;
      this->evaluate(target, z, t);
      if (!std::isfinite(z.log_density)) return HUGE_VAL;
      energy += momentum_update(z.gradient, i < n ? step_size : step_size / 2);
      if (!std::isfinite(energy)) return HUGE_VAL;
    }
    return energy - (z.log_density - before);
  }

  Transition transition(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t,
                        double step_size) override {
    draw_velocity(normals, Purpose::momentum, t);
    Evaluated<Vector> z = this->state_;
    Transition done;
    done.energy_change =
        travel(z, steps_of(t, std::min(length_ / step_size, kMostSteps)), step_size, target, t);
    done.diverged = done.energy_change > kDivergence;
    done.acceptance = std::min(1.0, std::exp(-done.energy_change));
    done.moved = normals.uniform(Purpose::transition, t) < done.acceptance;
    if (done.moved) this->state_ = std::move(z);
    return done;
  }

  double error_of_one_step(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t,
                           std::uint64_t number, double step_size) override {
    draw_velocity(normals, Purpose::direction, number);
    Evaluated<Vector> z = this->state_;
    return travel(z, 1, step_size, target, t);
  }

  void set_variance(const std::vector<double>& variance) override {
    for (std::size_t i = 0; i < variance.size(); ++i) scale2_[i] = T(1 / variance[i]);
  }

  void after_warmup_step(std::uint64_t t, std::uint64_t tuning) override {
    if (t <= tuning) return;
    draws_.add(this->state_.position, t - tuning - 1);
    if (t != this->plan_.warmup_steps) return;
    constexpr double kOfAutocorrelation = 0.3;
    const double length = draws_.value(length_, kOfAutocorrelation);
    if (length > 0) length_ = length;
    draws_.clear();
  }

  Vector scale2_;    // ŝ² = 1/variance
  Vector velocity_;  // does not outlive a transition
  double length_ = 0;
  AutocorrelationLength draws_;
};

extern template class MamsSampler<HostVector<float>>;
extern template class MamsSampler<HostVector<double>>;

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// Stochastic-gradient samplers with a momentum and scalar coefficients: sghmc and sgnht.
/// @source Chen, Fox & Guestrin 2014, eq. 15; Ding et al. 2014; spec 1.9
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "smile/samplers/gradient_step.hpp"

namespace smile {

/// What the step size of sghmc is.
enum class SghmcStep {
  rate,    ///< η of Chen et al.: v ← … + η g, θ ← θ + v
  length,  ///< ε of the scale-adapted form with s = 1: v ← … + ε g, θ ← θ + εv, so that η = ε²
};
template <>
struct Named<SghmcStep> {
  static constexpr Alternative<SghmcStep> all[] = {{SghmcStep::rate, "rate"}, {SghmcStep::length, "length"}};
};

struct SghmcOptions : GradientStepOptions {
  SghmcStep step = SghmcStep::rate;
  double friction = 0.05;          ///< α, in (0, 1]
  double noise_estimate = 0;       ///< β̂, in [0, α]
  double momentum_resampling = 0;  ///< probability in [0, 1] that a step begins with a new momentum
};

/// v ← (1−α) v + ε g + sqrt(2(α−β̂) ε T) n;  θ ← θ + v;  v₀ ~ N(0, εT I).
template <class Vector>
class SghmcSampler final : public GradientStepSampler<Vector> {
  using Frame = GradientStepSampler<Vector>;
  using Frame::gradient_, Frame::log_density_, Frame::normals_, Frame::position_, Frame::proposal_;
  using typename Frame::Moment;

 public:
  using typename Frame::Scalar;
  SghmcSampler(const SghmcOptions& options, const SamplingPlan& plan)
      : Frame(options, plan), options_(options) {}

  void start(const Vector& position, Target<Vector>&, NormalSource<Vector>& normals) override {
    this->place(position);
    momentum_ = next_momentum_ = Vector(position.size());
    draw_momentum(normals, 0, rate(this->moment(1)), Mask<Vector>{true});
  }

  const Vector& momentum() const { return momentum_; }
  void serialise(Archive& archive) override {
    archive.vector(position_), archive.vector(momentum_), archive.value(log_density_);
    if (!archive.reading()) return;
    this->allocate();
    next_momentum_ = Vector(position_.size());
  }

 private:
  /// η, which the formulas call ε.
  Scalar rate(const Moment& now) const {
    return options_.step == SghmcStep::length ? now.step_size * now.step_size : now.step_size;
  }

  /// A redrawn momentum stays redrawn even where the step is refused.
  void prepare(NormalSource<Vector>& normals, const Moment& now) override {
    if (!(options_.momentum_resampling > 0)) return;
    const Mask<Vector> redraw =
        normals.uniform(Purpose::momentum_coin, now.t) < Scalar(options_.momentum_resampling);
    if (any(redraw)) draw_momentum(normals, now.t, rate(now), redraw);
  }

  Mask<Vector> propose(const Moment& now) override {
    using std::sqrt;
    const Scalar step = rate(now);
    const Scalar noise =
        sqrt(2 * (options_.friction - options_.noise_estimate) * step * options_.temperature);
    next_momentum_ = momentum_;
    kernels::momentum_update(proposal_, next_momentum_, gradient_, normals_, Scalar(1 - options_.friction),
                             step, noise, Scalar(1));
    return Mask<Vector>{true};
  }

  void keep(const Mask<Vector>& accepted, const Moment&) override {
    kernels::take_where(momentum_, next_momentum_, accepted);
  }

  /// v ~ N(0, εT I), with the ε of the step at hand.
  void draw_momentum(NormalSource<Vector>& normals, std::uint64_t t, const Scalar& step,
                     const Mask<Vector>& chains) {
    using std::sqrt;
    normals.normals(next_momentum_, Purpose::momentum, t);
    // v = 0·v + 0·g + sqrt(εT)·z through the pass that exists; θ is not touched (e = 0).
    normals_ = next_momentum_;
    kernels::momentum_update(proposal_, next_momentum_, normals_, normals_, Scalar(0), Scalar(0),
                             sqrt(step * options_.temperature), Scalar(0));
    kernels::copy_where(momentum_, next_momentum_, chains);
  }

  SghmcOptions options_;
  Vector momentum_, next_momentum_;
};

struct SgnhtOptions : GradientStepOptions {
  double diffusion = 1;  ///< A > 0; ξ₀ = A
};

/// v ← v − εξv + εg + sqrt(2Aε) n;  θ ← θ + εv;  ξ ← ξ + ε(‖v‖²/d − T), in this order; ξ₀ = A, v₀ ~ N(0, T
/// I).
template <class Vector>
class SgnhtSampler final : public GradientStepSampler<Vector> {
  using Frame = GradientStepSampler<Vector>;
  using Frame::gradient_, Frame::log_density_, Frame::normals_, Frame::position_, Frame::proposal_;
  using typename Frame::Moment;

 public:
  using typename Frame::Scalar;
  SgnhtSampler(const SgnhtOptions& options, const SamplingPlan& plan)
      : Frame(options, plan), options_(options), thermostat_(options.diffusion) {}

  void start(const Vector& position, Target<Vector>&, NormalSource<Vector>& normals) override {
    this->place(position);
    momentum_ = next_momentum_ = Vector(position.size());
    thermostat_ = Scalar(options_.diffusion);
    normals.normals(normals_, Purpose::momentum, 0);
    kernels::momentum_update(proposal_, momentum_, normals_, normals_, Scalar(0), Scalar(0),
                             Scalar(std::sqrt(options_.temperature)), Scalar(0));
  }

  const Vector& momentum() const { return momentum_; }
  Scalar thermostat() const { return thermostat_; }
  void serialise(Archive& archive) override {
    archive.vector(position_), archive.vector(momentum_);
    archive.value(thermostat_), archive.value(log_density_);
    if (!archive.reading()) return;
    this->allocate();
    next_momentum_ = Vector(position_.size());
  }
  std::vector<std::pair<std::string, double>> tuned() const override {
    if constexpr (std::is_same_v<Scalar, double>) return {{"thermostat", thermostat_}};
    return {};
  }

 private:
  Mask<Vector> propose(const Moment& now) override {
    using std::isfinite, std::sqrt;
    const Scalar step = now.step_size;
    next_momentum_ = momentum_;
    const Scalar norm2 =
        kernels::momentum_update(proposal_, next_momentum_, gradient_, normals_, 1 - step * thermostat_, step,
                                 sqrt(2 * options_.diffusion * step), step);
    next_thermostat_ = thermostat_ + step * (norm2 / double(position_.size()) - options_.temperature);
    return isfinite(next_thermostat_);
  }

  void keep(const Mask<Vector>& accepted, const Moment&) override {
    kernels::take_where(momentum_, next_momentum_, accepted);
    thermostat_ = select(accepted, next_thermostat_, thermostat_);
  }

  SgnhtOptions options_;
  Vector momentum_, next_momentum_;
  Scalar thermostat_, next_thermostat_ = Scalar(0);
};

// Compiled once, in src/samplers/.
extern template class SghmcSampler<HostVector<float>>;
extern template class SghmcSampler<HostVector<double>>;
extern template class SgnhtSampler<HostVector<float>>;
extern template class SgnhtSampler<HostVector<double>>;

}  // namespace smile

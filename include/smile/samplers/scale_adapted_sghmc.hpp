// SPDX-License-Identifier: Apache-2.0
/// Scale-adapted stochastic-gradient HMC: adasghmc and rmsprop-sghmc.
/// @source Springenberg et al. 2016; spec 1.9
#pragma once

#include <algorithm>
#include <cmath>

#include "smile/samplers/gradient_step.hpp"

namespace smile {

struct ScaleAdaptedOptions : GradientStepOptions {
  double friction = 0.05;            ///< α = `mdecay`, in (0, 1]
  bool rmsprop = false;              ///< s² ← ρ s² + (1−ρ) g² instead of the adaptive averages
  double running_avg_factor = 0.99;  ///< ρ of rmsprop-sghmc, in [0, 1)
};

/// Warm-up, each step: the averages τ, ḡ, s² (all start at 1) take the gradient kept from the step before
/// (zero before the first); then, with the new gradient and fixed s during sampling,
///     v ← (1−α) v + ε g + n sqrt(max(2α s − (ε s)², 1e−7)),   θ ← θ + ε v / s,   v₀ = 0
template <class Vector>
class ScaleAdaptedSampler final : public GradientStepSampler<Vector> {
  using Frame = GradientStepSampler<Vector>;
  using Frame::gradient_, Frame::log_density_, Frame::normals_, Frame::position_, Frame::proposal_;
  using typename Frame::Moment;

 public:
  ScaleAdaptedSampler(const ScaleAdaptedOptions& options, const SamplingPlan& plan)
      : Frame(options, plan), options_(options) {}

  void start(const Vector& position, Target<Vector>&, NormalSource<Vector>&) override {
    this->place(position);
    momentum_ = kept_gradient_ = Vector(position.size());
    tau_ = mean_ = variance_ = Vector(position.size(), 1);
    allocate_scratch();
  }

  const Vector& momentum() const { return momentum_; }
  const Vector& variance() const { return variance_; }  ///< s²
  const Vector& tau() const { return tau_; }
  const Vector& mean() const { return mean_; }

  /// max s, to be compared with 2α/ε².
  double largest_scale() const { return std::sqrt(kernels::examine(variance_).largest); }
  /// 2α/ε² with the largest ε of the sampling phase: where max s reaches it, the injected noise is cut off
  /// and the balance of the dynamics is lost.
  double balance_bound() const {
    const Schedule& schedule = options_.sampling_schedule;
    const double step = schedule.kind == ScheduleKind::constant ? options_.step_size
                                                                : std::max(schedule.initial, schedule.target);
    return 2 * options_.friction / (step * step);
  }

  std::vector<std::string> findings() const override {
    if (largest_scale() < balance_bound()) return {};
    return {"the balance condition max s < 2·mdecay/step_size² is broken (max s = " +
            std::to_string(largest_scale()) + ", bound " + std::to_string(balance_bound()) +
            "): lower step_size or raise mdecay"};
  }
  std::vector<std::pair<std::string, double>> tuned() const override {
    return {{"largest_scale", largest_scale()}, {"balance_bound", balance_bound()}};
  }

  void serialise(Archive& archive) override {
    archive.vector(position_), archive.vector(momentum_), archive.vector(variance_),
        archive.vector(kept_gradient_);
    archive.vector(tau_), archive.vector(mean_);
    archive.value(log_density_);
    if (archive.reading()) allocate_scratch();
  }

 private:
  Mask<Vector> propose(const Moment& now) override {
    next_variance_ = variance_;
    if (now.in_warmup && options_.rmsprop) {
      kernels::adapt_rms(next_variance_, kept_gradient_, options_.running_avg_factor);
    } else if (now.in_warmup) {
      next_tau_ = tau_;
      next_mean_ = mean_;
      kernels::adapt_scale(next_tau_, next_mean_, next_variance_, kept_gradient_);
    }
    next_momentum_ = momentum_;
    kernels::scaled_momentum_update(proposal_, next_momentum_, next_variance_, gradient_, normals_,
                                    now.step_size, options_.friction);
    return true;
  }

  void keep(const Mask<Vector>& accepted, const Moment& now) override {
    kernels::take_where(momentum_, next_momentum_, accepted);
    kernels::take_where(variance_, next_variance_, accepted);
    kernels::take_where(kept_gradient_, gradient_, accepted);
    if (!now.in_warmup || options_.rmsprop) return;
    kernels::take_where(tau_, next_tau_, accepted);
    kernels::take_where(mean_, next_mean_, accepted);
  }

  void allocate_scratch() {
    this->allocate();
    next_momentum_ = next_variance_ = next_tau_ = next_mean_ = Vector(position_.size());
  }

  ScaleAdaptedOptions options_;
  Vector momentum_, variance_, tau_, mean_, kept_gradient_;
  Vector next_momentum_, next_variance_, next_tau_, next_mean_;
};

// Compiled once, in src/samplers/.
extern template class ScaleAdaptedSampler<HostVector<float>>;
extern template class ScaleAdaptedSampler<HostVector<double>>;

}  // namespace smile

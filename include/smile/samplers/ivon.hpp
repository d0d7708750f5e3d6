// SPDX-License-Identifier: Apache-2.0
/// IVON as a posterior approximation: the warm-up finds the Gaussian, the draws are independent draws of it.
/// @source Shen et al. 2024; spec 06, 6.9
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smile/dynamics/ivon.hpp"
#include "smile/samplers/gradient_guard.hpp"
#include "smile/samplers/gradient_step.hpp"
#include "smile/samplers/sampler.hpp"

namespace smile {

struct IvonSamplerOptions : GradientStepOptions {
  double beta1 = 0.9;           ///< β₁, in [0, 1)
  std::optional<double> beta2;  ///< β₂, in [0, 1); none: see ivon_beta2()
  double hessian_start = 1;     ///< h₀ > 0, of −log posterior / N
  /// Bound of an entry's (ḡ + δ m)/(h + δ), > 0: where the data say little, ḡ's noise over a small h + δ
  /// would carry m further than a prior of order 1 reaches.
  double clip_radius = 1;
  double observations = 1;  ///< N
  /// Of a Normal with mean 0 that the prior holds as a factor, ≥ 0; 0: none is known.
  double prior_precision = 0;
};

/// The authors have β₂ = 0.99999 for some 10⁵ updates, after which h still remembers a third of its start.
/// Here h is the posterior's variance, so that its start is to be forgotten: ten times the averaging time
/// fits into the warm-up, within [0.99, 0.99999].
inline double ivon_beta2(std::uint64_t warmup_steps) {
  return std::clamp(1 - 10.0 / double(std::max<std::uint64_t>(1, warmup_steps)), 0.99, 0.99999);
}

/// With λ = N and Nδ the prior's precision, the mean loss is −L(θ; 𝓑)/N without that part of the prior, whose
/// share of h is known and needs no estimate: the bound's optimum is the Gaussian with independent entries
/// that is nearest to the posterior in KL(q ‖ p). Unless a schedule is given, the learning rate rises over
/// the first tenth of the warm-up, as fast as h can follow the curvature (a step is stable while α h₀ times
/// the curvature is below h), and then falls along a half cosine to 0. After the warm-up each step is a draw
/// m + σ n.
template <class Vector>
class IvonSampler final : public Sampler<Vector> {
 public:
  using Scalar = typename Vector::Scalar;
  using T = typename Vector::value_type;

  IvonSampler(const IvonSamplerOptions& options, const SamplingPlan& plan)
      : options_(options), plan_(plan), scheduled_(options.warmup_schedule, {}, plan, options.step_size) {}

  void start(const Vector& position, Target<Vector>&, NormalSource<Vector>&) override {
    mean_ = position_ = position;
    ivon_ = Ivon<T>(ivon_options(), position.size());
    normals_ = gradient_ = draw_ = Vector(position.size());
  }

  StepReport step(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t) override {
    StepReport report;
    report.step_size = report.next_step_size = 0;
    normals.normals(normals_, Purpose::noise, t);
    if (t > plan_.warmup_steps) {
      ivon_.draw(mean_, normals_, draw_);
      const double value = target.log_density(draw_, t);
      if (require(report.refusal, std::isfinite(value), Refusal::log_density)) {
        position_.swap(draw_);
        log_density_ = value;
      }
      report.log_density = log_density_;
      return report;
    }
    report.step_size = rate(t);
    report.next_step_size = rate(t + 1);
    report.gradients = 1;
    ivon_.draw(mean_, normals_, draw_);
    const double value = target.log_density_and_gradient(draw_, gradient_, t);
    if (require(report.refusal, std::isfinite(value), Refusal::log_density) &&
        require(report.refusal, options_.guard.admit(gradient_), Refusal::gradient)) {
      report.gradient_norm = std::sqrt(kernels::norm2(gradient_));
      const double decay = ivon_options().weight_decay;
      for (std::size_t i = 0; i < gradient_.size(); ++i)
        gradient_[i] = T(-double(gradient_[i]) / options_.observations - decay * double(draw_[i]));
      ivon_.observe(gradient_, normals_);
      ivon_.update(mean_, report.step_size);
      position_ = mean_;
      log_density_ = value;
    }
    report.log_density = log_density_;
    return report;
  }

  const Vector& position() const override { return position_; }
  void move_to(const Vector&) override {}
  const Vector& mean() const { return mean_; }
  double sd(std::size_t i) const { return ivon_.sd(i); }
  std::uint64_t warmup_steps() const override { return plan_.warmup_steps; }
  std::uint64_t total_steps() const override { return plan_.warmup_steps + plan_.sampling_steps; }

  std::vector<std::pair<std::string, double>> tuned() const override {
    double sum = 0;
    for (std::size_t i = 0; i < mean_.size(); ++i) sum += std::log(ivon_.sd(i));
    return {{"typical_sd", std::exp(sum / double(mean_.size()))}};
  }

  void serialise(Archive& archive) override {
    archive.vector(mean_), archive.vector(position_), archive.value(log_density_);
    if (archive.reading()) {
      ivon_ = Ivon<T>(ivon_options(), mean_.size());
      normals_ = gradient_ = draw_ = Vector(mean_.size());
    }
    ivon_.serialise(archive);
  }

 private:
  double rate(std::uint64_t t) const {
    if (options_.warmup_schedule.kind != ScheduleKind::constant) return scheduled_.size(t).step_size;
    const double part = double(t) / double(plan_.warmup_steps);
    return options_.step_size * std::min(1.0, 10 * part) * 0.5 *
           (1 + std::cos(std::numbers::pi * std::min(1.0, part)));
  }
  IvonOptions ivon_options() const {
    IvonOptions ivon;
    ivon.beta1 = options_.beta1;
    ivon.beta2 = options_.beta2.value_or(ivon_beta2(plan_.warmup_steps));
    ivon.hessian_start = options_.hessian_start;
    ivon.effective_size = options_.observations;
    ivon.clip_radius = options_.clip_radius;
    ivon.weight_decay = options_.prior_precision / options_.observations;
    if (options_.prior_precision > 0) ivon.hessian_floor = 0;
    return ivon;
  }

  IvonSamplerOptions options_;
  SamplingPlan plan_;
  ScheduledStepSize<Scalar> scheduled_;
  Ivon<T> ivon_;
  Vector mean_, position_, draw_, gradient_, normals_;
  double log_density_ = StepReport::kNone;
};

extern template class IvonSampler<HostVector<float>>;
extern template class IvonSampler<HostVector<double>>;

}  // namespace smile

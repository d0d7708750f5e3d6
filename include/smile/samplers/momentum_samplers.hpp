/// Stochastic-gradient samplers with a momentum and scalar coefficients: sghmc and sgnht.
/// @source Chen, Fox & Guestrin 2014, eq. 15; Ding et al. 2014; spec 1.9
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "smile/kernels/host_vector.hpp"
#include "smile/samplers/langevin.hpp"

namespace smile {

struct SghmcOptions {
  GradientGuard guard;
  double step_size = 1e-3;  ///< ε > 0
  Schedule warmup_schedule, sampling_schedule;
  double friction = 0.05;          ///< α, in (0, 1]
  double noise_estimate = 0;       ///< β̂, in [0, α]
  double temperature = 1;          ///< T ≥ 0
  double momentum_resampling = 0;  ///< probability in [0, 1] that a step begins with a new momentum
};

/// v ← (1−α) v + ε g + sqrt(2(α−β̂) ε T) n;  θ ← θ + v;  v₀ ~ N(0, εT I).
template <class Vector>
class SghmcSampler final : public Sampler<Vector> {
 public:
  using Scalar = typename Vector::Scalar;
  SghmcSampler(const SghmcOptions& options, const SamplingPlan& plan)
      : options_(options), plan_(plan), step_size_(options.step_size) {}

  /// Step sizes of a bundle's chains.
  void fix(const Scalar& step_size) { step_size_ = step_size; }

  void start(const Vector& position, Target<Vector>&, NormalSource<Vector>& normals) override {
    position_ = position;
    proposal_ = gradient_ = normals_ = momentum_ = next_momentum_ = Vector(position.size());
    draw_momentum(normals, 0, Mask<Vector>{true});
  }

  StepReportOf<Scalar> step(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t) override {
    using std::isfinite, std::sqrt;
    StepReportOf<Scalar> report;
    const auto [step, exploring] =
        scheduled_step(options_.warmup_schedule, options_.sampling_schedule, plan_, step_size_, t);
    report.step_size = report.next_step_size = step;
    report.exploring = exploring;
    report.gradients = 1;
    // A redrawn momentum stays redrawn even where the step is refused.
    if (options_.momentum_resampling > 0) {
      const Mask<Vector> redraw =
          normals.uniform(Purpose::momentum_coin, t) < Scalar(options_.momentum_resampling);
      if (any(redraw)) draw_momentum(normals, t, redraw);
    }
    const Scalar value = target.log_density_and_gradient(position_, gradient_, t);
    if (usable(report, value, gradient_, options_.guard)) {
      report.gradient_norm = sqrt(kernels::norm2(gradient_));
      normals.normals(normals_, Purpose::noise, t);
      proposal_ = position_;
      next_momentum_ = momentum_;
      const Scalar noise =
          sqrt(2 * (options_.friction - options_.noise_estimate) * step * options_.temperature);
      kernels::momentum_update(proposal_, next_momentum_, gradient_, normals_, Scalar(1 - options_.friction),
                               step, noise, Scalar(1));
      require(report.refusal, kernels::all_finite(proposal_), Refusal::position);
    }
    const Mask<Vector> accepted = report.accepted();
    kernels::take_where(position_, proposal_, accepted);
    kernels::take_where(momentum_, next_momentum_, accepted);
    log_density_ = select(accepted, value, log_density_);
    report.log_density = log_density_;
    return report;
  }

  const Vector& position() const override { return position_; }
  const Vector& momentum() const { return momentum_; }
  std::uint64_t warmup_steps() const override { return plan_.warmup_steps; }
  std::uint64_t total_steps() const override { return plan_.warmup_steps + plan_.sampling_steps; }
  void serialise(Archive& archive) override {
    archive.vector(position_), archive.vector(momentum_), archive.value(log_density_);
    if (archive.reading()) proposal_ = gradient_ = normals_ = next_momentum_ = Vector(position_.size());
  }

 private:
  /// v ~ N(0, εT I), with the ε of the step at hand.
  void draw_momentum(NormalSource<Vector>& normals, std::uint64_t t, const Mask<Vector>& chains) {
    using std::sqrt;
    const Scalar step = scheduled_step(options_.warmup_schedule, options_.sampling_schedule, plan_,
                                       step_size_, t == 0 ? 1 : t)
                            .step_size;
    normals.normals(next_momentum_, Purpose::momentum, t);
    // v = 0·v + 0·g + sqrt(εT)·z through the pass that exists; θ is not touched (e = 0).
    normals_ = next_momentum_;
    kernels::momentum_update(proposal_, next_momentum_, normals_, normals_, Scalar(0), Scalar(0),
                             sqrt(step * options_.temperature), Scalar(0));
    kernels::copy_where(momentum_, next_momentum_, chains);
  }

  SghmcOptions options_;
  SamplingPlan plan_;
  Vector position_, proposal_, gradient_, normals_, momentum_, next_momentum_;
  Scalar step_size_;
  Scalar log_density_ = Scalar(StepReport::kNone);
};

struct SgnhtOptions {
  GradientGuard guard;
  double step_size = 1e-3;
  Schedule warmup_schedule, sampling_schedule;
  double diffusion = 1;    ///< A > 0; ξ₀ = A
  double temperature = 1;  ///< T > 0
};

/// v ← v − εξv + εg + sqrt(2Aε) n;  θ ← θ + εv;  ξ ← ξ + ε(‖v‖²/d − T), in this order; ξ₀ = A, v₀ ~ N(0, T
/// I).
template <class Vector>
class SgnhtSampler final : public Sampler<Vector> {
 public:
  using Scalar = typename Vector::Scalar;
  SgnhtSampler(const SgnhtOptions& options, const SamplingPlan& plan)
      : options_(options), plan_(plan), step_size_(options.step_size), thermostat_(options.diffusion) {}

  /// Step sizes of a bundle's chains.
  void fix(const Scalar& step_size) { step_size_ = step_size; }

  void start(const Vector& position, Target<Vector>&, NormalSource<Vector>& normals) override {
    position_ = position;
    proposal_ = gradient_ = normals_ = momentum_ = next_momentum_ = Vector(position.size());
    thermostat_ = Scalar(options_.diffusion);
    normals.normals(normals_, Purpose::momentum, 0);
    kernels::momentum_update(proposal_, momentum_, normals_, normals_, Scalar(0), Scalar(0),
                             Scalar(std::sqrt(options_.temperature)), Scalar(0));
  }

  StepReportOf<Scalar> step(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t) override {
    using std::isfinite, std::sqrt;
    StepReportOf<Scalar> report;
    const auto [step, exploring] =
        scheduled_step(options_.warmup_schedule, options_.sampling_schedule, plan_, step_size_, t);
    report.step_size = report.next_step_size = step;
    report.exploring = exploring;
    report.gradients = 1;
    Scalar next_thermostat = thermostat_;
    const Scalar value = target.log_density_and_gradient(position_, gradient_, t);
    if (usable(report, value, gradient_, options_.guard)) {
      report.gradient_norm = sqrt(kernels::norm2(gradient_));
      normals.normals(normals_, Purpose::noise, t);
      proposal_ = position_;
      next_momentum_ = momentum_;
      const Scalar norm2 =
          kernels::momentum_update(proposal_, next_momentum_, gradient_, normals_, 1 - step * thermostat_,
                                   step, sqrt(2 * options_.diffusion * step), step);
      next_thermostat += step * (norm2 / double(position_.size()) - options_.temperature);
      require(report.refusal, isfinite(next_thermostat) && kernels::all_finite(proposal_), Refusal::position);
    }
    const Mask<Vector> accepted = report.accepted();
    kernels::take_where(position_, proposal_, accepted);
    kernels::take_where(momentum_, next_momentum_, accepted);
    thermostat_ = select(accepted, next_thermostat, thermostat_);
    log_density_ = select(accepted, value, log_density_);
    report.log_density = log_density_;
    return report;
  }

  const Vector& position() const override { return position_; }
  const Vector& momentum() const { return momentum_; }
  Scalar thermostat() const { return thermostat_; }
  std::uint64_t warmup_steps() const override { return plan_.warmup_steps; }
  std::uint64_t total_steps() const override { return plan_.warmup_steps + plan_.sampling_steps; }
  void serialise(Archive& archive) override {
    archive.vector(position_), archive.vector(momentum_);
    archive.value(thermostat_), archive.value(log_density_);
    if (archive.reading()) proposal_ = gradient_ = normals_ = next_momentum_ = Vector(position_.size());
  }
  std::vector<std::pair<std::string, double>> tuned() const override {
    if constexpr (std::is_same_v<Scalar, double>) return {{"thermostat", thermostat_}};
    return {};
  }

 private:
  SgnhtOptions options_;
  SamplingPlan plan_;
  Vector position_, proposal_, gradient_, normals_, momentum_, next_momentum_;
  Scalar step_size_;
  Scalar thermostat_;
  Scalar log_density_ = Scalar(StepReport::kNone);
};

// Compiled once, in src/samplers/.
extern template class SghmcSampler<HostVector<float>>;
extern template class SghmcSampler<HostVector<double>>;
extern template class SgnhtSampler<HostVector<float>>;
extern template class SgnhtSampler<HostVector<double>>;

}  // namespace smile

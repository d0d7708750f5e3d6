/// Stochastic-gradient Langevin dynamics: sgld, csgld (the same with a cyclic schedule) and psgld.
/// @source Welling & Teh 2011; Zhang et al. 2020; Li et al. 2016; spec 1.9
#pragma once

#include <cmath>
#include <cstdint>

#include "smile/adaptation/schedule.hpp"
#include "smile/kernels/host_vector.hpp"
#include "smile/samplers/gradient_guard.hpp"
#include "smile/samplers/sampler.hpp"

namespace smile {

struct LangevinOptions {
  GradientGuard guard;
  double step_size = 1e-3;                      ///< ε > 0
  Schedule warmup_schedule, sampling_schedule;  ///< constant kinds take `step_size`
  double temperature = 1;                       ///< T ≥ 0
  bool explore_without_noise = false;           ///< csgld: no noise in the exploration part of a cycle
  bool preconditioned = false;                  ///< psgld
  double rms_decay = 0.99;                      ///< α of psgld, in [0, 1)
  double rms_lambda = 1e-5;                     ///< λ of psgld, > 0
  double observations = 1;                      ///< N: psgld's averages use g/N
};

template <class Scalar>
struct ScheduledStep {
  Scalar step_size;
  bool exploring;
};

/// Step size and exploration flag of step t (from 1) under two schedules.
template <class Scalar>
ScheduledStep<Scalar> scheduled_step(const Schedule& warmup, const Schedule& sampling,
                                     const SamplingPlan& plan, const Scalar& constant, std::uint64_t t) {
  const bool in_warmup = t <= plan.warmup_steps;
  const Schedule& schedule = in_warmup ? warmup : sampling;
  if (schedule.kind == ScheduleKind::constant) return {constant, false};
  const Schedule::Point point = in_warmup ? schedule.at(t - 1, plan.warmup_steps)
                                          : schedule.at(t - 1 - plan.warmup_steps, plan.sampling_steps);
  return {Scalar(point.step_size), point.exploring};
}

/// An evaluation that a step can go on with, for at least one chain: log-density and gradient finite.
template <class Vector>
bool usable(StepReportOf<typename Vector::Scalar>& report, const typename Vector::Scalar& value,
            Vector& gradient, const GradientGuard& guard) {
  using std::isfinite;
  return require(report.refusal, isfinite(value), Refusal::log_density) &&
         require(report.refusal, guard.admit(gradient), Refusal::gradient);
}

/// sgld:   θ ← θ + ε g + sqrt(2 ε T) n
/// psgld:  V ← α V + (1−α) ḡ², ḡ = g/N, V₀ = ḡ² of the first gradient;  G = 1/(λ + √V);
///         θ ← θ + ε G g + sqrt(2 ε T G) n
template <class Vector>
class LangevinSampler final : public Sampler<Vector> {
 public:
  using Scalar = typename Vector::Scalar;
  LangevinSampler(const LangevinOptions& options, const SamplingPlan& plan)
      : options_(options), plan_(plan), step_size_(options.step_size) {}

  /// Step sizes of a bundle's chains.
  void fix(const Scalar& step_size) { step_size_ = step_size; }

  void start(const Vector& position, Target<Vector>&, NormalSource<Vector>&) override {
    position_ = position;
    proposal_ = gradient_ = normals_ = Vector(position.size());
    if (options_.preconditioned) variance_ = next_variance_ = Vector(position.size());
  }

  StepReportOf<Scalar> step(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t) override {
    using std::sqrt;
    StepReportOf<Scalar> report;
    const auto [step, exploring] =
        scheduled_step(options_.warmup_schedule, options_.sampling_schedule, plan_, step_size_, t);
    report.step_size = report.next_step_size = step;
    report.exploring = exploring;
    report.gradients = 1;
    const Scalar value = target.log_density_and_gradient(position_, gradient_, t);
    const bool quiet = exploring && options_.explore_without_noise;
    if (usable(report, value, gradient_, options_.guard)) {
      report.gradient_norm = sqrt(kernels::norm2(gradient_));
      normals.normals(normals_, Purpose::noise, t);
      proposal_ = position_;
      if (options_.preconditioned) {
        next_variance_ = variance_;
        kernels::psgld_update(proposal_, next_variance_, gradient_, normals_,
                              {step, quiet ? 0 : options_.temperature, options_.rms_decay,
                               options_.rms_lambda, 1 / options_.observations, first_});
      } else {
        kernels::add_scaled(proposal_, gradient_, step, normals_,
                            quiet ? Scalar(0) : sqrt(2 * step * options_.temperature));
      }
      require(report.refusal, kernels::all_finite(proposal_), Refusal::position);
    }
    const Mask<Vector> accepted = report.accepted();
    kernels::take_where(position_, proposal_, accepted);
    if (options_.preconditioned) kernels::take_where(variance_, next_variance_, accepted);
    first_ = first_ && !any(accepted);
    log_density_ = select(accepted, value, log_density_);
    report.log_density = log_density_;
    return report;
  }

  const Vector& position() const override { return position_; }
  const Vector& variance() const { return variance_; }
  std::uint64_t warmup_steps() const override { return plan_.warmup_steps; }
  std::uint64_t total_steps() const override { return plan_.warmup_steps + plan_.sampling_steps; }
  void serialise(Archive& archive) override {
    archive.vector(position_);
    if (options_.preconditioned) archive.vector(variance_);
    archive.value(first_), archive.value(log_density_);
    if (archive.reading()) {
      proposal_ = gradient_ = normals_ = Vector(position_.size());
      next_variance_ = variance_;
    }
  }

 private:
  LangevinOptions options_;
  SamplingPlan plan_;
  Vector position_, proposal_, gradient_, normals_, variance_, next_variance_;
  bool first_ = true;
  Scalar step_size_;
  Scalar log_density_ = Scalar(StepReport::kNone);
};

// Compiled once, in src/samplers/.
extern template class LangevinSampler<HostVector<float>>;
extern template class LangevinSampler<HostVector<double>>;

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// The frame of a step with one gradient, which sgld, sghmc and their relatives share: the step size of the
/// schedule, one evaluation, a proposal, and its acceptance unless something is not finite (spec 1.9).
#pragma once

#include <cmath>
#include <cstdint>

#include "smile/adaptation/step_size.hpp"
#include "smile/kernels/host_vector.hpp"
#include "smile/samplers/gradient_guard.hpp"
#include "smile/samplers/sampler.hpp"

namespace smile {

struct GradientStepOptions {
  GradientGuard guard;
  double step_size = 1e-3;                      ///< ε > 0
  Schedule warmup_schedule, sampling_schedule;  ///< constant kinds take `step_size`
  double temperature = 1;                       ///< T ≥ 0 of the noise, where the dynamics have one
};

/// New gradients of steps 1 … n: one a step, in warm-up too.
constexpr std::uint64_t gradients_of(const GradientStepOptions&, std::uint64_t steps) {
  return steps;
}

/// A sampler states its dynamics in propose(), from θ and what it keeps beside θ; the frame decides whether
/// they happen. A refused step leaves everything as it was.
template <class Vector>
class GradientStepSampler : public Sampler<Vector> {
 public:
  using Scalar = typename Vector::Scalar;

  /// Step sizes of a bundle's chains.
  void fix(const Scalar& step_size) { step_size_.fix(step_size); }

  StepReportOf<Scalar> step(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t) final {
    using std::isfinite, std::sqrt;
    StepReportOf<Scalar> report;
    const Moment now = moment(t);
    report.step_size = report.next_step_size = now.step_size;
    report.exploring = now.exploring;
    report.gradients = 1;
    prepare(normals, now);
    const Scalar value = target.log_density_and_gradient(position_, gradient_, t);
    if (require(report.refusal, isfinite(value), Refusal::log_density) &&
        require(report.refusal, guard_.admit(gradient_), Refusal::gradient)) {
      report.gradient_norm = sqrt(kernels::norm2(gradient_));
      normals.normals(normals_, Purpose::noise, t);
      proposal_ = position_;
      const Mask<Vector> sound = propose(now);
      require(report.refusal, sound && kernels::all_finite(proposal_), Refusal::position);
    }
    const Mask<Vector> accepted = report.accepted();
    kernels::take_where(position_, proposal_, accepted);
    keep(accepted, now);
    log_density_ = select(accepted, value, log_density_);
    report.log_density = log_density_;
    return report;
  }

  const Vector& position() const override { return position_; }
  void move_to(const Vector& position) override { position_ = position; }
  std::uint64_t warmup_steps() const override { return plan_.warmup_steps; }
  std::uint64_t total_steps() const override { return plan_.warmup_steps + plan_.sampling_steps; }

 protected:
  struct Moment {
    std::uint64_t t;
    bool in_warmup, exploring;
    Scalar step_size;  ///< ε
  };

  GradientStepSampler(const GradientStepOptions& options, const SamplingPlan& plan)
      : plan_(plan),
        guard_(options.guard),
        step_size_(options.warmup_schedule, options.sampling_schedule, plan, Scalar(options.step_size)) {}

  /// What happens before the evaluation and stays even where the step is refused.
  virtual void prepare(NormalSource<Vector>&, const Moment&) {}
  /// Moves `proposal_`, which is θ, with `gradient_` and the standard normals `normals_`.
  /// @return which chains are sound beside their θ, whose finiteness the frame looks at
  virtual Mask<Vector> propose(const Moment& now) = 0;
  /// Keeps what propose() made beside θ, for the accepted chains.
  virtual void keep(const Mask<Vector>& accepted, const Moment& now) = 0;

  Moment moment(std::uint64_t t) const {
    const auto [step, exploring] = step_size_.size(t);
    return {t, t <= plan_.warmup_steps, exploring, step};
  }
  void place(const Vector& position) {
    position_ = position;
    allocate();
  }
  /// Room for what does not outlive a step.
  void allocate() { proposal_ = gradient_ = normals_ = Vector(position_.size()); }

  SamplingPlan plan_;
  Vector position_, proposal_, gradient_, normals_;
  Scalar log_density_ = Scalar(StepReport::kNone);

 private:
  GradientGuard guard_;
  ScheduledStepSize<Scalar> step_size_;
};

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// The paper's samplers: smile-naive, psmile-naive, smile, psmile; and psmile-auto, smile-auto (ours). One
/// algorithm: a splitting step of the isokinetic dynamics with mini-batch gradients (spec 1.5), with or
/// without the gradient-noise preconditioner (1.7), the guardrail and tuner of the energy error (1.8), or the
/// turning-angle rule for the step size (1.13).
/// @source Sommer, Diao, Robnik, Seljak, Rügamer 2026, Algorithm 1; spec 1.2–1.8, 1.13
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "smile/adaptation/preconditioner.hpp"
#include "smile/adaptation/step_size.hpp"
#include "smile/dynamics/splitting.hpp"
#include "smile/kernels/host_vector.hpp"
#include "smile/named.hpp"
#include "smile/samplers/guardrail.hpp"
#include "smile/samplers/isokinetic_step.hpp"
#include "smile/samplers/sampler.hpp"

namespace smile {

enum class EnergyMode {
  carried,  ///< L(θ_old) and the first gradient are those kept from the last step's batch (the paper's cost)
  fresh,    ///< both are evaluated anew with the step's batch: one gradient more, ΔE free of batch noise
  midpoint,  ///< position-verlet only: ΔE between the points of this step's and the last step's gradient,
             ///< whose values are known; no evaluation of its own
};
template <>
struct Named<EnergyMode> {
  static constexpr Alternative<EnergyMode> all[] = {
      {EnergyMode::carried, "carried"}, {EnergyMode::fresh, "fresh"}, {EnergyMode::midpoint, "midpoint"}};
};
enum class ResetVelocity { keep, gradient, random, authors };
template <>
struct Named<ResetVelocity> {
  static constexpr Alternative<ResetVelocity> all[] = {{ResetVelocity::keep, "keep"},
                                                       {ResetVelocity::gradient, "gradient"},
                                                       {ResetVelocity::random, "random"},
                                                       {ResetVelocity::authors, "authors"}};
};
enum class ResetGradient { restored, stale };
template <>
struct Named<ResetGradient> {
  static constexpr Alternative<ResetGradient> all[] = {{ResetGradient::restored, "restored"},
                                                       {ResetGradient::stale, "stale"}};
};
enum class StepSizeRule {
  fixed,   ///< constant, or a schedule
  energy,  ///< the paper's rule 3 (spec 1.8)
  turn,    ///< the turning-angle rule (spec 1.13)
};
template <>
struct Named<StepSizeRule> {
  static constexpr Alternative<StepSizeRule> all[] = {
      {StepSizeRule::fixed, "fixed"}, {StepSizeRule::energy, "energy"}, {StepSizeRule::turn, "turn"}};
};

struct MicrocanonicalOptions {
  Integrator integrator = Integrator::mclachlan;
  EnergyMode energy = EnergyMode::carried;
  std::optional<PreconditionerOptions> preconditioner;  ///< set: psmile; not set: smile
  /// ℓ > 0 of explicit noise, half of it before and half after a step (spec 1.6); ∞: none. Not set (`auto`):
  /// noise once a step, at its start, in proportion to `turn_angle` (spec 06, 6.3).
  std::optional<double> decoherence_length = std::numeric_limits<double>::infinity();
  double noise_share = 0;  ///< λ > 0 of that proportion; turning_noise_share() of the batches an epoch
  /// Share f in (0, 1] of a warm-up of W steps after which ŝ stays: that of the mean of s² over (⅔f W, f W].
  /// A step size that freezes is then averaged over the last two thirds of (f W, W]. Not set: ŝ moves on.
  std::optional<double> preconditioner_freeze = std::nullopt;
  GradientGuard guard;
  double step_size = 1e-3;  ///< ε > 0, or where adaptation starts
  StepSizeRule rule = StepSizeRule::energy;
  Schedule warmup_schedule, sampling_schedule;  ///< rule fixed; constant kinds take `step_size`
  bool guardrail = true;  ///< false for the naive samplers: only non-finite steps are refused
  EnergyTunerOptions tuner;
  bool adapt_in_sampling = true;  ///< rule energy: false freezes ε after warm-up (`adapt_during: warmup`)
  double turn_rate = 0.01;        ///< α of rule turn, in (0, 1]
  double turn_angle = 0.06;       ///< δ* of rule turn, and of noise in proportion to it
  ResetVelocity reset_velocity = ResetVelocity::keep;
  ResetGradient reset_gradient = ResetGradient::restored;
};

/// Steps between two that measure ΔE with one batch throughout, where anything does (rule turn; spec 1.13).
inline constexpr std::uint64_t kAuditInterval = 50;

/// Of the sampler with these options; 0: no step is such a one.
std::uint64_t audit_interval(const MicrocanonicalOptions& options);

/// New gradients of steps 1 … n, where none is refused. A step that asks for its own batch at its start
/// (energy fresh, and every audit) evaluates one more where the splitting opens with a momentum update.
std::uint64_t gradients_of(const MicrocanonicalOptions& options, std::uint64_t steps);

/// The step of the options.
IsokineticStepOptions isokinetic_step_of(const MicrocanonicalOptions& options);

/// Warm-up steps after + 1 … last over which s² is averaged before ŝ freezes at the end of step `last`; and
/// the step after which ε is averaged. Nothing where ŝ does not freeze.
struct FreezePlan {
  std::uint64_t after, last, step_size_after;
};
std::optional<FreezePlan> freeze_plan_of(const MicrocanonicalOptions& options, const SamplingPlan& plan);

/// The rule of the options for the step size: a schedule for bundles of chains, whatever the options name for
/// one chain. @throws Error for a bundle with a guardrail or another rule
template <class Scalar>
typename StepSizeOf<Scalar>::type step_size_of(const MicrocanonicalOptions& options,
                                               const SamplingPlan& plan) {
  if (options.guardrail || options.rule != StepSizeRule::fixed)
    throw Error("sampler", "the guardrail and the step-size rules follow one chain at a time",
                "use smile-naive or psmile-naive for bundles of chains");
  return {options.warmup_schedule, options.sampling_schedule, plan, Scalar(options.step_size)};
}
template <>
StepSize step_size_of<double>(const MicrocanonicalOptions& options, const SamplingPlan& plan);

template <class Vector>
class MicrocanonicalSampler final : public Sampler<Vector> {
 public:
  using Scalar = typename Vector::Scalar;
  using Report = StepReportOf<Scalar>;

  MicrocanonicalSampler(const MicrocanonicalOptions& options, const SamplingPlan& plan)
      : options_(options),
        plan_(plan),
        isokinetic_(isokinetic_step_of(options)),
        freeze_(freeze_plan_of(options, plan)),
        guardrail_(options.tuner, options.guardrail),
        step_size_(step_size_of<Scalar>(options, plan)),
        decoherence_length_(options.decoherence_length.value_or(std::numeric_limits<double>::infinity())) {}

  /// Step sizes of a bundle's chains, and decoherence lengths where explicit noise is on.
  void fix(const Scalar& step_size, const Scalar& decoherence_length) {
    step_size_.fix(step_size);
    decoherence_length_ = decoherence_length;
  }

  void start(const Vector& position, Target<Vector>& target, NormalSource<Vector>&) override {
    const bool carries_value = options_.energy == EnergyMode::carried;
    isokinetic_.place(position);
    if ((carries_value && isokinetic_.opens_with_momentum()) || options_.rule == StepSizeRule::turn)
      isokinetic_.evaluate_start(target);
    else if (carries_value && options_.guardrail)
      isokinetic_.evaluate_start_value(target);
    if (const auto norm = isokinetic_.start_gradient_norm())
      step_size_.start(*norm, isokinetic_.state().dimension());
  }

  /// A step of the paper's Algorithm 1.
  Report step(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t) override {
    Report report;
    const ScheduledStep<Scalar> now = step_size_.size(t);
    report.step_size = now.step_size;
    report.exploring = now.exploring;

    // The dynamics, with the batch of the step (1.5, 1.6, 1.7). An audit has the batch to itself throughout.
    const bool audit = audit_interval() > 0 && t % audit_interval() == 0;
    const typename IsokineticStep<Vector>::Request request{now.step_size, decoherence_length_, audit,
                                                           options_.guardrail || audit};
    isokinetic_.attempt(target, normals, t, request, report);

    // The guardrail (1.8, rules 1 and 4): thresholds from the fit before this step. The ΔE of an audit has no
    // batch noise in it: it is another quantity, and stays out of the fit.
    EnergyTuner::Verdict verdict;
    if (!(audit && all(is_finite_step(report.refusal)))) verdict = guardrail_.judge(report);

    // Accepted chains keep the step; the others go back (1.8, rule 2), a stale gradient staying where the
    // step was finite. The preconditioner learns from a refused step, too, if no evaluation was at fault
    // (1.7).
    const Mask<Vector> accepted = report.accepted(), finite = is_finite_step(report.refusal);
    isokinetic_.finish(normals, t, request, accepted, is_evaluated(report.refusal),
                       options_.reset_gradient == ResetGradient::stale ? finite : accepted);
    refusals_in_row_ = select(accepted, Scalar(0), refusals_in_row_ + 1);
    if (!all(accepted)) reset_velocity(normals, t, accepted, finite);
    if (freeze_ && t > freeze_->after && t <= freeze_->last) {
      isokinetic_.state().gather_scale();
      if (t == freeze_->last) isokinetic_.state().freeze_scale();
    }

    // The step size (1.8, rule 3; 1.13).
    step_size_.observe(t, {finite, report.gradient_norm, isokinetic_.state().dimension(), verdict});
    if (t == plan_.warmup_steps) step_size_.freeze();
    report.log_density = isokinetic_.log_density();
    report.next_step_size = step_size_.size(t + 1).step_size;
    return report;
  }

  const Vector& position() const override { return isokinetic_.state().position(); }
  void move_to(const Vector& position) override { isokinetic_.move_to(position); }
  bool velocity(Vector& out) const override {
    out = isokinetic_.state().velocity();
    return true;
  }
  std::uint64_t warmup_steps() const override { return plan_.warmup_steps; }
  std::uint64_t total_steps() const override { return plan_.warmup_steps + plan_.sampling_steps; }
  std::uint64_t audit_interval() const override { return smile::audit_interval(options_); }

  /// The state behind the position, for tests and logs.
  const IsokineticState<Vector>& state() const { return isokinetic_.state(); }
  IsokineticState<Vector>& state() { return isokinetic_.state(); }
  const EnergyTuner& tuner() const { return guardrail_.tuner(); }
  Scalar log_density() const { return isokinetic_.log_density(); }

  void serialise(Archive& archive) override {
    isokinetic_.serialise(archive);
    guardrail_.serialise(archive);
    step_size_.serialise(archive);
    archive.value(refusals_in_row_);
  }

  std::vector<std::pair<std::string, double>> tuned() const override {
    return step_size_.tuned(options_.step_size, total_steps());
  }

 private:
  /// The velocity of the chains that were refused, by `reset_velocity`.
  void reset_velocity(NormalSource<Vector>& normals, std::uint64_t t, const Mask<Vector>& accepted,
                      const Mask<Vector>& finite) {
    Mask<Vector> redraw = !accepted;
    switch (options_.reset_velocity) {
      case ResetVelocity::gradient:
      case ResetVelocity::authors:
        isokinetic_.state().set_velocity_zero(redraw);
        return;
      case ResetVelocity::keep:
        redraw = redraw && (!finite || refusals_in_row_ >= 10);
        break;
      case ResetVelocity::random:
        break;
    }
    if (any(redraw)) isokinetic_.redraw_velocity(normals, t, redraw);
  }

  MicrocanonicalOptions options_;
  SamplingPlan plan_;
  IsokineticStep<Vector> isokinetic_;
  std::optional<FreezePlan> freeze_;  // of ŝ
  typename GuardrailOf<Scalar>::type guardrail_;
  typename StepSizeOf<Scalar>::type step_size_;
  Scalar decoherence_length_;  // where the option is finite
  Scalar refusals_in_row_ = Scalar(0);
};

// Compiled once, in src/samplers/.
extern template class MicrocanonicalSampler<HostVector<float>>;
extern template class MicrocanonicalSampler<HostVector<double>>;

}  // namespace smile

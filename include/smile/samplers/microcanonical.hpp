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
#include <type_traits>
#include <vector>

#include "smile/adaptation/energy_tuner.hpp"
#include "smile/adaptation/preconditioner.hpp"
#include "smile/adaptation/schedule.hpp"
#include "smile/adaptation/turning_angle.hpp"
#include "smile/dynamics/refreshment.hpp"
#include "smile/dynamics/splitting.hpp"
#include "smile/kernels/host_vector.hpp"
#include "smile/named.hpp"
#include "smile/samplers/isokinetic_state.hpp"
#include "smile/samplers/sampler.hpp"

namespace smile {

enum class EnergyMode {
  carried,  ///< L(θ_old) and the first gradient are those kept from the last step's batch (the paper's cost)
  fresh,    ///< both are evaluated anew with the step's batch: one gradient more, ΔE free of batch noise
};
template <>
struct Named<EnergyMode> {
  static constexpr Alternative<EnergyMode> all[] = {{EnergyMode::carried, "carried"},
                                                    {EnergyMode::fresh, "fresh"}};
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
  std::optional<PreconditionerOptions> preconditioner;                  ///< set: psmile; not set: smile
  double decoherence_length = std::numeric_limits<double>::infinity();  ///< ℓ > 0; ∞: no explicit noise
  GradientGuard guard;
  double step_size = 1e-3;  ///< ε > 0, or where adaptation starts
  StepSizeRule rule = StepSizeRule::energy;
  Schedule warmup_schedule, sampling_schedule;  ///< rule fixed; constant kinds take `step_size`
  bool guardrail = true;  ///< false for the naive samplers: only non-finite steps are refused
  EnergyTunerOptions tuner;
  bool adapt_in_sampling = true;  ///< rule energy: false freezes ε after warm-up (`adapt_during: warmup`)
  double turn_rate = 0.01;        ///< α of rule turn, in (0, 1]
  double turn_angle = 0.06;       ///< δ*, rule turn
  ResetVelocity reset_velocity = ResetVelocity::keep;
  ResetGradient reset_gradient = ResetGradient::restored;
};

/// Steps between two that measure ΔE with one batch throughout, where anything does (rule turn; spec 1.13).
inline constexpr std::uint64_t kAuditInterval = 50;

/// Of the sampler with these options; 0: no step is such a one.
inline std::uint64_t audit_interval(const MicrocanonicalOptions& options) {
  return options.rule == StepSizeRule::turn ? kAuditInterval : 0;
}

/// New gradients of steps 1 … n, where none is refused. A step that asks for its own batch at its start
/// (energy fresh, and every audit) evaluates one more where the splitting opens with a momentum update.
inline std::uint64_t gradients_of(const MicrocanonicalOptions& options, std::uint64_t steps) {
  std::uint64_t anew = 0;
  if (options.energy == EnergyMode::fresh)
    anew = steps;
  else if (const std::uint64_t interval = audit_interval(options); interval > 0)
    anew = steps / interval;
  if (!opens_with_momentum(options.integrator)) anew = 0;
  return steps * std::uint64_t(gradients_per_step(options.integrator)) + anew;
}

template <class Vector>
class MicrocanonicalSampler final : public Sampler<Vector> {
 public:
  using Scalar = typename Vector::Scalar;
  /// What adapts a step size, or refuses a step by its energy error, follows one chain. Bundles of chains
  /// take fixed step sizes and the naive samplers (docs/decisions/0010-chains-in-lanes.md).
  static constexpr bool kOneChain = std::is_same_v<Scalar, double>;

  MicrocanonicalSampler(const MicrocanonicalOptions& options, const SamplingPlan& plan)
      : options_(options),
        plan_(plan),
        tuner_(options.tuner, options.step_size),
        turning_(options.turn_angle, options.turn_rate),
        step_size_(options.step_size),
        decoherence_length_(options.decoherence_length) {
    if (!kOneChain && (options.guardrail || options.rule != StepSizeRule::fixed))
      throw Error("sampler", "the guardrail and the step-size rules follow one chain at a time",
                  "use smile-naive or psmile-naive for bundles of chains");
    typename IsokineticState<Vector>::Options state;
    state.guard = options.guard;
    if (options.reset_velocity == ResetVelocity::authors) state.rest_energy = RestEnergy::authors;
    state.merge_steps = options.integrator != Integrator::position_verlet &&
                        options.energy == EnergyMode::carried && std::isinf(options.decoherence_length);
    state.preconditioner = options.preconditioner;
    state_ = IsokineticState<Vector>(state);
  }

  /// Step sizes of a bundle's chains, and decoherence lengths where explicit noise is on.
  void fix(const Scalar& step_size, const Scalar& decoherence_length) {
    step_size_ = step_size;
    decoherence_length_ = decoherence_length;
  }

  void start(const Vector& position, Target<Vector>& target, NormalSource<Vector>&) override {
    using std::isfinite;
    if (position.size() < 2)
      throw Error("sampler", "the density has one parameter, and the dynamics divide by d − 1",
                  "use a model with at least two parameters, or sgld or sghmc");
    state_.place(position);
    state_.begin_step();
    if (carries_gradient() || options_.rule == StepSizeRule::turn) {
      evaluate(target, 0);
      has_gradient_ = isfinite(value_) && options_.guard.admit(state_.carried_gradient());
    } else if (options_.energy == EnergyMode::carried && options_.guardrail) {
      // position-verlet: no gradient is carried over, only the value.
      value_ = target.log_density(state_.position(), 0);
    }
    log_density_ = value_;
    if constexpr (kOneChain) {
      if (options_.rule == StepSizeRule::turn && has_gradient_)
        turning_.follow(std::sqrt(kernels::norm2(state_.carried_gradient())), state_.dimension());
    }
    normals_ = Vector(position.size());
  }

  StepReportOf<Scalar> step(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t) override {
    StepReportOf<Scalar> report;
    report.step_size = step_size(t, report.exploring);
    if constexpr (kOneChain) average_.add(t, plan_.warmup_steps, report.step_size);
    const Attempt attempt = advance(target, normals, t, report);
    report.refusal = attempt.failure;
    report.energy_change = attempt.energy_change;
    report.kinetic_change = attempt.kinetic_change;
    report.gradient_norm = attempt.gradient_norm;
    report.turn_angle = report.step_size * attempt.gradient_norm / (state_.dimension() - 1);

    // Guardrail (1.8, rules 1 and 3): thresholds from the fit before this step.
    // The ΔE of an audit step has no batch noise in it: it is another quantity, and stays out of the fit.
    if constexpr (kOneChain) {
      if (options_.guardrail && !(is_audit(t) && is_finite_step(attempt.failure)))
        watch_energy(t, attempt, report);
    }
    end_step(normals, t, attempt, report);
    if constexpr (kOneChain) {
      follow_turning_angle(t, attempt);
      if (t == plan_.warmup_steps) freeze();
    }
    report.log_density = log_density_;
    bool unused = false;
    report.next_step_size = step_size(t + 1, unused);
    return report;
  }

  const Vector& position() const override { return state_.position(); }
  bool velocity(Vector& out) const override {
    out = state_.velocity();
    return true;
  }
  std::uint64_t warmup_steps() const override { return plan_.warmup_steps; }
  std::uint64_t total_steps() const override { return plan_.warmup_steps + plan_.sampling_steps; }
  std::uint64_t audit_interval() const override { return smile::audit_interval(options_); }

  /// The state behind the position, for tests and logs.
  const IsokineticState<Vector>& state() const { return state_; }
  IsokineticState<Vector>& state() { return state_; }
  const EnergyTuner& tuner() const { return tuner_; }
  Scalar log_density() const { return log_density_; }

  void serialise(Archive& archive) override {
    state_.serialise(archive);
    tuner_.serialise(archive);
    average_.serialise(archive);
    turning_.serialise(archive);
    archive.value(value_), archive.value(log_density_), archive.value(has_gradient_),
        archive.value(seen_gradient_);
    archive.value(refusals_in_row_), archive.value(nonfinite_in_row_), archive.value(frozen_);
    if (archive.reading()) normals_ = Vector(std::size_t(state_.dimension()));
  }

  std::vector<std::pair<std::string, double>> tuned() const override {
    if constexpr (kOneChain) {
      bool unused = false;
      return {{"step_size_start", options_.step_size},
              {"step_size_after_warmup", frozen_ > 0 ? frozen_ : step_size(plan_.warmup_steps + 1, unused)},
              {"step_size_end", step_size(total_steps(), unused)}};
    }
    return {};
  }

 private:
  struct Attempt {
    Attempt() = default;
    typename RefusalOf<Scalar>::type failure{};
    Scalar energy_change = Scalar(StepReport::kNone);
    Scalar kinetic_change = Scalar(StepReport::kNone);
    Scalar gradient_norm = Scalar(StepReport::kNone);
    Scalar value = Scalar(StepReport::kNone);  ///< L at the end of the step
  };

  void watch_energy(std::uint64_t t, const Attempt& attempt, StepReportOf<Scalar>& report) {
    const bool adapt =
        options_.rule == StepSizeRule::energy && (t <= plan_.warmup_steps || options_.adapt_in_sampling);
    const auto verdict =
        tuner_.observe(is_finite_step(attempt.failure) ? attempt.energy_change : StepReport::kNone, adapt);
    if (report.accepted() && verdict.diverged) report.refusal = Refusal::energy_error;
    if (verdict.compared) {
      report.probability = verdict.probability;
      report.gamma_shape = verdict.shape;
      report.gamma_scale = verdict.scale;
    }
  }

  bool is_audit(std::uint64_t t) const { return audit_interval() > 0 && t % audit_interval() == 0; }
  bool opens_with_momentum() const { return smile::opens_with_momentum(options_.integrator); }
  bool carries_gradient() const { return options_.energy == EnergyMode::carried && opens_with_momentum(); }
  /// Where the splitting ends with a position update, L at the end point costs an evaluation of its own, made
  /// only for those who look at ΔE.
  bool needs_energy(std::uint64_t t) const { return options_.guardrail || is_audit(t); }

  /// One splitting step (1.5), wrapped in partial refreshment where asked for (1.6). It ends early when no
  /// chain can go on.
  Attempt advance(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t,
                  StepReportOf<Scalar>& report) {
    using std::isfinite;
    Attempt attempt;
    auto& failure = attempt.failure;
    const Scalar step = report.step_size;
    state_.begin_step();
    Scalar before = log_density_;
    Scalar kinetic = Scalar(0);
    if (refreshes()) refresh(normals, Purpose::opening_refreshment, t, step / 2);
    const bool anew = options_.energy == EnergyMode::fresh || is_audit(t);
    if (opens_with_momentum() && (anew || !all(has_gradient_))) {
      if (!require(failure, evaluate(target, t, &report), Refusal::log_density)) return attempt;
      before = value_;
    } else if (!opens_with_momentum() && needs_energy(t) && (anew || !all(isfinite(before)))) {
      // The same for position-verlet, which has no use for the gradient. Without it a chain whose L(θ₀) was
      // not finite could never move.
      before = target.log_density(state_.current_position(), t);
      if (!require(failure, isfinite(before), Refusal::log_density)) return attempt;
    }
    const auto& substeps = splitting(options_.integrator);
    bool value_is_current = false;
    for (std::size_t i = 0; i < substeps.size(); ++i) {
      if (substeps[i].kind == Substep::momentum) {
        if (i > 0) {
          if (!require(failure, evaluate(target, t, &report), Refusal::log_density)) return attempt;
          attempt.value = value_;
          value_is_current = true;
        }
        const auto turn = state_.momentum_update(substeps[i].fraction * step, i + 1 == substeps.size());
        if (!require(failure, turn.finite, Refusal::gradient)) return attempt;
        if (!seen_gradient_) {
          state_.start_preconditioner();
          seen_gradient_ = true;
        }
        kinetic += turn.kinetic_change;
        attempt.gradient_norm = turn.gradient_norm;
      } else {
        if (!require(failure, state_.position_update(substeps[i].fraction * step), Refusal::position))
          return attempt;
        value_is_current = false;
      }
    }
    if (!value_is_current && needs_energy(t)) {
      attempt.value = target.log_density(state_.current_position(), t);
      if (!require(failure, isfinite(attempt.value), Refusal::log_density)) return attempt;
      value_is_current = true;
    }
    attempt.kinetic_change = kinetic;
    if (value_is_current) {
      attempt.energy_change = kinetic - (attempt.value - before);
      require(failure, isfinite(attempt.energy_change), Refusal::energy_not_finite);
    }
    return attempt;
  }

  Mask<Vector> evaluate(Target<Vector>& target, std::uint64_t t, StepReportOf<Scalar>* report = nullptr) {
    using std::isfinite;
    Vector& gradient = t == 0 ? state_.carried_gradient() : state_.gradient_to_evaluate();
    value_ = target.log_density_and_gradient(state_.current_position(), gradient, t);
    if (report) ++report->gradients;
    return isfinite(value_);
  }

  bool refreshes() const { return std::isfinite(options_.decoherence_length); }
  void refresh(NormalSource<Vector>& normals, Purpose purpose, std::uint64_t t, const Scalar& h) {
    normals.normals(normals_, purpose, t);
    state_.refresh(normals_, refreshment_strength(h, decoherence_length_, state_.dimension()));
  }

  /// Accepted chains keep the step; the others go back to the old state (rule 2 of 1.8), with the velocity by
  /// `reset_velocity`.
  void end_step(NormalSource<Vector>& normals, std::uint64_t t, const Attempt& attempt,
                const StepReportOf<Scalar>& report) {
    const Mask<Vector> accepted = report.accepted(), finite = is_finite_step(report.refusal);
    if (refreshes() && any(accepted)) refresh(normals, Purpose::closing_refreshment, t, report.step_size / 2);
    // Where the gradient is to be stale, a refused step that was finite leaves its own.
    const Mask<Vector> keeps = options_.reset_gradient == ResetGradient::stale ? finite : accepted;
    // The preconditioner learns from a refused step, too, if no evaluation was at fault (spec 1.7).
    state_.finish(accepted, is_evaluated(report.refusal), keeps);
    log_density_ = select(keeps, attempt.value, log_density_);
    has_gradient_ = has_gradient_ || accepted;
    refusals_in_row_ = select(accepted, Scalar(0), refusals_in_row_ + 1);
    if (all(accepted)) return;

    Mask<Vector> redraw = !accepted;
    switch (options_.reset_velocity) {
      case ResetVelocity::gradient:
      case ResetVelocity::authors:
        state_.set_velocity_zero(redraw);
        return;
      case ResetVelocity::keep:
        redraw = redraw && (!finite || refusals_in_row_ >= 10);
        break;
      case ResetVelocity::random:
        break;
    }
    if (!any(redraw)) return;
    normals.normals(normals_, Purpose::direction, t);
    state_.set_direction(normals_, redraw);
  }

  Scalar step_size(std::uint64_t t, bool& exploring) const {
    const bool warmup = t <= plan_.warmup_steps;
    switch (options_.rule) {
      case StepSizeRule::energy:
        return Scalar(frozen_ > 0 ? frozen_ : tuner_.step_size());
      case StepSizeRule::turn: {
        const double base =
            frozen_ > 0 ? frozen_ : (t == 1 || !turning_.ready() ? options_.step_size : turning_.step_size());
        return Scalar(std::ldexp(base, -int(std::min<std::uint64_t>(nonfinite_in_row_, 60))));
      }
      case StepSizeRule::fixed:
        break;
    }
    const Schedule& schedule = warmup ? options_.warmup_schedule : options_.sampling_schedule;
    const std::uint64_t n = warmup ? plan_.warmup_steps : plan_.sampling_steps;
    const std::uint64_t i = t - 1 - (warmup ? 0 : plan_.warmup_steps);
    if (schedule.kind == ScheduleKind::constant) return step_size_;
    const auto point = schedule.at(i, n);
    exploring = point.exploring;
    return Scalar(point.step_size);
  }

  void follow_turning_angle(std::uint64_t t, const Attempt& attempt) {
    if (options_.rule != StepSizeRule::turn) return;
    if (!is_finite_step(attempt.failure)) {
      ++nonfinite_in_row_;
      return;
    }
    nonfinite_in_row_ = 0;
    if (t <= plan_.warmup_steps) turning_.follow(attempt.gradient_norm, state_.dimension());
  }

  void freeze() {
    const bool freezes = options_.rule == StepSizeRule::turn ||
                         (options_.rule == StepSizeRule::energy && !options_.adapt_in_sampling);
    if (freezes && !average_.empty()) frozen_ = average_.value();
  }

  MicrocanonicalOptions options_;
  SamplingPlan plan_;
  IsokineticState<Vector> state_;
  EnergyTuner tuner_;
  StepSizeAverage average_;
  TurningAngleRule turning_;
  Vector normals_;
  Scalar step_size_;                                // of rule fixed
  Scalar decoherence_length_;                       // where the option is finite
  Scalar value_ = Scalar(StepReport::kNone);        // of the last evaluation
  Scalar log_density_ = Scalar(StepReport::kNone);  // carried: L of the accepted state
  Mask<Vector> has_gradient_{false};                // the carried gradient is usable
  bool seen_gradient_ = false;                      // a first gradient has been evaluated
  Scalar refusals_in_row_ = Scalar(0);
  std::uint64_t nonfinite_in_row_ = 0;
  double frozen_ = 0;  // ε of the sampling phase where it is frozen
};

// Compiled once, in src/samplers/.
extern template class MicrocanonicalSampler<HostVector<float>>;
extern template class MicrocanonicalSampler<HostVector<double>>;

}  // namespace smile

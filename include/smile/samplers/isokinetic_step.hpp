// SPDX-License-Identifier: Apache-2.0
/// One step of the isokinetic dynamics: a splitting of momentum and position updates with gradients of one
/// batch (spec 1.5), wrapped in partial refreshments of the velocity where there is explicit noise (1.6). The
/// microcanonical samplers and mclmc take it; what refuses a finite step, and what sizes it, is theirs.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "smile/dynamics/refreshment.hpp"
#include "smile/dynamics/splitting.hpp"
#include "smile/dynamics/turning_noise.hpp"
#include "smile/samplers/isokinetic_state.hpp"
#include "smile/samplers/sampler.hpp"

namespace smile {

struct IsokineticStepOptions {
  Integrator integrator = Integrator::mclachlan;
  GradientGuard guard;
  RestEnergy rest_energy = RestEnergy::along_gradient;
  /// Not set: ŝ = 1 until a fixed metric is set.
  std::optional<PreconditionerOptions> preconditioner = std::nullopt;
  bool own_batch = false;   ///< every step evaluates L(θ_old) and its first gradient with its own batch
  bool refreshes = false;   ///< O_{ε/2} · step · O_{ε/2}
  TurningNoise noise = {};  ///< or noise once a step, at its start
  bool freezes = false;     ///< the preconditioner will be frozen: its sweeps stay apart from the step's
  /// ΔE between the points of two gradients, one of this step and one of the last: A_½ B A_½ is B_½ A B_½
  /// seen half a step earlier, and the values come with the gradients.
  bool midpoint_energy = false;
};

/// Memory traffic of a step at its best (mclachlan, preconditioned, single precision, nothing carried out
/// singly), in bytes a parameter, the gradients themselves left out:
///     close and open   40   reads u, g, m, s², θ; writes u, u', m, s², θ'
///     reduce           12   reads g, u, s²
///     kick and drift   24   reads g, s², u, θ; writes u, θ
///     foresee          16   reads g, u, m, s²
///     together         92   (docs/decisions/0002-deferred-updates.md; measured by bench_passes)
/// Without preconditioner: 24 + 8 + 20 + 8 = 60. Explicit noise, `own_batch`, the
/// reference scale `half`, freezing of the preconditioner, and position-verlet carry the last momentum update
/// and the preconditioner out by themselves; a refused step adds copies. The default sampler
/// (position-verlet, noise, reference `half`):
///     stir              8   reads u; writes u'
///     drift            16   reads u', s², θ; writes θ'
///     reduce           12   reads g, u', s²
///     kick and drift   24   reads g, s², u', θ'; writes u', θ'
///     together         60 while it samples with ŝ frozen; in warm-up also
///     absorb           20   reads g, m, s²; writes m, s²
///     normalise         8   reads s² twice
///     together         88
template <class Vector>
class IsokineticStep {
 public:
  using Scalar = typename Vector::Scalar;
  using Report = StepReportOf<Scalar>;

  /// What one step is to be.
  struct Request {
    Scalar step_size;           ///< ε
    Scalar decoherence_length;  ///< ℓ, where there is explicit noise
    bool own_batch = false;     ///< as the option, for this step
    bool energy = true;  ///< ΔE is looked at: where the splitting ends with a position update, L at the end
                         ///< point costs an evaluation of its own
  };

  explicit IsokineticStep(const IsokineticStepOptions& options) : options_(options) {
    typename IsokineticState<Vector>::Options state;
    state.guard = options.guard;
    state.rest_energy = options.rest_energy;
    state.merge_steps = opens_with_momentum() && !options.own_batch && !options.refreshes &&
                        !options.noise.on() && !options.freezes && foreseeable(options.preconditioner);
    state.halves = options.midpoint_energy;
    state.preconditioner = options.preconditioner;
    state_ = IsokineticState<Vector>(state);
  }

  /// At θ, at rest, nothing evaluated. @throws Error where d < 2: the dynamics divide by d − 1
  void place(const Vector& position) {
    if (position.size() < 2)
      throw Error("sampler", "the density has one parameter, and the dynamics divide by d − 1",
                  "use a model with at least two parameters, or sgld or sghmc");
    state_.place(position);
    state_.begin_step();
    log_density_ = midpoint_.value = Scalar(StepReport::kNone);
    has_gradient_ = Mask<Vector>{false};
    seen_gradient_ = false;
  }
  /// L(θ₀) and the gradient that the first step carries, with batch 0.
  void evaluate_start(Target<Vector>& target) {
    using std::isfinite;
    log_density_ = target.log_density_and_gradient(state_.position(), state_.carried_gradient(), 0);
    has_gradient_ = isfinite(log_density_) && options_.guard.admit(state_.carried_gradient());
  }
  /// L(θ₀) alone, for splittings that carry no gradient.
  void evaluate_start_value(Target<Vector>& target) {
    log_density_ = target.log_density(state_.position(), 0);
  }
  /// Between steps: θ becomes `position`, and nothing is known of L there.
  void move_to(const Vector& position) {
    state_.move_to(position);
    log_density_ = midpoint_.value = Scalar(StepReport::kNone);
    has_gradient_ = Mask<Vector>{false};
  }
  /// ‖g(θ₀)‖ where evaluate_start() found a usable gradient, else nothing.
  std::optional<Scalar> start_gradient_norm() const {
    using std::sqrt;
    if (!all(has_gradient_)) return std::nullopt;
    return sqrt(kernels::norm2(state_.carried_gradient()));
  }

  /// From the accepted state through the splitting; it ends early when no chain can go on. `report` takes
  /// what is known then: refusal, changes of energy, norm of the last gradient, turning angle, gradients.
  void attempt(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t, const Request& request,
               Report& report) {
    move(target, normals, t, request, report);
    report.turn_angle = request.step_size * report.gradient_norm / (state_.dimension() - 1);
  }

  /// The chains in `accepted` keep the step, its value and its gradient, and the others go back to the state
  /// before. The preconditioner learns from the last gradient of chains in `learning`; chains in `keeping`
  /// carry value and gradient of the attempt on even where it was refused (accepted ones always).
  void finish(NormalSource<Vector>& normals, std::uint64_t t, const Request& request,
              const Mask<Vector>& accepted, const Mask<Vector>& learning, const Mask<Vector>& keeping) {
    if (options_.refreshes && any(accepted)) refresh(normals, Purpose::closing_refreshment, t, request);
    state_.finish(accepted, learning, keeping);
    log_density_ = select(keeping, value_, log_density_);
    midpoint_.value = select(keeping, passed_.value, midpoint_.value);
    midpoint_.kinetic = select(keeping, passed_.kinetic, midpoint_.kinetic);
    has_gradient_ = has_gradient_ || accepted;
  }

  /// u = z/‖z‖ for some chains, between steps.
  void redraw_velocity(NormalSource<Vector>& normals, std::uint64_t t,
                       const Mask<Vector>& chains = Mask<Vector>{true}) {
    store_normals(normals, Purpose::direction, t);
    state_.set_direction(normals_, chains);
  }

  /// Carried: L of the accepted state.
  const Scalar& log_density() const { return log_density_; }
  const IsokineticState<Vector>& state() const { return state_; }
  IsokineticState<Vector>& state() { return state_; }
  bool opens_with_momentum() const { return smile::opens_with_momentum(options_.integrator); }

  void serialise(Archive& archive) {
    state_.serialise(archive);
    archive.value(log_density_), archive.value(has_gradient_), archive.value(seen_gradient_);
    archive.value(midpoint_.value), archive.value(midpoint_.kinetic);
  }

 private:
  /// Whether the closing sweep of a step can tell the ŝ of the next.
  static bool foreseeable(const std::optional<PreconditionerOptions>& options) {
    return !options || options->normalisation != Normalisation::half_reference;
  }

  void move(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t, const Request& request,
            Report& report) {
    using std::isfinite;
    state_.begin_step();
    passed_ = midpoint_;
    Scalar before = log_density_, kinetic = Scalar(0);
    const bool anew = options_.own_batch || request.own_batch;
    const bool between_midpoints = options_.midpoint_energy && !anew;
    const bool at_ends = request.energy && !between_midpoints;
    if (options_.refreshes || options_.noise.on()) {
      using std::min;
      const Scalar strength =
          options_.refreshes
              ? refreshment_strength(request.step_size / 2, request.decoherence_length, state_.dimension())
              : Scalar(options_.noise.strength(state_.dimension()));
      // Far above 1 the result is z/‖z‖ whatever ν, and squares must not leave single precision.
      const Scalar nu = min(strength, Scalar(1e15));
      state_.open_refreshed([&](const Vector& u, Vector& out) {
        if (const auto norm2 = normals.stir(u, out, nu, Purpose::opening_refreshment, t)) return *norm2;
        store_normals(normals, Purpose::opening_refreshment, t);
        out = u;
        kernels::add_scaled(out, normals_, nu, normals_, Scalar(0));
        return kernels::norm2(out);
      });
    }
    if (opens_with_momentum() && (anew || !all(has_gradient_))) {
      if (!evaluate(target, t, report)) return;
      before = value_;
    } else if (!opens_with_momentum() && at_ends && (anew || !all(isfinite(before)))) {
      // The same for position-verlet, which has no use for the gradient. Without it a chain whose L(θ₀) was
      // not finite could never move.
      before = target.log_density(state_.current_position(), t);
      if (!require(report.refusal, isfinite(before), Refusal::log_density)) return;
    }
    const auto& substeps = splitting(options_.integrator);
    for (std::size_t i = 0; i < substeps.size(); ++i) {
      const Scalar length = substeps[i].fraction * request.step_size;
      if (substeps[i].kind == Substep::position) {
        if (!require(report.refusal, state_.position_update(length), Refusal::position)) return;
        continue;
      }
      if (i > 0 && !evaluate(target, t, report)) return;
      const auto turn = state_.momentum_update(length, i + 1 == substeps.size());
      if (!require(report.refusal, turn.finite, Refusal::gradient)) return;
      if (!seen_gradient_) state_.start_preconditioner();
      seen_gradient_ = true;
      kinetic += turn.kinetic_change;
      report.gradient_norm = turn.gradient_norm;
      if (between_midpoints)
        report.energy_change = midpoint_.kinetic + turn.first_half - (value_ - midpoint_.value);
      if (options_.midpoint_energy) passed_ = {value_, turn.kinetic_change - turn.first_half};
    }
    report.kinetic_change = kinetic;
    if (between_midpoints) {
      require(report.refusal, isfinite(report.energy_change) || !isfinite(midpoint_.value),
              Refusal::energy_not_finite);
      return;
    }
    if (substeps.back().kind == Substep::position) {
      if (!at_ends) return;
      value_ = target.log_density(state_.current_position(), t);
      if (!require(report.refusal, isfinite(value_), Refusal::log_density)) return;
    }
    report.energy_change = kinetic - (value_ - before);
    require(report.refusal, isfinite(report.energy_change), Refusal::energy_not_finite);
  }

  /// L and its gradient at the current position. Returns whether some chain goes on.
  bool evaluate(Target<Vector>& target, std::uint64_t t, Report& report) {
    using std::isfinite;
    value_ = target.log_density_and_gradient(state_.current_position(), state_.gradient_to_evaluate(), t);
    ++report.gradients;
    return require(report.refusal, isfinite(value_), Refusal::log_density);
  }

  void store_normals(NormalSource<Vector>& normals, Purpose purpose, std::uint64_t t) {
    if (normals_.size() == 0) normals_ = Vector(std::size_t(state_.dimension()));
    normals.normals(normals_, purpose, t);
  }

  /// Half a step of explicit noise at the end of a step.
  void refresh(NormalSource<Vector>& normals, Purpose purpose, std::uint64_t t, const Request& request) {
    store_normals(normals, purpose, t);
    const Scalar half = request.step_size / 2;
    state_.refresh(normals_, refreshment_strength(half, request.decoherence_length, state_.dimension()));
  }

  IsokineticStepOptions options_;
  IsokineticState<Vector> state_;
  Vector normals_;  // where they have to be stored
  /// L at the point of a step's gradient, and ΔK of the second half of its momentum update.
  struct Midpoint {
    Scalar value = Scalar(StepReport::kNone), kinetic = Scalar(0);
  };
  Midpoint midpoint_, passed_;                // of the accepted state, and of the step under way
  Scalar value_ = Scalar(StepReport::kNone);  // of the last evaluation; does not outlive a step
  Scalar log_density_ = Scalar(StepReport::kNone);
  Mask<Vector> has_gradient_{false};  // the carried gradient is usable
  bool seen_gradient_ = false;        // a first gradient has been evaluated
};

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// Position, velocity and gradients of a microcanonical chain, moved by the updates of spec 1.3–1.7.
///
/// The one decision a reader would not guess: updates of the velocity are deferred. A momentum update needs
/// two sums over all parameters before its coefficients are known, but the new velocity itself is needed only
/// by the position update that follows, and both are then one sweep. At the end of an accepted step the last
/// momentum update, the preconditioner, the first momentum update of the next step and its first position
/// update become one sweep too (kernels::close_and_open); the sums which that needs are foreseen by
/// kernels::reduce_closing. A step of the preconditioned sampler then costs four sweeps, whatever is switched
/// on.
///
/// Two copies of position, velocity and gradient take turns: a refused step only turns back.
#pragma once

#include <cassert>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "smile/adaptation/preconditioner.hpp"
#include "smile/archive.hpp"
#include "smile/dynamics/momentum_update.hpp"
#include "smile/samplers/gradient_guard.hpp"

namespace smile {

template <class Vector>
class IsokineticState {
 public:
  using Scalar = typename Vector::Scalar;
  struct Options {
    GradientGuard guard;
    RestEnergy rest_energy = RestEnergy::along_gradient;
    /// The step begins and ends with a momentum update with the same gradient and nothing between: sweeps may
    /// merge.
    bool merge_steps = false;
    bool halves = false;                                  ///< Turn::first_half is wanted
    std::optional<PreconditionerOptions> preconditioner;  ///< not set: ŝ = 1 until a fixed metric is set
  };
  struct Turn {
    Turn() = default;
    Mask<Vector> finite{true};  ///< false: the gradient cannot be used, the chain is to be refused
    Scalar kinetic_change{};    ///< ΔK
    Scalar first_half{};        ///< where asked for: ΔK of the update of length h/2
    Scalar gradient_norm{};     ///< ‖g ⊘ ŝ‖
  };

  IsokineticState() = default;
  explicit IsokineticState(const Options& options) : options_(options) {}

  /// At θ, at rest.
  void place(const Vector& position) {
    if (options_.preconditioner) preconditioner_.emplace(*options_.preconditioner, position.size());
    deferred_ = foreseen_ = false;
    for (int i : {0, 1}) {
      position_[i] = position;
      velocity_[i] = Vector(position.size());
      gradient_[i] = Vector(position.size());
    }
  }
  double dimension() const { return double(position_[0].size()); }

  // --- between steps
  // -------------------------------------------------------------------------------------------
  /// θ of the last accepted state.
  const Vector& position() const { return position_[here_]; }
  /// u of the last accepted state (a copy, with a deferred update carried out).
  Vector velocity() const {
    Vector velocity = velocity_[here_];
    if (deferred_) kernels::kick(velocity, gradient_[here_], metric(), closing_);
    return velocity;
  }
  /// The carried gradient.
  Vector& carried_gradient() { return gradient_[here_]; }
  const Vector& carried_gradient() const { return gradient_[here_]; }
  /// The preconditioner as the next step will use it (a copy, with a deferred gradient absorbed).
  Preconditioner<Vector> preconditioner() const {
    assert(preconditioner_);
    Preconditioner<Vector> copy = *preconditioner_;
    if (deferred_) copy.absorb(gradient_[here_]);
    return copy;
  }

  /// Lets the preconditioner see the first gradient evaluated (the current one).
  void start_preconditioner() {
    if (preconditioner_) preconditioner_->start(current_gradient());
  }

  /// What Preconditioner::gather and freeze say, between steps.
  void gather_scale() {
    settle();
    if (preconditioner_) preconditioner_->gather();
  }
  void freeze_scale() {
    settle();
    if (preconditioner_) preconditioner_->freeze();
  }

  /// u, ŝ and the carried gradient stay.
  void move_to(const Vector& position) {
    settle();
    position_[here_] = position;
  }

  void set_velocity_zero(const Mask<Vector>& chains) {
    settle();
    kernels::copy_where(velocity_[here_], Vector(velocity_[here_].size()), chains);
  }
  void set_velocity(const Vector& velocity) {
    settle();
    velocity_[here_] = velocity;
  }
  /// u = z/‖z‖.
  void set_direction(const Vector& normals, const Mask<Vector>& chains = Mask<Vector>{true}) {
    settle();
    if (!all(chains)) velocity_[1 - here_] = velocity_[here_];
    kernels::unit_direction(velocity_[here_], normals);
    if (!all(chains)) kernels::copy_where(velocity_[here_], velocity_[1 - here_], !chains);
  }
  /// A fixed ŝ from now on: ŝ_i = sqrt(variance_i) (mclmc with diagonal preconditioning).
  void set_fixed_metric(Vector variance) {
    settle();
    fixed_variance_ = std::move(variance);
  }

  // --- within a step
  // -------------------------------------------------------------------------------------------
  void begin_step() {
    moved_ = turned_ = evaluated_ = pending_ = false;
    length_ = Scalar(1);
  }

  /// Where the next gradient goes; the carried one stays until the step is accepted.
  Vector& gradient_to_evaluate() {
    settle();
    evaluated_ = true;
    return gradient_[1 - here_];
  }
  const Vector& current_position() const { return position_[moved_ ? 1 - here_ : here_]; }
  const Vector& current_gradient() const { return gradient_[evaluated_ ? 1 - here_ : here_]; }

  /// u ← (u + ν z)/‖u + ν z‖ of the step under way.
  void refresh(const Vector& normals, const Scalar& nu) {
    apply_pending();
    Vector& u = writable_velocity();
    kernels::refresh(u, normals, nu);
  }

  /// The same at the opening of a step, by `stir(u, out)`, which puts u + ν z into `out` and returns its
  /// squared length. The length is divided out by the updates that follow: one sweep less.
  template <class Stir>
  void open_refreshed(const Stir& stir) {
    settle();
    using std::sqrt;
    length_ = sqrt(stir(velocity_[here_], velocity_[1 - here_]));
    turned_ = true;
  }

  /// B_h with the current gradient. The last one of a step also foresees the opening of the next.
  Turn momentum_update(const Scalar& h, bool last) {
    Turn turn;
    if (foreseen_ && !evaluated_) {
      foreseen_ = false;
      turn.gradient_norm = next_norm_;
      const auto update = smile::momentum_update(next_norm_, next_projection_, Scalar(1), dimension(), h);
      turn.kinetic_change = update.kinetic_change;
      set_pending(update, next_norm_);
      return turn;
    }
    apply_pending();
    settle();
    Vector& g = gradient_[evaluated_ ? 1 - here_ : here_];
    const Vector& u = velocity_[turned_ ? 1 - here_ : here_];
    const bool look_ahead = last && options_.merge_steps;
    bool changed = false;
    ClosingSumsOf<Scalar> sums = take_sums(g, u, look_ahead);
    turn.finite = options_.guard.admit(g, sums.now, changed);
    if (!any(turn.finite)) return turn;
    if (changed) sums = take_sums(g, u, look_ahead);

    using std::sqrt;
    const Scalar n = sqrt(sums.now.gradient_norm2);
    const Scalar p = select(n > 0, sums.now.projection / (n * length_), Scalar(0));
    const Scalar velocity_norm2 = sums.now.velocity_norm2 / (length_ * length_);
    const Mask<Vector> at_rest = !(velocity_norm2 > 0);
    const auto over = [&](const Scalar& time) {
      const auto moving = smile::momentum_update(n, p, velocity_norm2, dimension(), time);
      if (!any(at_rest)) return moving;
      return select(at_rest, momentum_update_from_rest(n, dimension(), time, options_.rest_energy), moving);
    };
    const auto update = over(h);
    turn.gradient_norm = n;
    turn.kinetic_change = update.kinetic_change;
    if (options_.halves) turn.first_half = over(h / 2).kinetic_change;
    set_pending(update, n);
    if (look_ahead) foresee(sums, update, n, at_rest);
    return turn;
  }

  /// A_h: θ ← θ + h (u ⊘ ŝ), with the deferred momentum update in the same sweep. Returns whether θ is
  /// finite.
  Mask<Vector> position_update(const Scalar& h) {
    const Vector& from = position_[moved_ ? 1 - here_ : here_];
    Vector& to = position_[1 - here_];
    moved_ = true;
    if (deferred_) {
      // The opening update is pending, and behind it the closing one of the last step and its preconditioner.
      deferred_ = pending_ = false;
      turned_ = true;
      Vector *mean = nullptr, *variance = nullptr;
      MovingEstimate estimate;
      ScalingOf<Scalar> now;
      if (preconditioner_) {
        mean = preconditioner_->mean();
        variance = &preconditioner_->variance();
        estimate = preconditioner_->estimate();
        now = preconditioner_->scaling();
        preconditioner_->set_scaling(next_scaling_);
      }
      return kernels::close_and_open(velocity_[here_], velocity_[1 - here_], gradient_[here_], mean, variance,
                                     now, next_scaling_, estimate, closing_, kick_, from, to, h);
    }
    Vector& u = writable_velocity();
    if (!pending_) return kernels::drift(u, metric(), from, to, h / length_);
    pending_ = false;
    return kernels::kick_drift(u, gradient_[evaluated_ ? 1 - here_ : here_], metric(), kick_, from, to, h);
  }

  // --- the end of a step
  // ---------------------------------------------------------------------------------------
  /// Keeps the step; its last gradient is carried on and absorbed by the preconditioner.
  void accept() {
    if (!options_.merge_steps || !foreseen_) apply_pending();
    if (!moved_) position_[1 - here_] = position_[here_];
    if (!turned_ && !pending_) velocity_[1 - here_] = velocity_[here_];
    if (!evaluated_) gradient_[1 - here_] = gradient_[here_];
    here_ = 1 - here_;
    if (pending_) {
      closing_ = kick_;
      deferred_ = true;
      pending_ = false;
    } else if (preconditioner_) {
      preconditioner_->absorb(gradient_[here_]);
    }
  }

  /// Turns back to the last accepted state. The last gradient of the step is absorbed where all was finite.
  /// @param keep_gradient  the carried gradient becomes the refused step's (spec 1.8 `reset_gradient: stale`)
  void refuse(bool finite, bool keep_gradient) {
    settle();
    pending_ = foreseen_ = false;
    if (!evaluated_) return;
    if (finite && preconditioner_) preconditioner_->absorb(gradient_[1 - here_]);
    if (keep_gradient) std::swap(gradient_[0], gradient_[1]);
  }

  /// Keeps the step for the chains in `accepted` and turns back for the others. The last gradient of the
  /// step is absorbed for the chains in `learning` and carried on by those in `keeping` (accepted ones
  /// always).
  void finish(const Mask<Vector>& accepted, const Mask<Vector>& learning, const Mask<Vector>& keeping) {
    if (all(accepted)) return accept();
    const bool alike = (all(learning) || !any(learning)) && (all(keeping) || !any(keeping));
    if (!any(accepted) && alike) return refuse(all(learning), all(keeping));
    settle();
    apply_pending();
    foreseen_ = false;
    if (!moved_) position_[1 - here_] = position_[here_];
    if (!turned_) velocity_[1 - here_] = velocity_[here_];
    if (!evaluated_) gradient_[1 - here_] = gradient_[here_];
    if (preconditioner_) preconditioner_->absorb_where(gradient_[1 - here_], learning);
    kernels::copy_where(position_[1 - here_], position_[here_], !accepted);
    kernels::copy_where(velocity_[1 - here_], velocity_[here_], !accepted);
    kernels::copy_where(gradient_[1 - here_], gradient_[here_], !keeping);
    here_ = 1 - here_;
  }

  void serialise(Archive& archive) {
    if (!archive.reading() && here_ != 0) {
      // The copies are interchangeable between steps: the state always goes out as number 0.
      std::swap(position_[0], position_[1]), std::swap(velocity_[0], velocity_[1]),
          std::swap(gradient_[0], gradient_[1]);
    }
    here_ = 0;
    archive.vector(position_[0]), archive.vector(velocity_[0]), archive.vector(gradient_[0]);
    if (archive.reading()) {
      position_[1] = velocity_[1] = gradient_[1] = Vector(position_[0].size());
      if (options_.preconditioner) preconditioner_.emplace(*options_.preconditioner, position_[0].size());
    }
    archive.value(deferred_), archive.value(foreseen_);
    archive.value(closing_.gradient), archive.value(closing_.velocity);
    archive.value(next_norm_), archive.value(next_projection_);
    archive.value(next_scaling_.lower), archive.value(next_scaling_.upper),
        archive.value(next_scaling_.factor);
    bool fixed = fixed_variance_.size() != 0;
    archive.value(fixed);
    if (fixed)
      archive.vector(fixed_variance_);
    else
      fixed_variance_ = Vector();
    if (preconditioner_) preconditioner_->serialise(archive);
  }

 private:
  Metric<Vector> metric() const {
    if (fixed_variance_.size() != 0) return {&fixed_variance_, {}};
    return preconditioner_ ? preconditioner_->metric() : Metric<Vector>{};
  }

  ClosingSumsOf<Scalar> take_sums(const Vector& g, const Vector& u, bool look_ahead) const {
    if (look_ahead && preconditioner_) {
      const auto& options = preconditioner_->options();
      return kernels::reduce_closing(g, u, preconditioner_->mean(), metric(), preconditioner_->estimate(),
                                     options.normalisation, options.relative_floor);
    }
    ClosingSumsOf<Scalar> sums;
    sums.now = kernels::reduce(g, u, metric());
    return sums;
  }

  void set_pending(const MomentumUpdate<Scalar>& exact, const Scalar& n) {
    const auto update = applied(exact);
    kick_ = {select(n > 0, update.along_gradient / n, Scalar(0)), update.along_velocity / length_};
    length_ = Scalar(1);
    pending_ = true;
  }

  /// n and p of the next opening update. Without preconditioner the gradient and ŝ stay, so n stays and p is
  /// known.
  void foresee(const ClosingSumsOf<Scalar>& sums, const MomentumUpdate<Scalar>& update, const Scalar& n,
               const Mask<Vector>& at_rest) {
    if (!all(n > 0)) return;
    if (!preconditioner_) {
      next_norm_ = n;
      next_projection_ = update.projection;
    } else {
      next_scaling_ = sums.next;
      using std::sqrt;
      next_norm_ = sqrt(sums.next_norm2);
      const Scalar projection =
          kick_.gradient * sums.cross + select(at_rest, Scalar(0), kick_.velocity * sums.next_projection);
      next_projection_ = projection / next_norm_;
    }
    foreseen_ = true;
  }

  /// Carries out the momentum update of the step under way that no position update has taken along.
  void apply_pending() {
    if (!pending_) return;
    settle();
    pending_ = false;
    kernels::kick(writable_velocity(), gradient_[evaluated_ ? 1 - here_ : here_], metric(), kick_);
  }

  /// Carries out what was deferred at the end of the last step.
  void settle() {
    if (!deferred_) return;
    deferred_ = foreseen_ = false;
    kernels::kick(velocity_[here_], gradient_[here_], metric(), closing_);
    if (preconditioner_) preconditioner_->absorb(gradient_[here_]);
  }

  /// The velocity of the step under way; the one before the step is kept for a refusal.
  Vector& writable_velocity() {
    settle();
    if (!turned_) velocity_[1 - here_] = velocity_[here_];
    turned_ = true;
    return velocity_[1 - here_];
  }

  Options options_;
  std::optional<Preconditioner<Vector>> preconditioner_;
  Vector fixed_variance_;
  Vector position_[2], velocity_[2], gradient_[2];
  int here_ = 0;            // which copy is the last accepted state
  bool moved_ = false;      // the step's position is in the other copy
  bool turned_ = false;     // so is its velocity
  bool evaluated_ = false;  // and its gradient
  bool pending_ = false;    // kick_ waits for a position update
  bool deferred_ =
      false;  // closing_ and the preconditioner of the last step wait for the opening of the next
  bool foreseen_ = false;      // next_norm_, next_projection_, next_scaling_ are known
  Scalar length_ = Scalar(1);  // ‖u‖ of the step under way as it is stored
  KickOf<Scalar> kick_, closing_;
  Scalar next_norm_ = Scalar(0), next_projection_ = Scalar(0);
  ScalingOf<Scalar> next_scaling_;
};

}  // namespace smile

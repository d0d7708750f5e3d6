// SPDX-License-Identifier: Apache-2.0
/// What the runner of an ensemble sees of any sampler.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "smile/adaptation/schedule.hpp"
#include "smile/archive.hpp"
#include "smile/kernels/lanes_of_one.hpp"
#include "smile/refusal.hpp"
#include "smile/targets/target.hpp"

namespace smile {

/// The outcome of a step for the chains of a Scalar.
template <class Scalar>
struct RefusalOf {
  using type = typename Scalar::Refusals;
};
template <>
struct RefusalOf<double> {
  using type = Refusal;
};

/// One step, for traces and monitors. NaN where a quantity does not apply.
template <class Scalar>
struct StepReportOf {
  StepReportOf() = default;
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  typename RefusalOf<Scalar>::type refusal{};
  Scalar log_density = Scalar(kNone);     ///< carried L of the state after the step (of one mini-batch)
  Scalar energy_change = Scalar(kNone);   ///< ΔE; NaN where the step was abandoned
  Scalar kinetic_change = Scalar(kNone);  ///< Σ ΔK of the step (microcanonical)
  Scalar step_size = Scalar(kNone);       ///< used in this step
  Scalar next_step_size = Scalar(kNone);  ///< the next step will use
  Scalar gradient_norm = Scalar(kNone);  ///< ‖g ⊘ ŝ‖ of the last momentum update (microcanonical), ‖g‖ else
  Scalar turn_angle = Scalar(kNone);  ///< δ over the whole step: ε‖g̃‖/(d−1)
  double probability = kNone;         ///< F(|ΔE|) under the fitted Gamma, where compared
  double gamma_shape = kNone;         ///< k
  double gamma_scale = kNone;         ///< ϑ
  bool exploring = false;  ///< inside the exploration part of a cycle: the state is not to be stored
  int gradients = 0;       ///< gradient evaluations of this step

  typename MaskOf<Scalar>::type accepted() const { return is_accepted(refusal); }
};
using StepReport = StepReportOf<double>;

/// A chain's sampler: a value whose state can be saved at any step boundary and restored bit for bit. It owns
/// no thread, file or clock.
template <class Vector>
class Sampler {
 public:
  virtual ~Sampler() = default;

  /// Sets the position and evaluates what the first step needs (batch 0). Throws Error where d < 2 and the
  /// dynamics need more.
  virtual void start(const Vector& position, Target<Vector>& target, NormalSource<Vector>& normals) = 0;

  /// Step number t (from 1), warm-up first. Numerical trouble is reported, never thrown.
  virtual StepReportOf<typename Vector::Scalar> step(Target<Vector>& target, NormalSource<Vector>& normals,
                                                     std::uint64_t t) = 0;

  virtual const Vector& position() const = 0;
  /// Between steps: the chain goes on from there; step size, scales and whatever else was tuned stay.
  /// Independent draws have no place to go on from. @param position  @shape [d]
  virtual void move_to(const Vector& position) = 0;
  /// Steps before the first that may be stored; may exceed the plan's by re-tuning (spec 1.10).
  virtual std::uint64_t warmup_steps() const = 0;
  virtual std::uint64_t total_steps() const = 0;
  /// Every how many steps ΔE is measured with one batch throughout, as a safety net (spec 1.13): the ΔE of
  /// such a step is another quantity than that of the others. 0: never.
  virtual std::uint64_t audit_interval() const { return 0; }
  /// Everything needed to go on bit for bit.
  virtual void serialise(Archive& archive) = 0;
  /// A copy of the velocity direction, ‖u‖ = 1 (or 0), for monitors; false where the dynamics have none.
  virtual bool velocity(Vector&) const { return false; }
  /// Findings for the user at the end of warm-up or of the chain; plain sentences, empty where all is well.
  virtual std::vector<std::string> findings() const { return {}; }
  /// Tuned quantities worth reporting, by name (decoherence length, step size at the end of warm-up, …).
  virtual std::vector<std::pair<std::string, double>> tuned() const { return {}; }
};

}  // namespace smile

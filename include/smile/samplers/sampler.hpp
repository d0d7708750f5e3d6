/// What the runner of an ensemble sees of any sampler.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "smile/archive.hpp"
#include "smile/targets/target.hpp"

namespace smile {

/// Why a step was refused.
enum class Refusal {
  none,
  energy_error,       ///< |ΔE| above the guardrail's quantile; everything was finite
  log_density,        ///< the log-density was NaN or infinite
  gradient,           ///< an entry of the gradient was NaN or infinite
  position,           ///< a position left the range of numbers
  energy_not_finite,  ///< ΔE overflowed although its parts were finite
};

inline bool is_finite_step(Refusal refusal) {
  return refusal == Refusal::none || refusal == Refusal::energy_error;
}

/// "none", "energy error", "log-density", "gradient", "position", "energy".
inline const char* name_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::energy_error:
      return "energy error";
    case Refusal::log_density:
      return "log-density";
    case Refusal::gradient:
      return "gradient";
    case Refusal::position:
      return "position";
    case Refusal::energy_not_finite:
      return "energy";
    case Refusal::none:
      break;
  }
  return "none";
}

/// One step, for traces and monitors. NaN where a quantity does not apply.
struct StepReport {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  Refusal refusal = Refusal::none;
  double log_density = kNone;     ///< carried L of the state after the step (of one mini-batch)
  double energy_change = kNone;   ///< ΔE; NaN where the step was abandoned
  double kinetic_change = kNone;  ///< Σ ΔK of the step (microcanonical)
  double step_size = kNone;       ///< used in this step
  double next_step_size = kNone;  ///< the next step will use
  double gradient_norm = kNone;  ///< ‖g ⊘ ŝ‖ of the last momentum update (microcanonical), ‖g‖ else
  double turn_angle = kNone;     ///< δ over the whole step: ε‖g̃‖/(d−1)
  double probability = kNone;    ///< F(|ΔE|) under the fitted Gamma, where compared
  double gamma_shape = kNone;    ///< k
  double gamma_scale = kNone;    ///< ϑ
  bool exploring = false;        ///< inside the exploration part of a cycle: the state is not to be stored
  int gradients = 0;             ///< gradient evaluations of this step

  bool accepted() const { return refusal == Refusal::none; }
};

/// Steps of the two phases; steps are numbered 1 … warmup + sampling.
struct SamplingPlan {
  std::uint64_t warmup_steps = 0;
  std::uint64_t sampling_steps = 0;
};

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
  virtual StepReport step(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t) = 0;

  virtual const Vector& position() const = 0;
  /// Steps before the first that may be stored; may exceed the plan's by re-tuning (spec 1.10).
  virtual std::uint64_t warmup_steps() const = 0;
  virtual std::uint64_t total_steps() const = 0;
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

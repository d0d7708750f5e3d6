// SPDX-License-Identifier: Apache-2.0
/// Why a step was refused.
#pragma once

namespace smile {

/// Why a step was refused.
enum class Refusal {
  none,
  energy_error,       ///< |ΔE| above the guardrail's quantile; everything was finite
  log_density,        ///< the log-density was NaN or infinite
  gradient,           ///< an entry of the gradient was NaN or infinite
  position,           ///< a position left the range of numbers
  energy_not_finite,  ///< ΔE overflowed although its parts were finite
  metropolis,         ///< the acceptance test of hmc or mams: no fault
  divergence,         ///< it left the level set of the energy by more than 1,000 (hmc, nuts, mams)
};

inline bool is_finite_step(Refusal refusal) {
  return refusal == Refusal::none || refusal == Refusal::energy_error || refusal == Refusal::metropolis ||
         refusal == Refusal::divergence;
}

/// No evaluation was at fault: log-density and gradients were finite.
inline bool is_evaluated(Refusal refusal) {
  return refusal != Refusal::log_density && refusal != Refusal::gradient;
}

/// "none", "energy error", "log-density", "gradient", "position", "energy",
/// "not accepted", "divergence".
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
    case Refusal::metropolis:
      return "not accepted";
    case Refusal::divergence:
      return "divergence";
    case Refusal::none:
      break;
  }
  return "none";
}

/// The outcome of a step for one chain; bundles of chains have one for each (RefusalOf). What a sampler
/// asks of it: whether the step stands, and `require`: chains without `condition` are refused for the reason
/// given (the first one counts); returns whether some chain goes on.
inline bool is_accepted(Refusal refusal) {
  return refusal == Refusal::none;
}
inline bool require(Refusal& refusal, bool condition, Refusal why) {
  if (refusal == Refusal::none && !condition) refusal = why;
  return refusal == Refusal::none;
}

}  // namespace smile

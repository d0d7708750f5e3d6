// SPDX-License-Identifier: Apache-2.0
/// The guardrail: steps whose energy error is out of line with those before are refused (spec 1.8, rules 1,
/// 4).
#pragma once

#include "smile/adaptation/energy_tuner.hpp"
#include "smile/samplers/sampler.hpp"

namespace smile {

/// Of one chain.
/// @source the paper, Algorithm 1; spec 1.8
class Guardrail {
 public:
  /// @param on  false (the naive samplers): nothing is judged
  Guardrail(const EnergyTunerOptions& options, bool on);

  /// Judges ΔE of a step by the fit before it, and refuses an accepted one that is out of line.
  /// @return what the energy rule for the step size is to do; a default verdict where the guardrail is off
  EnergyTuner::Verdict judge(StepReport& report);

  const EnergyTuner& tuner() const { return tuner_; }
  void serialise(Archive& archive);

 private:
  EnergyTuner tuner_;
  bool on_;
};

/// Bundles of chains have none: the fit follows one chain (docs/decisions/0010-chains-in-lanes.md).
template <class Scalar>
class NoGuardrail {
 public:
  NoGuardrail(const EnergyTunerOptions&, bool) {}
  EnergyTuner::Verdict judge(StepReportOf<Scalar>&) { return {}; }
  void serialise(Archive&) {}
};

template <class Scalar>
struct GuardrailOf {
  using type = NoGuardrail<Scalar>;
};
template <>
struct GuardrailOf<double> {
  using type = Guardrail;
};

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include "smile/samplers/guardrail.hpp"

#include <cmath>

namespace smile {

Guardrail::Guardrail(const EnergyTunerOptions& options, bool on) : tuner_(options), on_(on) {}

EnergyTuner::Verdict Guardrail::judge(StepReport& report) {
  // The first step of a chain whose energy is taken between midpoints has no ΔE.
  if (!on_ || (is_finite_step(report.refusal) && std::isnan(report.energy_change))) return {};
  // A step that is not finite counts as one of infinite |ΔE|, whatever was reached of it.
  const auto verdict =
      tuner_.observe(is_finite_step(report.refusal) ? report.energy_change : StepReport::kNone);
  if (report.accepted() && verdict.diverged) report.refusal = Refusal::energy_error;
  if (verdict.compared) {
    report.probability = verdict.probability;
    report.gamma_shape = verdict.shape;
    report.gamma_scale = verdict.scale;
  }
  return verdict;
}

void Guardrail::serialise(Archive& archive) {
  tuner_.serialise(archive);
}

}  // namespace smile

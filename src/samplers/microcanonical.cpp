// What the microcanonical samplers' options say, and what one chain of them needs: compiled here, as
// everywhere else, and not with the text that bundles of chains share
// (docs/decisions/0010-chains-in-lanes.md).
#include "smile/samplers/microcanonical.hpp"

namespace smile {

std::uint64_t audit_interval(const MicrocanonicalOptions& options) {
  return options.rule == StepSizeRule::turn ? kAuditInterval : 0;
}

std::uint64_t gradients_of(const MicrocanonicalOptions& options, std::uint64_t steps) {
  const std::uint64_t interval = audit_interval(options);
  std::uint64_t anew = interval > 0 ? steps / interval : 0;
  if (options.energy == EnergyMode::fresh) anew = steps;
  if (!opens_with_momentum(options.integrator)) anew = 0;
  return steps * std::uint64_t(gradients_per_step(options.integrator)) + anew;
}

IsokineticStepOptions isokinetic_step_of(const MicrocanonicalOptions& options) {
  IsokineticStepOptions step;
  step.integrator = options.integrator;
  step.guard = options.guard;
  if (options.reset_velocity == ResetVelocity::authors) step.rest_energy = RestEnergy::authors;
  step.preconditioner = options.preconditioner;
  step.own_batch = options.energy == EnergyMode::fresh;
  step.refreshes = std::isfinite(options.decoherence_length);
  return step;
}

template <>
StepSize step_size_of<double>(const MicrocanonicalOptions& options, const SamplingPlan& plan) {
  switch (options.rule) {
    case StepSizeRule::energy:
      return StepSize(EnergyStepSize(options.step_size, options.adapt_in_sampling, plan));
    case StepSizeRule::turn:
      return StepSize(TurningStepSize(options.step_size, options.turn_angle, options.turn_rate, plan));
    case StepSizeRule::fixed:
      break;
  }
  return StepSize(
      ScheduledStepSize<double>(options.warmup_schedule, options.sampling_schedule, plan, options.step_size));
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
// What the microcanonical samplers' options say, and what one chain of them needs: compiled here, as
// everywhere else, and not with the text that bundles of chains share
// (docs/decisions/0010-chains-in-lanes.md).
#include "smile/samplers/microcanonical.hpp"

#include <algorithm>
#include <cmath>

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
  if (options.decoherence_length)
    step.refreshes = std::isfinite(*options.decoherence_length);
  else
    step.noise = {options.noise_share, options.turn_angle};
  step.midpoint_energy = options.energy == EnergyMode::midpoint;
  step.freezes = options.preconditioner && options.preconditioner_freeze;
  if (!options.decoherence_length && !step.noise.on())
    throw Error("sampler", "the share of the noise in proportion to the turning angle is not given",
                "set noise_share to turning_noise_share() of the batches an epoch");
  if (step.midpoint_energy && options.integrator != Integrator::position_verlet)
    throw Error("sampler", "the energy between midpoints is that of position-verlet",
                "choose this integrator, or another energy");
  return step;
}

std::optional<FreezePlan> freeze_plan_of(const MicrocanonicalOptions& options, const SamplingPlan& plan) {
  if (!options.preconditioner || !options.preconditioner_freeze || plan.warmup_steps == 0)
    return std::nullopt;
  const std::uint64_t end = plan.warmup_steps;
  // A share such as 0.9 is a little less than its decimal form says.
  const auto part = [&](double share) { return std::uint64_t(std::floor(share * double(end) + 1e-6)); };
  const std::uint64_t last = std::clamp<std::uint64_t>(part(*options.preconditioner_freeze), 1, end);
  const std::uint64_t after = std::min(part(*options.preconditioner_freeze * 2 / 3), last - 1);
  return FreezePlan{after, last, end - (end - last) * 2 / 3};
}

template <>
StepSize step_size_of<double>(const MicrocanonicalOptions& options, const SamplingPlan& plan) {
  std::optional<std::uint64_t> average_after;
  if (const auto freeze = freeze_plan_of(options, plan)) average_after = freeze->step_size_after;
  switch (options.rule) {
    case StepSizeRule::energy:
      return StepSize(EnergyStepSize(options.step_size, options.adapt_in_sampling, plan, average_after));
    case StepSizeRule::turn:
      return StepSize(
          TurningStepSize(options.step_size, options.turn_angle, options.turn_rate, plan, average_after));
    case StepSizeRule::fixed:
      break;
  }
  return StepSize(
      ScheduledStepSize<double>(options.warmup_schedule, options.sampling_schedule, plan, options.step_size));
}

}  // namespace smile

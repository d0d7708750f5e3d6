/// The sampler that a configuration names, for any vector. Included once for each kind of vector.
#pragma once

#include "smile/experiment/sampler_factory.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <type_traits>

#include "smile/samplers/langevin.hpp"
#include "smile/samplers/mclmc.hpp"
#include "smile/samplers/microcanonical.hpp"
#include "smile/samplers/momentum_samplers.hpp"
#include "smile/samplers/scale_adapted_sghmc.hpp"

namespace smile::experiment {

/// The configuration has checked its spellings: a name that is not in the table is a fault of this file.
template <class Value>
Value choose(const std::string& name, const std::map<std::string, Value>& table) {
  return table.at(name);
}

inline Integrator integrator_of(const SamplerConfig& config) {
  return choose<Integrator>(config.integrator, {{"mclachlan", Integrator::mclachlan},
                                                {"velocity-verlet", Integrator::velocity_verlet},
                                                {"position-verlet", Integrator::position_verlet},
                                                {"three-stage", Integrator::three_stage}});
}

inline GradientGuard guard_of(const SamplerConfig& config) {
  return {config.gradient_clip,
          config.nonfinite == "authors" ? NonFinitePolicy::authors : NonFinitePolicy::divergence};
}

inline Schedule schedule_of(const SchedulerConfig& config) {
  Schedule schedule;
  if (config.name == "none" || config.name == "constant") return schedule;
  schedule.kind = config.name == "linear" ? ScheduleKind::linear : ScheduleKind::cosine;
  schedule.initial = config.init_step_size;
  schedule.target = config.target_step_size;
  schedule.cycles = std::uint64_t(config.n_cycles);
  schedule.exploration = config.exploration;
  return schedule;
}

inline PreconditionerOptions preconditioner_of(const SamplerConfig& config) {
  PreconditionerOptions options;
  options.rate = config.smile_tuning.alpha;
  options.centre =
      choose<Centre>(config.preconditioner_centre,
                     {{"mean", Centre::mean}, {"none", Centre::none}, {"authors", Centre::authors}});
  options.normalisation = config.preconditioner_scale == "inverse-rms" ? Normalisation::inverse_rms
                          : config.preconditioner_floor                ? Normalisation::rms_floor
                                                                       : Normalisation::rms_absolute;
  options.relative_floor = config.preconditioner_floor.value_or(0.0);
  options.start_at_first_gradient = config.preconditioner_init == "first-gradient";
  return options;
}

inline MicrocanonicalOptions microcanonical_of(const SamplerConfig& config) {
  MicrocanonicalOptions options;
  options.integrator = integrator_of(config);
  options.energy = config.energy == "fresh" ? EnergyMode::fresh : EnergyMode::carried;
  if (config.is_preconditioned()) options.preconditioner = preconditioner_of(config);
  options.decoherence_length = config.decoherence_length;
  options.guard = guard_of(config);
  options.step_size = config.step_size;
  options.rule = choose<StepSizeRule>(
      config.step_size_rule,
      {{"fixed", StepSizeRule::fixed}, {"energy", StepSizeRule::energy}, {"turn", StepSizeRule::turn}});
  options.warmup_schedule = schedule_of(config.scheduler_config_warm);
  options.sampling_schedule = schedule_of(config.scheduler_config_samp);
  const SmileTuning& tuning = config.smile_tuning;
  options.tuner.reset_prob = tuning.reset_prob;
  options.tuner.adaption_prob = tuning.adaption_prob;
  options.tuner.adaption_strength = tuning.adaption_strength;
  options.tuner.smoothing_factor = tuning.smoothing_factor;
  options.tuner.quantile = config.quantile == "exact" ? QuantileRule::exact : QuantileRule::wilson_hilferty;
  options.tuner.variance_floor =
      config.variance_floor == "relative" ? VarianceFloor::relative : VarianceFloor::absolute;
  options.tuner.outlier_clip = config.outlier_clip;
  options.tuner.balance =
      config.adaption_balance == "symmetric" ? AdaptionBalance::symmetric : AdaptionBalance::paper;
  options.guardrail = tuning.reset_prob < 1 || tuning.adaption_prob > 0;
  options.adapt_in_sampling = config.adapt_during == "always";
  options.turn_angle = config.turn_angle;
  options.turn_rate = config.smile_tuning.alpha;
  options.reset_velocity =
      choose<ResetVelocity>(config.reset_velocity, {{"keep", ResetVelocity::keep},
                                                    {"gradient", ResetVelocity::gradient},
                                                    {"random", ResetVelocity::random},
                                                    {"authors", ResetVelocity::authors}});
  options.reset_gradient = config.reset_gradient == "stale" ? ResetGradient::stale : ResetGradient::restored;
  return options;
}

inline GradientStepOptions gradient_step_of(const SamplerConfig& config) {
  return {guard_of(config), config.step_size, schedule_of(config.scheduler_config_warm),
          schedule_of(config.scheduler_config_samp)};
}

inline MclmcOptions mclmc_of(const SamplerConfig& config) {
  MclmcOptions options;
  options.integrator = integrator_of(config);
  options.guard = guard_of(config);
  options.tuner.step_size_init = config.step_size_init;
  options.tuner.desired_energy_var_start = config.desired_energy_var_start;
  options.tuner.desired_energy_var_end = config.desired_energy_var_end;
  options.tuner.trust_in_estimate = config.trust_in_estimate;
  options.tuner.num_effective_samples = config.num_effective_samples;
  options.tuner.diagonal_preconditioning = config.diagonal_preconditioning;
  return options;
}

template <class Vector>
std::unique_ptr<Sampler<Vector>> make_sampler_of(const SamplerConfig& config, const SamplingPlan& plan,
                                                 std::size_t observations) {
  if (config.is_stochastic_microcanonical()) {
    if (config.step_size_rule == "turn" && batches_per_epoch(config, observations) == 1)
      throw Error("training.sampler.batch_size",
                  "one batch holds all " + std::to_string(observations) +
                      " training rows, and the turning-angle rule follows the noise of mini-batches",
                  "set a batch_size of at most " +
                      std::to_string(std::max<std::size_t>(1, observations / 2)) +
                      ", or use the sampler mclmc");
    return std::make_unique<MicrocanonicalSampler<Vector>>(microcanonical_of(config), plan);
  }
  if constexpr (std::is_same_v<Vector, HostVector<typename Vector::value_type>>) {
    if (config.name == "mclmc") return std::make_unique<MclmcSampler<Vector>>(mclmc_of(config), plan);
  }
  if (config.name == "sghmc") {
    SghmcOptions options{gradient_step_of(config)};
    options.friction = config.mdecay;
    options.noise_estimate = config.beta_hat;
    options.temperature = config.temperature;
    options.momentum_resampling = config.momentum_resampling;
    return std::make_unique<SghmcSampler<Vector>>(options, plan);
  }
  if (config.name == "sgnht") {
    SgnhtOptions options{gradient_step_of(config)};
    options.diffusion = config.sgnht_diffusion;
    options.temperature = config.temperature;
    return std::make_unique<SgnhtSampler<Vector>>(options, plan);
  }
  if (config.name == "adasghmc" || config.name == "rmsprop-sghmc") {
    ScaleAdaptedOptions options{gradient_step_of(config)};
    options.friction = config.mdecay;
    options.rmsprop = config.name == "rmsprop-sghmc";
    options.running_avg_factor = config.running_avg_factor;
    return std::make_unique<ScaleAdaptedSampler<Vector>>(options, plan);
  }
  if (config.name == "sgld" || config.name == "psgld" || config.name == "csgld") {
    LangevinOptions options{gradient_step_of(config)};
    options.temperature = config.temperature;
    options.explore_without_noise = config.explore_without_noise;
    options.preconditioned = config.name == "psgld";
    options.rms_decay = config.psgld_alpha;
    options.rms_lambda = config.psgld_lambda;
    options.observations = double(observations);
    return std::make_unique<LangevinSampler<Vector>>(options, plan);
  }
  throw Error("training.sampler.name", "the sampler " + config.name + " is not available in this build",
              "choose one of those that `smile list samplers` names");
}

}  // namespace smile::experiment

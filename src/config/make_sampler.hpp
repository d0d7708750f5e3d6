// SPDX-License-Identifier: Apache-2.0
/// The sampler that a configuration names, for any vector. Included once for each kind of vector.
#pragma once

#include <algorithm>
#include <type_traits>

#include "smile/config/sampler_factory.hpp"
#include "smile/error.hpp"
#include "smile/samplers/hmc.hpp"
#include "smile/samplers/ivon.hpp"
#include "smile/samplers/langevin.hpp"
#include "smile/samplers/mams.hpp"
#include "smile/samplers/mclmc.hpp"
#include "smile/samplers/microcanonical.hpp"
#include "smile/samplers/momentum_samplers.hpp"
#include "smile/samplers/nuts.hpp"
#include "smile/samplers/scale_adapted_sghmc.hpp"

namespace smile::experiment {

/// The options of a sampler with what all samplers share.
template <class Options>
Options with_step(Options options, const SamplerConfig& config) {
  static_cast<GradientStepOptions&>(options) = config.step;
  return options;
}

inline MicrocanonicalOptions microcanonical_of(const SamplerConfig& config, std::size_t observations) {
  MicrocanonicalOptions options = config.microcanonical;
  options.noise_share = turning_noise_share(batches_per_epoch(config, observations));
  options.guard = config.step.guard;
  options.step_size = config.step.step_size;
  options.warmup_schedule = config.step.warmup_schedule;
  options.sampling_schedule = config.step.sampling_schedule;
  options.guardrail = options.tuner.reset_prob < 1 || options.tuner.adaption_prob > 0;
  options.turn_rate = config.preconditioner.rate;
  if (config.row().preconditioned) {
    options.preconditioner = config.preconditioner;
    options.preconditioner->normalisation =
        config.preconditioner_scale == PreconditionerScale::inverse_rms    ? Normalisation::inverse_rms
        : config.preconditioner_reference == PreconditionerReference::half ? Normalisation::half_reference
        : config.preconditioner_floor                                      ? Normalisation::rms_floor
                                                                           : Normalisation::rms_absolute;
    options.preconditioner->relative_floor = config.preconditioner_floor.value_or(0.0);
  }
  return options;
}

inline MclmcOptions mclmc_of(const SamplerConfig& config) {
  MclmcOptions options = config.mclmc;
  options.guard = config.step.guard;
  options.integrator = config.microcanonical.integrator;
  return options;
}

inline LangevinOptions langevin_of(const SamplerConfig& config, std::size_t observations) {
  LangevinOptions options = with_step(config.langevin, config);
  options.preconditioned = config.row().has_key("psgld_alpha");
  options.observations = double(observations);
  return options;
}

inline ScaleAdaptedOptions scale_adapted_of(const SamplerConfig& config) {
  ScaleAdaptedOptions options = with_step(config.scale_adapted, config);
  options.friction = config.sghmc.friction;
  options.rmsprop = config.row().has_key("running_avg_factor");
  return options;
}

inline AdjustedOptions adjusted_of(const SamplerConfig& config) {
  AdjustedOptions options = config.adjusted;
  options.step_size = config.step.step_size;
  return options;
}

inline IvonSamplerOptions ivon_of(const SamplerConfig& config, std::size_t observations) {
  IvonSamplerOptions options = with_step(config.ivon, config);
  options.observations = double(observations);
  return options;
}

/// @throws Error for what cannot work with this data or these vectors
template <class Vector>
std::unique_ptr<Sampler<Vector>> make_sampler_of(const SamplerConfig& config, const SamplingPlan& plan,
                                                 std::size_t observations) {
  constexpr bool kHost = std::is_same_v<Vector, HostVector<typename Vector::value_type>>;
  check_batches(config, observations);
  switch (config.row().dynamics) {
    case Dynamics::microcanonical:
      return std::make_unique<MicrocanonicalSampler<Vector>>(microcanonical_of(config, observations), plan);
    case Dynamics::langevin:
      return std::make_unique<LangevinSampler<Vector>>(langevin_of(config, observations), plan);
    case Dynamics::sghmc:
      return std::make_unique<SghmcSampler<Vector>>(with_step(config.sghmc, config), plan);
    case Dynamics::sgnht:
      return std::make_unique<SgnhtSampler<Vector>>(with_step(config.sgnht, config), plan);
    case Dynamics::scale_adapted:
      return std::make_unique<ScaleAdaptedSampler<Vector>>(scale_adapted_of(config), plan);
    case Dynamics::mclmc:
      if constexpr (kHost) return std::make_unique<MclmcSampler<Vector>>(mclmc_of(config), plan);
      break;
    case Dynamics::hmc:
      if constexpr (kHost) return std::make_unique<HmcSampler<Vector>>(adjusted_of(config), plan);
      break;
    case Dynamics::nuts:
      if constexpr (kHost) return std::make_unique<NutsSampler<Vector>>(adjusted_of(config), plan);
      break;
    case Dynamics::mams:
      if constexpr (kHost) return std::make_unique<MamsSampler<Vector>>(adjusted_of(config), plan);
      break;
    case Dynamics::ivon:
      if constexpr (kHost) return std::make_unique<IvonSampler<Vector>>(ivon_of(config, observations), plan);
      break;
    case Dynamics::laplace:
      break;  // of a network, not of a target: experiment/sample
    case Dynamics::own:
      if constexpr (std::is_same_v<Vector, HostVector<float>>)
        if (config.row().make) return config.row().make(config, plan, observations);
      break;
  }
  throw Error("training.sampler.name", "the sampler " + config.name + " is not available for this network",
              "choose another of those that `smile list samplers` names");
}

}  // namespace smile::experiment

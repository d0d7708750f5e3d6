// SPDX-License-Identifier: Apache-2.0
/// Every sampler with settings that exercise its state, for tests that hold for all of them.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <vector>

#include "smile/samplers/hmc.hpp"
#include "smile/samplers/ivon.hpp"
#include "smile/samplers/langevin.hpp"
#include "smile/samplers/mams.hpp"
#include "smile/samplers/mclmc.hpp"
#include "smile/samplers/microcanonical.hpp"
#include "smile/samplers/momentum_samplers.hpp"
#include "smile/samplers/nuts.hpp"
#include "smile/samplers/scale_adapted_sghmc.hpp"

namespace smile::test {

inline constexpr std::uint64_t kWarmup = 60, kSampling = 30;

struct Kind {
  const char* name;
  std::function<std::unique_ptr<Sampler<HostVector<float>>>()> make;
};
inline std::ostream& operator<<(std::ostream& out, const Kind& kind) {
  return out << kind.name;
}

using F = HostVector<float>;
inline const SamplingPlan kPlan{kWarmup, kSampling};

inline Kind microcanonical(const char* name, std::function<void(MicrocanonicalOptions&)> change) {
  return {name, [change] {
            MicrocanonicalOptions options;
            options.step_size = 0.1;
            options.tuner.reset_prob = 0.8;
            change(options);
            return std::make_unique<MicrocanonicalSampler<F>>(options, kPlan);
          }};
}

inline std::vector<Kind> kinds() {
  const auto plain = [](MicrocanonicalOptions&) {};
  const auto preconditioned = [](MicrocanonicalOptions& o) { o.preconditioner.emplace(); };
  return {
      microcanonical("smile", plain),
      microcanonical("psmile", preconditioned),
      microcanonical("psmile_uncentred",
                     [](MicrocanonicalOptions& o) {
                       o.preconditioner.emplace();
                       o.preconditioner->centre = Centre::none;
                     }),
      microcanonical("psmile_naive_with_noise",
                     [](MicrocanonicalOptions& o) {
                       o.preconditioner.emplace();
                       o.guardrail = false;
                       o.rule = StepSizeRule::fixed;
                       o.decoherence_length = 2;
                     }),
      microcanonical("psmile_auto",
                     [](MicrocanonicalOptions& o) {
                       o.preconditioner.emplace();
                       o.rule = StepSizeRule::turn;
                       o.tuner.adaption_prob = 0;
                     }),
      microcanonical("smile_fresh", [](MicrocanonicalOptions& o) { o.energy = EnergyMode::fresh; }),
      microcanonical("psmile_position_verlet_warmup",
                     [](MicrocanonicalOptions& o) {
                       o.preconditioner.emplace();
                       o.integrator = Integrator::position_verlet;
                       o.adapt_in_sampling = false;
                     }),
      microcanonical("psmile_auto_frozen_with_turning_noise",
                     [](MicrocanonicalOptions& o) {
                       o.preconditioner.emplace();
                       o.preconditioner->normalisation = Normalisation::half_reference;
                       o.preconditioner_freeze = 0.5;
                       o.integrator = Integrator::position_verlet;
                       o.rule = StepSizeRule::turn;
                       o.tuner.adaption_prob = 0;
                       o.decoherence_length.reset();
                       o.noise_share = 3;
                     }),
      {"mclmc", [] { return std::make_unique<MclmcSampler<F>>(MclmcOptions{}, kPlan); }},
      {"mclmc_diagonal",
       [] {
         MclmcOptions options;
         options.tuner.diagonal_preconditioning = true;
         return std::make_unique<MclmcSampler<F>>(options, kPlan);
       }},
      {"sgld",
       [] {
         LangevinOptions options;
         options.step_size = 0.01;
         return std::make_unique<LangevinSampler<F>>(options, kPlan);
       }},
      {"psgld",
       [] {
         LangevinOptions options;
         options.preconditioned = true;
         return std::make_unique<LangevinSampler<F>>(options, kPlan);
       }},
      {"sghmc",
       [] {
         SghmcOptions options;
         options.momentum_resampling = 0.2;
         return std::make_unique<SghmcSampler<F>>(options, kPlan);
       }},
      {"sgnht",
       [] {
         SgnhtOptions options;
         options.step_size = 0.02;
         return std::make_unique<SgnhtSampler<F>>(options, kPlan);
       }},
      {"adasghmc", [] { return std::make_unique<ScaleAdaptedSampler<F>>(ScaleAdaptedOptions{}, kPlan); }},
      {"hmc", [] { return std::make_unique<HmcSampler<F>>(AdjustedOptions{}, kPlan); }},
      {"nuts", [] { return std::make_unique<NutsSampler<F>>(AdjustedOptions{}, kPlan); }},
      {"mams", [] { return std::make_unique<MamsSampler<F>>(AdjustedOptions{}, kPlan); }},
      {"ivon", [] { return std::make_unique<IvonSampler<F>>(IvonSamplerOptions{}, kPlan); }},
      {"rmsprop_sghmc",
       [] {
         ScaleAdaptedOptions options;
         options.rmsprop = true;
         return std::make_unique<ScaleAdaptedSampler<F>>(options, kPlan);
       }},
  };
}

}  // namespace smile::test

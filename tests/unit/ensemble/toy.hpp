// SPDX-License-Identifier: Apache-2.0
/// A noisy Gaussian and chains over it, for tests of the runner.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>

#include "smile/ensemble/ensemble_runner.hpp"
#include "smile/samplers/langevin.hpp"
#include "smile/samplers/mclmc.hpp"
#include "smile/samplers/microcanonical.hpp"
#include "smile/samplers/momentum_samplers.hpp"
#include "smile/samplers/scale_adapted_sghmc.hpp"
#include "support/temporary_folder.hpp"

namespace smile::toy {

inline constexpr std::size_t kDimension = 17;

/// −½ Σ i θ_i² with a gradient noise that is a function of (chain, step).
class NoisyGaussian final : public Target<ChainVector> {
 public:
  explicit NoisyGaussian(std::uint32_t chain) : chain_(chain) {}
  std::size_t dimension() const override { return kDimension; }
  double log_density_and_gradient(const ChainVector& x, ChainVector& gradient, std::uint64_t step) override {
    ++evaluations;
    if (on_evaluation) on_evaluation(evaluations);
    if (step >= breaks_from) return std::numeric_limits<double>::quiet_NaN();
    Stream stream({7, chain_, Purpose::gradient_noise}, step);
    double value = 0;
    for (std::size_t i = 0; i < kDimension; ++i) {
      const double noise = 0.3 * stream.normal();
      value += -0.5 * double(i + 1) * double(x[i]) * double(x[i]) + noise * double(x[i]);
      gradient[i] = float(-double(i + 1) * double(x[i]) + noise);
    }
    return value;
  }
  std::uint64_t evaluations = 0;
  std::uint64_t breaks_from = std::numeric_limits<std::uint64_t>::max();  ///< step from which values are NaN
  std::function<void(std::uint64_t)> on_evaluation;

 private:
  std::uint32_t chain_;
};

inline std::unique_ptr<Sampler<ChainVector>> make_sampler(const std::string& name, const SamplingPlan& plan) {
  if (name == "mclmc") return std::make_unique<MclmcSampler<ChainVector>>(MclmcOptions{}, plan);
  if (name == "sgld") return std::make_unique<LangevinSampler<ChainVector>>(LangevinOptions{}, plan);
  if (name == "sghmc") {
    SghmcOptions options;
    options.momentum_resampling = 0.05;
    return std::make_unique<SghmcSampler<ChainVector>>(options, plan);
  }
  if (name == "sgnht") return std::make_unique<SgnhtSampler<ChainVector>>(SgnhtOptions{}, plan);
  if (name == "adasghmc")
    return std::make_unique<ScaleAdaptedSampler<ChainVector>>(ScaleAdaptedOptions{}, plan);
  MicrocanonicalOptions options;
  options.step_size = 0.05;
  if (name.starts_with("psmile")) options.preconditioner = PreconditionerOptions{};
  if (name.ends_with("-auto")) {
    options.rule = StepSizeRule::turn;
    options.tuner.reset_prob = 0.9;  // so that there are refused steps to resume across
  }
  if (name.ends_with("-refreshed")) options.decoherence_length = 2;
  return std::make_unique<MicrocanonicalSampler<ChainVector>>(options, plan);
}

inline ChainSetup make_chain(const std::string& sampler, const SamplingPlan& plan, std::uint32_t chain) {
  ChainSetup setup;
  setup.target = std::make_unique<NoisyGaussian>(chain);
  setup.sampler = make_sampler(sampler, plan);
  setup.start = ChainVector(kDimension);
  for (std::size_t i = 0; i < kDimension; ++i) setup.start[i] = 0.1f * float(i + 1) + 0.01f * float(chain);
  setup.training_log_likelihood = [](const ChainVector& x) { return -double(x[0]); };
  return setup;
}

using Folder = test::TemporaryFolder;

inline std::string bytes_of(const std::filesystem::path& path) {
  return test::content_of(path);
}

inline EnsembleOptions options_for(const std::filesystem::path& directory, std::uint32_t chains,
                                   std::size_t threads) {
  EnsembleOptions options;
  options.directory = directory;
  for (std::uint32_t c = 0; c < chains; ++c) options.chains.push_back(c);
  options.seed = 42;
  options.thinning = 3;
  options.keep_warmup = true;
  options.threads = threads;
  options.digest = "toy";
  return options;
}

}  // namespace smile::toy

// SPDX-License-Identifier: Apache-2.0
#include "smile/config/sampler_factory.hpp"

#include <algorithm>

#include "config/make_sampler.hpp"

namespace smile {

std::size_t batches_per_epoch(const SamplerConfig& config, std::size_t observations) {
  if (!config.is_stochastic() || !config.batch_size) return 1;
  return BatchOrder::batches_in_epoch(observations, std::size_t(*config.batch_size), config.batches);
}

void check_batches(const SamplerConfig& config, std::size_t observations, const std::string& place) {
  if (!config.turns() || batches_per_epoch(config, observations) >= 2) return;
  throw Error(place,
              "an epoch of " + std::to_string(observations) +
                  " training rows is one batch, and the turning-angle rule needs the noise of mini-batches",
              "write at most " + std::to_string(std::max<std::size_t>(1, observations / 2)) +
                  ", or use the sampler mclmc");
}

std::uint64_t gradients_of(const SamplerConfig& config, std::uint64_t steps) {
  if (config.is_stochastic_microcanonical())
    return gradients_of(experiment::microcanonical_of(config, 1), steps);
  if (config.row().dynamics == Dynamics::mclmc) return gradients_of(experiment::mclmc_of(config), steps);
  if (config.row().adjusted()) return gradients_of(experiment::adjusted_of(config), steps);
  if (config.row().dynamics == Dynamics::laplace) return 0;
  if (config.row().dynamics == Dynamics::ivon)
    steps = std::min(steps, std::uint64_t(config.warmup_steps) * std::uint64_t(config.n_integration_steps));
  return gradients_of(config.step, steps);
}

RunLengths make_run_lengths(const SamplerConfig& config, std::size_t observations) {
  RunLengths lengths;
  std::uint64_t times = config.row().adjusted() ? 1 : std::uint64_t(config.n_integration_steps);
  if (config.epoch_wise_sampling && config.is_stochastic() && config.batch_size)
    times *= std::max<std::uint64_t>(1, observations / std::uint64_t(*config.batch_size));
  const bool warms_up = config.row().dynamics != Dynamics::laplace;
  lengths.plan.warmup_steps = warms_up ? std::uint64_t(config.warmup_steps) * times : 0;
  lengths.plan.sampling_steps = std::uint64_t(config.n_samples) * times;
  lengths.thinning = std::uint64_t(config.n_thinning) * times;
  return lengths;
}

std::unique_ptr<Sampler<HostVector<float>>> make_sampler(const SamplerConfig& config,
                                                         const SamplingPlan& plan, std::size_t observations) {
  return experiment::make_sampler_of<HostVector<float>>(config, plan, observations);
}

}  // namespace smile

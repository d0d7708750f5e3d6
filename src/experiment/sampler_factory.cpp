#include "smile/experiment/sampler_factory.hpp"

#include <algorithm>
#include <cmath>

#include "experiment/make_sampler.hpp"

namespace smile {

std::size_t batches_per_epoch(const SamplerConfig& config, std::size_t observations) {
  if (!config.is_stochastic() || !config.batch_size) return 1;
  const double ratio = double(observations) / double(*config.batch_size);
  if (config.batches == "even") return std::max<std::size_t>(1, std::size_t(std::lround(ratio)));
  if (config.batches == "keep") return std::max<std::size_t>(1, std::size_t(std::ceil(ratio)));
  return std::max<std::size_t>(1, std::size_t(std::floor(ratio)));
}

RunLengths make_run_lengths(const SamplerConfig& config, std::size_t observations) {
  RunLengths lengths;
  std::uint64_t times = 1;
  if (config.epoch_wise_sampling && config.is_stochastic() && config.batch_size)
    times = std::max<std::uint64_t>(1, observations / std::uint64_t(*config.batch_size));
  lengths.plan.warmup_steps = std::uint64_t(config.warmup_steps) * times;
  lengths.plan.sampling_steps = std::uint64_t(config.n_samples) * times;
  lengths.thinning = std::uint64_t(config.n_thinning) * times;
  return lengths;
}

std::unique_ptr<Sampler<HostVector<float>>> make_sampler(const SamplerConfig& config,
                                                         const SamplingPlan& plan, std::size_t observations) {
  return experiment::make_sampler_of<HostVector<float>>(config, plan, observations);
}

std::unique_ptr<Sampler<HostVector<double>>> make_sampler_double(const SamplerConfig& config,
                                                                 const SamplingPlan& plan,
                                                                 std::size_t observations) {
  return experiment::make_sampler_of<HostVector<double>>(config, plan, observations);
}

}  // namespace smile

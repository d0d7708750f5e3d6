/// From a configuration to the sampler of one chain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "smile/experiment/config.hpp"
#include "smile/kernels/host_vector.hpp"
#include "smile/samplers/sampler.hpp"

namespace smile {

/// Steps of a run, with `epoch_wise_sampling` carried out: warm-up, samples and thinning times floor(N/B).
struct RunLengths {
  SamplingPlan plan;
  std::uint64_t thinning = 1;
};

/// @param observations  N, rows of the training split (≥ 1)
RunLengths make_run_lengths(const SamplerConfig& config, std::size_t observations);

/// Batches in an epoch, 1 for full-batch samplers and where the batch holds all rows (spec 1.1).
std::size_t batches_per_epoch(const SamplerConfig& config, std::size_t observations);

/// The sampler of one chain, not started. Throws Error where the configuration asks for what cannot work with
/// this data: the turning-angle rule with one batch an epoch (there is no mini-batch noise to follow,
/// spec 1.13).
std::unique_ptr<Sampler<HostVector<float>>> make_sampler(const SamplerConfig& config,
                                                         const SamplingPlan& plan, std::size_t observations);
/// The same in double precision, for tests and for densities that need it.
std::unique_ptr<Sampler<HostVector<double>>> make_sampler_double(const SamplerConfig& config,
                                                                 const SamplingPlan& plan,
                                                                 std::size_t observations);

}  // namespace smile

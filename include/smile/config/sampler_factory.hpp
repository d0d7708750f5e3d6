// SPDX-License-Identifier: Apache-2.0
/// From a configuration to the sampler of one chain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "smile/config/config.hpp"
#include "smile/kernels/host_vector.hpp"
#include "smile/samplers/sampler.hpp"

namespace smile {

/// Steps of a run, with `epoch_wise_sampling` and `n_integration_steps` carried out: warm-up, samples and
/// thinning times floor(N/B), times the steps a sample.
struct RunLengths {
  SamplingPlan plan;
  std::uint64_t thinning = 1;
};

/// @param observations  N, rows of the training split (≥ 1)
RunLengths make_run_lengths(const SamplerConfig& config, std::size_t observations);

/// The turning-angle rule follows the noise of mini-batches (spec 1.13).
/// @param place  of the message  @throws Error where one batch holds all rows and the rule is on
void check_batches(const SamplerConfig& config, std::size_t observations,
                   const std::string& place = "training.sampler.batch_size");

/// The maker of a row for a sampler with one gradient a step that needs no options but those all have.
template <template <class> class OneGradientSampler>
std::unique_ptr<Sampler<HostVector<float>>> make_gradient_step(const SamplerConfig& config,
                                                               const SamplingPlan& plan, std::size_t) {
  return std::make_unique<OneGradientSampler<HostVector<float>>>(config.step, plan);
}

/// New gradients of a chain's steps 1 … `steps`, as the sampler itself counts them.
std::uint64_t gradients_of(const SamplerConfig& config, std::uint64_t steps);

/// Batches in an epoch, 1 for full-batch samplers and where the batch holds all rows (spec 1.1).
std::size_t batches_per_epoch(const SamplerConfig& config, std::size_t observations);

/// The sampler of one chain, not started. Throws Error where the configuration asks for what cannot work with
/// this data: the turning-angle rule with one batch an epoch (there is no mini-batch noise to follow,
/// spec 1.13).
std::unique_ptr<Sampler<HostVector<float>>> make_sampler(const SamplerConfig& config,
                                                         const SamplingPlan& plan, std::size_t observations);

}  // namespace smile

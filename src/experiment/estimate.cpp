// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "smile/config/sampler_factory.hpp"
#include "smile/experiment/estimate.hpp"
#include "smile/files/draws.hpp"

namespace smile {
namespace {

constexpr double kFlopsPerSecond = 50e9, kBytesPerSecond = 8e9, kSecondsPerStep = 1e-6;
/// A member in training: parameters, gradient, two moments, the best epoch, and one on the way to its file. A
/// checkpoint on disk: at most 7 vectors (mclmc), kept twice and written once more.
constexpr double kMemberVectors = 8, kCheckpointVectors = 3 * 7;
constexpr double kProgramBytes = 32e6;

void estimate_space(const Config& config, const RunSize& size, std::uint64_t warmup_draws,
                    RunEstimate& estimate) {
  const SamplerConfig& sampler = config.training.sampler;
  const double chains = static_cast<double>(sampler.n_chains);
  const double vector = static_cast<double>(size.dimension) * sizeof(float);
  estimate.members_bytes = chains * vector;
  estimate.chain_bytes = sampler.row().vectors * vector + size.workspace_bytes;
  estimate.optimiser_bytes =
      config.training.warmstart.trains() ? kMemberVectors * vector + size.workspace_bytes : 0;
  estimate.device_bytes = size.device_bytes;
  if (size.device_bytes) {
    constexpr double kUsable = 0.9;  // the rest for the device's own context and workspaces
    const double one = std::max(estimate.chain_bytes, estimate.optimiser_bytes);
    const double fit = std::floor(kUsable * *size.device_bytes / one);
    estimate.chains_at_once = std::size_t(std::min(double(estimate.chains_at_once), fit));
  }
  const double at_once = double(estimate.chains_at_once);
  estimate.data_bytes = size.data_bytes;
  estimate.memory_bytes = kProgramBytes + estimate.data_bytes + estimate.members_bytes +
                          at_once * std::max(estimate.chain_bytes, estimate.optimiser_bytes);

  double stored = static_cast<double>(estimate.stored_per_chain) + static_cast<double>(sampler.burn_in);
  const double kept = stored;
  if (sampler.keep_warmup) stored += static_cast<double>(warmup_draws);
  estimate.draws_bytes = chains * stored * static_cast<double>(size.dimension) *
                         static_cast<double>(bytes_of(sampler.draws_dtype));
  estimate.warmstart_bytes = estimate.members_bytes;
  estimate.checkpoint_bytes = at_once * kCheckpointVectors * vector;
  if (config.evaluates({EvaluationPart::outputs}))
    estimate.outputs_bytes = chains * kept * size.outputs_of_draw * sizeof(float);
  estimate.disk_bytes =
      estimate.draws_bytes + estimate.warmstart_bytes + estimate.outputs_bytes + estimate.checkpoint_bytes;
}

void estimate_time(const Config& config, const RunSize& size, RunEstimate& estimate) {
  if (size.flops_per_row <= 0 && !size.seconds_per_row) return;
  const double row = size.seconds_per_row.value_or(size.flops_per_row / kFlopsPerSecond);
  const SamplerConfig& sampler = config.training.sampler;
  const double d = static_cast<double>(size.dimension), rows = static_cast<double>(size.training_rows);
  const double rounds = std::ceil(static_cast<double>(sampler.n_chains) /
                                  double(std::max<std::size_t>(1, estimate.chains_at_once)));
  const double batch = sampler.is_stochastic() && sampler.batch_size
                           ? std::min(rows, static_cast<double>(*sampler.batch_size))
                           : rows;
  const double gradient = batch * row + d * 24 / kBytesPerSecond;
  const double step = d * 48 / kBytesPerSecond + kSecondsPerStep;
  estimate.sampling_seconds = rounds * (static_cast<double>(estimate.gradients_per_chain) * gradient +
                                        static_cast<double>(estimate.steps_per_chain) * step);
  const WarmstartConfig& warmstart = config.training.warmstart;
  if (!warmstart.trains()) return;
  const double updates =
      warmstart.member.batch_size ? std::ceil(rows / static_cast<double>(*warmstart.member.batch_size)) : 1;
  const double epoch = rows * row + updates * (d * 40 / kBytesPerSecond + kSecondsPerStep);
  estimate.warmstart_seconds = rounds * static_cast<double>(warmstart.member.max_epochs) * epoch;
}

}  // namespace

RunEstimate estimate_run(const Config& config, const RunSize& size, int threads) {
  const SamplerConfig& sampler = config.training.sampler;
  RunEstimate estimate;
  estimate.dimension = size.dimension;
  const RunLengths lengths = make_run_lengths(sampler, size.training_rows);
  estimate.steps_per_chain = lengths.plan.warmup_steps + lengths.plan.sampling_steps;
  const std::uint64_t stored = (lengths.plan.sampling_steps + lengths.thinning - 1) / lengths.thinning;
  estimate.stored_per_chain =
      stored - std::min<std::uint64_t>(stored, static_cast<std::uint64_t>(sampler.burn_in));
  estimate.gradients_per_chain = gradients_of(sampler, estimate.steps_per_chain);
  estimate.chains_at_once =
      static_cast<std::size_t>(std::min<std::int64_t>(sampler.n_chains, std::max(threads, 1)));
  estimate_space(config, size, (lengths.plan.warmup_steps + lengths.thinning - 1) / lengths.thinning,
                 estimate);
  estimate_time(config, size, estimate);
  return estimate;
}

RunEstimate estimate_run(const Config& config, std::size_t training_rows, std::size_t inputs, int threads) {
  RunSize size;
  double width = static_cast<double>(inputs), weights = 0;
  for (const std::int64_t next : config.model.hidden_structure) {
    const auto outputs = static_cast<std::size_t>(next);
    weights += width * static_cast<double>(outputs);
    size.dimension += static_cast<std::size_t>(width) * outputs + (config.model.use_bias ? outputs : 0);
    width = static_cast<double>(outputs);
  }
  if (config.task() == Task::mean_regression) size.dimension += 1;
  size.training_rows = training_rows;
  constexpr double kBytesPerCell = 8 + 2 * 4;  // the table, and the engine's two forms of it
  size.data_bytes = static_cast<double>(training_rows) * (static_cast<double>(inputs) + 1) * kBytesPerCell;
  size.flops_per_row = 6 * weights;  // forward 2, backward 4 a weight
  return estimate_run(config, size, threads);
}

}  // namespace smile

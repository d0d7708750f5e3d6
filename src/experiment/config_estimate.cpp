#include <algorithm>
#include <cmath>

#include "smile/data/draws.hpp"
#include "smile/experiment/estimate.hpp"
#include "smile/experiment/sampler_factory.hpp"

namespace smile {
namespace {

constexpr double kFlopsPerSecond = 50e9, kBytesPerSecond = 8e9, kSecondsPerStep = 1e-6;

/// New gradients in a step (spec 1.5, 1.9).
double gradients_per_step(const SamplerConfig& sampler, bool warmup) {
  if (sampler.name == "adasghmc" || sampler.name == "rmsprop-sghmc") return warmup ? 2 : 1;
  if (!sampler.is_stochastic_microcanonical() && sampler.name != "mclmc") return 1;
  double gradients = 1;
  if (sampler.integrator == "mclachlan") gradients = 2;
  if (sampler.integrator == "three-stage") gradients = 3;
  return gradients + (sampler.is_stochastic() && sampler.energy == "fresh" ? 1 : 0);
}

}  // namespace

RunEstimate estimate_run(const Config& config, std::size_t training_rows, std::size_t inputs, int threads) {
  const SamplerConfig& sampler = config.training.sampler;
  RunEstimate estimate;
  double width = static_cast<double>(inputs), weights = 0;
  for (const std::int64_t next : config.model.hidden_structure) {
    const auto outputs = static_cast<std::size_t>(next);
    weights += width * static_cast<double>(outputs);
    estimate.dimension += static_cast<std::size_t>(width) * outputs + (config.model.use_bias ? outputs : 0);
    width = static_cast<double>(outputs);
  }
  if (config.task() == Task::mean_regression) estimate.dimension += 1;

  const RunLengths lengths = make_run_lengths(sampler, training_rows);
  estimate.steps_per_chain = lengths.plan.warmup_steps + lengths.plan.sampling_steps;
  const std::uint64_t stored = (lengths.plan.sampling_steps + lengths.thinning - 1) / lengths.thinning;
  estimate.stored_per_chain =
      stored - std::min<std::uint64_t>(stored, static_cast<std::uint64_t>(sampler.burn_in));
  estimate.gradients_per_chain = static_cast<std::uint64_t>(
      gradients_per_step(sampler, true) * static_cast<double>(lengths.plan.warmup_steps) +
      gradients_per_step(sampler, false) * static_cast<double>(lengths.plan.sampling_steps));

  const double d = static_cast<double>(estimate.dimension), rows = static_cast<double>(training_rows);
  const double chains = static_cast<double>(sampler.n_chains);
  const double at_once = std::min(chains, static_cast<double>(std::max(threads, 1)));
  const double rounds = std::ceil(chains / at_once);
  estimate.draws_bytes = chains * static_cast<double>(estimate.stored_per_chain) * d *
                         static_cast<double>(bytes_of(draws_type(sampler.draws_dtype)));
  // Per chain at work: position, velocity, gradients, scales, copies of the last state; the table and the
  // engine's two forms of it once.
  constexpr double kVectors = 14, kBytesPerCell = 8 + 2 * 4;
  estimate.memory_bytes = at_once * kVectors * d * sizeof(float) +
                          rows * (static_cast<double>(inputs) + 1) * kBytesPerCell + 16e6;

  const double batch = sampler.is_stochastic() && sampler.batch_size
                           ? std::min(rows, static_cast<double>(*sampler.batch_size))
                           : rows;
  const double flops_per_row = 6 * weights;  // forward 2, backward 4 a weight
  const double gradient = batch * flops_per_row / kFlopsPerSecond + d * 24 / kBytesPerSecond;
  const double step = d * 48 / kBytesPerSecond + kSecondsPerStep;
  estimate.sampling_seconds = rounds * (static_cast<double>(estimate.gradients_per_chain) * gradient +
                                        static_cast<double>(estimate.steps_per_chain) * step);
  const WarmstartConfig& warmstart = config.training.warmstart;
  if (warmstart.include && !warmstart.warmstart_exp_dir) {
    const double updates =
        warmstart.batch_size ? std::ceil(rows / static_cast<double>(*warmstart.batch_size)) : 1;
    const double epoch =
        rows * flops_per_row / kFlopsPerSecond + updates * (d * 40 / kBytesPerSecond + kSecondsPerStep);
    estimate.warmstart_seconds = rounds * static_cast<double>(warmstart.max_epochs) * epoch;
  }
  return estimate;
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include "smile/diagnosis/chains_file.hpp"

#include <cmath>

#include "evaluation/json_fields.hpp"
#include "run/json_file.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/run/run_paths.hpp"

namespace smile {

template <>
struct JsonFields<StepsReport> {
  static void visit(auto& field, auto& steps) {
    field("steps", steps.steps);
    field("gradients", steps.gradients);
    field("refused", steps.refused);
    field("refused_by_cause", steps.refused_by_cause);
    field("refusal_frequency", steps.refusal_frequency);
    field("mean_step_size", steps.mean_step_size);
    field("mean_turn_angle", steps.mean_turn_angle);
    field("gradient_rms", steps.gradient_rms);
    field("implied_decoherence_length", steps.implied_decoherence_length);
    field("same_batch_energy_variance_per_dim", steps.same_batch_energy_variance);
  }
};

template <>
struct JsonFields<EnergyReport> {
  static void visit(auto& field, auto& energy) {
    field("finite", energy.finite);
    field("log10_first_edge", energy.log10_first_edge);
    field("log10_bin_width", energy.log10_bin_width);
    field("counts", energy.counts);
    field("gamma_shape", energy.gamma_shape);
    field("gamma_scale", energy.gamma_scale);
    field("kolmogorov_distance", energy.kolmogorov_distance);
  }
};

template <>
struct JsonFields<ChainReport> {
  static void visit(auto& field, auto& chain) {
    field("chain", chain.chain);
    field("status", chain.status);
    field("reason", chain.reason);
    field("steps", chain.steps);
    field("warmup_steps", chain.warmup_steps);
    field("total_steps", chain.total_steps);
    field("draws_stored", chain.draws_stored);
    field("draws_evaluated", chain.score.draws);
    field("seconds", chain.seconds);
    field("steps_per_second", chain.steps_per_second);
    field("gradients_per_second", chain.gradients_per_second);
    field("test_lppd", chain.score.lppd);
    field("test_rmse", chain.score.rmse);
    field("start_test_lppd", chain.score.start_lppd);
    field("training_log_likelihood", chain.training_log_likelihood);
    field("position_norm2_per_dim", chain.position_norm2_per_dim);
    field("step_size_first", chain.step_size_first);
    field("step_size_after_warmup", chain.step_size_after_warmup);
    field("step_size_last", chain.step_size_last);
    field("warmup", chain.warmup);
    field("sampling", chain.sampling);
    field("energy_error", chain.energy);
    field("tuned", chain.tuned);
    field("findings", chain.findings);
  }
};

namespace {

const char* status_of(const ChainRecord& record) {
  switch (record.status) {
    case ChainStatus::complete:
      return "complete";
    case ChainStatus::failed:
      return "failed";
    case ChainStatus::running:
      break;
  }
  return "incomplete";
}

StepsReport report_of(const StepSums& sums, double dimension) {
  StepsReport out;
  out.steps = sums.steps, out.gradients = sums.gradients, out.refused = sums.refused();
  for (std::size_t i = 1; i < kRefusalKinds; ++i)
    if (sums.refusals[i] > 0)
      out.refused_by_cause.emplace_back(std::string(name_of(Refusal(i))), sums.refusals[i]);
  if (sums.steps > 0) out.refusal_frequency = double(sums.refused()) / double(sums.steps);
  out.mean_step_size = sums.mean_step_size();
  out.mean_turn_angle = sums.mean_turn_angle();
  out.gradient_rms = sums.gradient_rms(dimension);
  out.implied_decoherence_length = sums.implied_decoherence_length();
  out.same_batch_energy_variance = sums.same_batch_energy_variance(dimension);
  return out;
}

EnergyReport report_of(const EnergyErrors& energy, const ChainMonitor& monitor) {
  const auto& counts = energy.counts;
  std::size_t first = 0, last = counts.size();
  while (first < last && counts[first] == 0) ++first;
  while (last > first && counts[last - 1] == 0) --last;
  const double width = (EnergyErrors::kHighest - EnergyErrors::kLowest) / double(EnergyErrors::kBins);
  return {.finite = energy.finite,
          .log10_first_edge = EnergyErrors::kLowest + double(first) * width,
          .log10_bin_width = width,
          .counts = {counts.begin() + std::ptrdiff_t(first), counts.begin() + std::ptrdiff_t(last)},
          .gamma_shape = monitor.gamma_shape,
          .gamma_scale = monitor.gamma_scale,
          .kolmogorov_distance = energy.kolmogorov_distance()};
}

}  // namespace

ChainReport report_of(const ChainRecord& record, const experiment::ChainScore& score) {
  const ChainMonitor& monitor = record.monitor;
  ChainReport out;
  out.chain = record.chain;
  out.status = status_of(record), out.reason = record.reason;
  out.steps = record.step, out.warmup_steps = record.warmup_steps, out.total_steps = record.total_steps;
  out.draws_stored = record.stored;
  out.score = score;
  out.seconds = record.seconds;
  if (record.seconds > 0) {
    out.steps_per_second = double(record.step) / record.seconds;
    out.gradients_per_second = double(monitor.warmup.gradients + monitor.sampling.gradients) / record.seconds;
  }
  out.training_log_likelihood = monitor.training_log_likelihood;
  out.position_norm2_per_dim = monitor.squared_norm_per_dim;
  out.step_size_first = monitor.first_step_size;
  out.step_size_after_warmup = monitor.warmup_end_step_size;
  out.step_size_last = monitor.last_step_size;
  out.warmup = report_of(monitor.warmup, double(record.dimension));
  out.sampling = report_of(monitor.sampling, double(record.dimension));
  out.energy = report_of(monitor.energy, monitor);
  out.tuned = record.tuned, out.findings = record.findings;
  return out;
}

void write_chains(const std::filesystem::path& run, std::span<const ChainReport> chains) {
  const std::vector<ChainReport> all(chains.begin(), chains.end());
  write_file_atomically(RunPaths(run).chains(), json_fields::write(all).dump(1) + "\n");
}

std::vector<ChainReport> read_chains(const std::filesystem::path& run) {
  std::vector<ChainReport> chains;
  json_fields::read(run::read_json(RunPaths(run).chains()), chains);
  return chains;
}

}  // namespace smile

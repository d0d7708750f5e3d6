#include "diagnosis/chain_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "diagnosis/limits.hpp"
#include "smile/statistics/summaries.hpp"

namespace smile::experiment {
namespace {

using nlohmann::ordered_json;

const char* name_of(ChainStatus status) {
  switch (status) {
    case ChainStatus::complete:
      return "complete";
    case ChainStatus::failed:
      return "failed";
    case ChainStatus::running:
      break;
  }
  return "incomplete";
}

ordered_json json_of(const StepSums& sums, double dimension) {
  ordered_json refusals = ordered_json::object();
  for (std::size_t i = 1; i < kRefusalKinds; ++i)
    if (sums.refusals[i] > 0) refusals[smile::name_of(Refusal(i))] = sums.refusals[i];
  return {{"steps", sums.steps},
          {"gradients", sums.gradients},
          {"refused", sums.refused()},
          {"refused_by_cause", refusals},
          {"refusal_frequency", sums.steps > 0 ? double(sums.refused()) / double(sums.steps) : NAN},
          {"mean_step_size", sums.mean_step_size()},
          {"mean_turn_angle", sums.mean_turn_angle()},
          {"gradient_rms", sums.gradient_rms(dimension)},
          {"implied_decoherence_length", sums.implied_decoherence_length()},
          {"same_batch_energy_variance_per_dim", sums.same_batch_energy_variance(dimension)}};
}

ordered_json json_of(const EnergyErrors& energy, const ChainMonitor& monitor) {
  // Empty bins at both ends are left out.
  const auto& counts = energy.counts;
  std::size_t first = 0, last = counts.size();
  while (first < last && counts[first] == 0) ++first;
  while (last > first && counts[last - 1] == 0) --last;
  const double width = (EnergyErrors::kHighest - EnergyErrors::kLowest) / double(EnergyErrors::kBins);
  return {{"finite", energy.finite},
          {"log10_first_edge", EnergyErrors::kLowest + double(first) * width},
          {"log10_bin_width", width},
          {"counts", std::vector<std::uint64_t>(counts.begin() + std::ptrdiff_t(first),
                                                counts.begin() + std::ptrdiff_t(last))},
          {"gamma_shape", monitor.gamma_shape},
          {"gamma_scale", monitor.gamma_scale},
          {"kolmogorov_distance", energy.kolmogorov_distance()}};
}

}  // namespace

double nothing_learned(const DatasetInfo& info, bool scaled) {
  if (info.text) return -std::log(double(info.text->vocabulary.size()));
  if (info.labels.classes() > 0) return -std::log(double(info.labels.classes()));
  return scaled ? -0.5 * (std::log(2 * std::numbers::pi) + 1) : NAN;  // mean 0 and spread 1
}

TrainingRows training_rows_of(const DatasetInfo& info, bool scaled) {
  TrainingRows rows;
  rows.nothing_learned = nothing_learned(info, scaled);
  if (info.text) {
    const TextInfo& text = *info.text;  // an observation is a window
    rows.count = std::size_t(std::lround(double(text.train_end - text.train_begin) / double(text.context)));
    rows.nothing_learned *= double(text.context);
    return rows;
  }
  rows.count = info.train_rows.size();
  return rows;
}

AstrayChains find_astray(std::span<const ChainRecord> records, std::span<const ChainScore> scores,
                         const TrainingRows& rows) {
  std::vector<double> likelihoods, errors;
  for (const auto& record : records)
    if (const double own = rows.per_row(record.monitor.training_log_likelihood);
        record.status == ChainStatus::complete && std::isfinite(own))
      likelihoods.push_back(own);
  for (const auto& score : scores)
    if (std::isfinite(score.rmse)) errors.push_back(score.rmse);
  const double usual = likelihoods.empty() ? NAN : quantile(likelihoods, 0.5);
  const double usual_error = errors.empty() ? NAN : quantile(errors, 0.5);
  AstrayChains out{{}, usual};
  for (std::size_t i = 0; i < records.size(); ++i) {
    Astray& astray = out.chains.emplace_back();
    if (records[i].status != ChainStatus::complete) continue;
    const ChainScore& score = scores[i];
    const double own = rows.per_row(records[i].monitor.training_log_likelihood);
    // What is not a number compares as false: it has to be asked for.
    const bool poor = rows.count > 0 && (!std::isfinite(own) || usual - own > diagnosis::kDeficit);
    const bool off = score.draws > 0 && (!std::isfinite(score.lppd) || score.rmse > 2 * usual_error ||
                                         (!errors.empty() && !std::isfinite(score.rmse)));
    astray.apart = poor || off;
    astray.worse_than_nothing = own < rows.nothing_learned;
    astray.worse_than_start = score.draws > 0 && score.start_lppd - score.lppd > diagnosis::kDeficit;
  }
  return out;
}

std::string chains_json(std::span<const ChainRecord> records, std::span<const ChainScore> scores) {
  ordered_json out = ordered_json::array();
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto& record = records[i];
    const auto& monitor = record.monitor;
    const double d = double(record.dimension);
    ordered_json tuned = ordered_json::object();
    for (const auto& [name, value] : record.tuned) tuned[name] = value;
    out.push_back(
        {{"chain", record.chain},
         {"status", name_of(record.status)},
         {"reason", record.reason},
         {"steps", record.step},
         {"warmup_steps", record.warmup_steps},
         {"total_steps", record.total_steps},
         {"draws_stored", record.stored},
         {"draws_evaluated", scores[i].draws},
         {"seconds", record.seconds},
         {"steps_per_second", record.seconds > 0 ? double(record.step) / record.seconds : NAN},
         {"gradients_per_second",
          record.seconds > 0 ? double(monitor.warmup.gradients + monitor.sampling.gradients) / record.seconds
                             : NAN},
         {"test_lppd", scores[i].lppd},
         {"test_rmse", scores[i].rmse},
         {"start_test_lppd", scores[i].start_lppd},
         {"training_log_likelihood", monitor.training_log_likelihood},
         {"position_norm2_per_dim", monitor.squared_norm_per_dim},
         {"step_size_first", monitor.first_step_size},
         {"step_size_after_warmup", monitor.warmup_end_step_size},
         {"step_size_last", monitor.last_step_size},
         {"warmup", json_of(monitor.warmup, d)},
         {"sampling", json_of(monitor.sampling, d)},
         {"energy_error", json_of(monitor.energy, monitor)},
         {"tuned", tuned},
         {"findings", record.findings}});
  }
  return out.dump(1) + "\n";
}

}  // namespace smile::experiment

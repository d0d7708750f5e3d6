// SPDX-License-Identifier: Apache-2.0
#include "smile/diagnosis/chain_report.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "diagnosis/limits.hpp"
#include "smile/statistics/summaries.hpp"

namespace smile::experiment {

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

}  // namespace smile::experiment

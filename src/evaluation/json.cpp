// SPDX-License-Identifier: Apache-2.0
#include "smile/evaluation/json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "smile/evaluation/metrics.hpp"

namespace smile {

namespace {

using Json = nlohmann::ordered_json;

Json of(const std::optional<PredictionPlace>& place) {
  if (!place) return nullptr;
  return {{"chain", place->chain}, {"draw", place->draw}, {"row", place->row}};
}

/// The numbers that tables have, too.
void put(Json& out, const MetricSources& sources) {
  for (const MetricInfo& row : metrics())
    if (!row.field.empty() && row.value)
      if (const auto value = row.value(sources)) out[std::string(row.field)] = *value;
}

/// The LPPDs stand beside the other metrics, not in an object of their own.
void put(Json& out, const LppdMetrics& lppd) {
  out["nll"] = lppd.nll;
  out["chainwise_lppd"] = lppd.chainwise;
  out["sequential_lppd"] = lppd.sequential;
  out["running_lppd"] = {{"samples", lppd.running.samples}, {"lppd", lppd.running.lppd}};
}

Json of(const Reliability& reliability) {
  return {{"ece", reliability.ece},
          {"count", reliability.count},
          {"accuracy", reliability.accuracy},
          {"confidence", reliability.confidence}};
}

Json of(const Spread& spread) {
  return {{"count", spread.count},   {"missing", spread.missing}, {"min", spread.min}, {"q05", spread.lower},
          {"median", spread.median}, {"q95", spread.upper},       {"max", spread.max}};
}

Json of(const QuantityDiagnostics& q) {
  Json chainwise = Json::array();
  for (const ChainwiseRhat& r : q.chainwise) chainwise.push_back(r.rhat);
  const Convergence& c = q.convergence;
  Json out = {{"name", q.name},
              {"mean", q.mean},
              {"sd", q.sd},
              {"rhat", c.rhat},
              {"rhat_bulk", c.rhat_bulk},
              {"rhat_tail", c.rhat_tail},
              {"rhat_split", c.rhat_split},
              {"ess_mean", c.ess_mean},
              {"ess_bulk", c.ess_bulk},
              {"ess_tail", c.ess_tail},
              {"chainwise_rhat", std::move(chainwise)},
              {"between_variance", q.variance.between},
              {"within_variance", q.variance.within}};
  if (c.condition != DrawsCondition::usual) out["reason"] = reason(c.condition);
  if (c.place)
    out[c.condition == DrawsCondition::still_chain ? "still_from"
        : c.condition == DrawsCondition::nan_draw  ? "nan_draw"
                                                   : "infinite_draw"] = {{"chain", c.place->chain},
                                                                        {"draw", c.place->draw}};
  return out;
}

std::string text(const Json& json) {
  return json.dump(1) + "\n";
}

}  // namespace

std::string to_json(const RegressionMetrics& m, bool) {
  Json out;
  out["points"] = m.points;
  out["draws_per_chain"] = m.draws_per_chain;
  put(out, MetricSources{.regression = &m});
  put(out, m.lppd);
  out["chainwise_rmse"] = m.chainwise_rmse;
  Json intervals = Json::array();
  for (const IntervalCoverage& c : m.intervals)
    intervals.push_back({{"nominal", c.nominal}, {"observed", c.observed}, {"width", c.width}});
  out["intervals"] = std::move(intervals);
  out["interval_draws"] = m.interval_draws;
  out["nonfinite"] = of(m.nonfinite);
  return text(out);
}

std::string to_json(const ClassificationMetrics& m, bool per_point) {
  Json out;
  out["points"] = m.points;
  out["classes"] = m.classes;
  out["draws_per_chain"] = m.draws_per_chain;
  put(out, MetricSources{.classification = &m});
  put(out, m.lppd);
  out["majority_accuracy"] = m.majority_accuracy;
  out["aurc"] = m.aurc;
  out["reliability"] = of(m.reliability);
  out["true_class_reliability"] = of(m.true_class_reliability);
  if (per_point) {
    out["majority_vote"] = m.majority_vote;
    out["entropy"] = m.entropy;
    out["mutual_information"] = m.mutual_information;
  }
  out["nonfinite"] = of(m.nonfinite);
  return text(out);
}

std::string to_json(const DeepEnsembleRegression& m, bool per_point) {
  Json out;
  out["lppd_spread"] = m.lppd_spread;
  out["lppd_residual"] = m.lppd_residual;
  out["rmse"] = m.rmse;
  if (per_point) out["spread"] = m.spread;
  return text(out);
}

std::string to_json(const DiagnosticsSummary& s) {
  Json out;
  out["quantities"] = s.quantities;
  out["constant"] = s.constant;
  out["with_nan"] = s.with_nan;
  out["with_infinite"] = s.with_infinite;
  out["with_still_chain"] = s.with_still_chain;
  out["rhat"] = of(s.rhat);
  out["ess_bulk"] = of(s.ess_bulk);
  out["ess_tail"] = of(s.ess_tail);
  out["chainwise_rhat"] = of(s.chainwise_rhat);
  out["chain_median_rhat"] = s.chain_median_rhat;
  out["chain_still"] = s.chain_still;
  return text(out);
}

std::string to_json(std::span<const QuantityDiagnostics> quantities) {
  Json out = Json::array();
  for (const QuantityDiagnostics& q : quantities) out.push_back(of(q));
  return text(out);
}

}  // namespace smile

#include "smile/evaluation/json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace smile {

namespace {

using Json = nlohmann::ordered_json;

/// JSON has no non-finite numbers.
Json of(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json of(const std::vector<double>& values) {
  Json out = Json::array();
  for (double v : values) out.push_back(of(v));
  return out;
}

/// For entries that do not apply, such as the accuracy in an empty bin.
Json nan_as_null(const std::vector<double>& values) {
  Json out = Json::array();
  for (double v : values) out.push_back(std::isnan(v) ? Json(nullptr) : of(v));
  return out;
}

Json of(const std::optional<PredictionPlace>& place) {
  if (!place) return nullptr;
  return {{"chain", place->chain}, {"draw", place->draw}, {"row", place->row}};
}

/// The LPPDs stand beside the other metrics, not in an object of their own.
void put(Json& out, const LppdMetrics& lppd) {
  out["lppd"] = of(lppd.lppd);
  out["nll"] = of(lppd.nll);
  out["chainwise_lppd"] = of(lppd.chainwise);
  out["sequential_lppd"] = of(lppd.sequential);
  out["running_lppd"] = {{"samples", lppd.running.samples}, {"lppd", of(lppd.running.lppd)}};
}

Json of(const Reliability& reliability) {
  return {{"ece", of(reliability.ece)},
          {"count", reliability.count},
          {"accuracy", nan_as_null(reliability.accuracy)},
          {"confidence", nan_as_null(reliability.confidence)}};
}

Json of(const Spread& spread) {
  return {{"count", spread.count},   {"missing", spread.missing},   {"min", of(spread.min)},
          {"q05", of(spread.lower)}, {"median", of(spread.median)}, {"q95", of(spread.upper)},
          {"max", of(spread.max)}};
}

Json of(const QuantityDiagnostics& q) {
  Json chainwise = Json::array();
  for (const ChainwiseRhat& r : q.chainwise) chainwise.push_back(of(r.rhat));
  const Convergence& c = q.convergence;
  Json out = {{"name", q.name},
              {"mean", of(q.mean)},
              {"sd", of(q.sd)},
              {"rhat", of(c.rhat)},
              {"rhat_bulk", of(c.rhat_bulk)},
              {"rhat_tail", of(c.rhat_tail)},
              {"rhat_split", of(c.rhat_split)},
              {"ess_mean", of(c.ess_mean)},
              {"ess_bulk", of(c.ess_bulk)},
              {"ess_tail", of(c.ess_tail)},
              {"chainwise_rhat", std::move(chainwise)},
              {"between_variance", of(q.variance.between)},
              {"within_variance", of(q.variance.within)}};
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

std::string to_json(const RegressionMetrics& m) {
  Json out;
  out["points"] = m.points;
  out["draws_per_chain"] = m.draws_per_chain;
  put(out, m.lppd);
  out["rmse"] = of(m.rmse);
  out["rmse_own_unit"] = of(m.rmse_own_unit);
  out["chainwise_rmse"] = of(m.chainwise_rmse);
  Json intervals = Json::array();
  for (const IntervalCoverage& c : m.intervals)
    intervals.push_back({{"nominal", c.nominal}, {"observed", of(c.observed)}, {"width", of(c.width)}});
  out["intervals"] = std::move(intervals);
  out["calibration_error"] = m.intervals.empty() ? Json(nullptr) : of(m.calibration_error);
  out["interval_draws"] = m.interval_draws;
  out["nonfinite"] = of(m.nonfinite);
  return text(out);
}

std::string to_json(const ClassificationMetrics& m, bool per_point) {
  Json out;
  out["points"] = m.points;
  out["classes"] = m.classes;
  out["draws_per_chain"] = m.draws_per_chain;
  put(out, m.lppd);
  out["perplexity"] = of(m.perplexity);
  out["accuracy"] = of(m.accuracy);
  out["majority_accuracy"] = of(m.majority_accuracy);
  out["brier"] = of(m.brier);
  out["auroc"] = of(m.auroc);
  out["aurc"] = of(m.aurc);
  out["ece"] = of(m.reliability.ece);
  out["f1"] = of(m.f1);
  out["reliability"] = of(m.reliability);
  out["true_class_reliability"] = of(m.true_class_reliability);
  out["mean_entropy"] = of(m.mean_entropy);
  out["mean_mutual_information"] = of(m.mean_mutual_information);
  if (per_point) {
    out["majority_vote"] = m.majority_vote;
    out["entropy"] = of(m.entropy);
    out["mutual_information"] = of(m.mutual_information);
  }
  out["nonfinite"] = of(m.nonfinite);
  return text(out);
}

std::string to_json(const DeepEnsembleRegression& m, bool per_point) {
  Json out;
  out["lppd_spread"] = of(m.lppd_spread);
  out["lppd_residual"] = of(m.lppd_residual);
  out["rmse"] = of(m.rmse);
  if (per_point) out["spread"] = of(m.spread);
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
  out["chain_median_rhat"] = of(s.chain_median_rhat);
  out["chain_still"] = s.chain_still;
  return text(out);
}

std::string to_json(std::span<const QuantityDiagnostics> quantities) {
  Json out = Json::array();
  for (const QuantityDiagnostics& q : quantities) out.push_back(of(q));
  return text(out);
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include "smile/evaluation/metrics.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <utility>

#include "smile/evaluation/ranking.hpp"

namespace smile {
namespace {

using Value = std::optional<double>;
using Sources = const MetricSources&;

/// A member of what a task's accumulator gives.
auto regression(double RegressionMetrics::*member) {
  return [member](Sources s) { return s.regression ? Value(s.regression->*member) : Value(); };
}
auto classification(double ClassificationMetrics::*member) {
  return [member](Sources s) { return s.classification ? Value(s.classification->*member) : Value(); };
}

Value lppd(Sources s) {
  if (s.regression) return s.regression->lppd.lppd;
  if (s.classification) return s.classification->lppd.lppd;
  return s.members ? Value(s.members->lppd_residual) : Value();
}

Value linear_lppd(Sources s) {
  if (s.linear_regression) return s.linear_regression->lppd.lppd;
  return s.linear_classification ? Value(s.linear_classification->lppd.lppd) : Value();
}

auto ood_auroc_of(std::vector<double> Novelty::*score) {
  return [score](Sources s) {
    // A log-density needs targets, which a set may not have.
    const bool known = s.inside && s.outside && !(s.inside->*score).empty() && !(s.outside->*score).empty();
    return known ? Value(ood_auroc(s.inside->*score, s.outside->*score)) : Value();
  };
}

auto median_of(const DiagnosticsSummary* MetricSources::*summary, Spread DiagnosticsSummary::*spread) {
  return [summary, spread](Sources s) { return s.*summary ? Value((s.*summary->*spread).median) : Value(); };
}

constexpr const char* kCoverage = "coverage of {:g} % intervals";
constexpr double kShownCoverage = 0.9;

std::vector<MetricInfo>& all_metrics() {
  using enum Better;
  using enum MetricInfo::Column;
  constexpr int kAll = sweep | comparison | comparison_ensemble;
  using R = RegressionMetrics;
  using C = ClassificationMetrics;
  using D = DiagnosticsSummary;
  using S = MetricSources;
  static std::vector<MetricInfo> rows{
      {metric::kLppd, "lppd", higher, kAll, lppd},
      {"LPPD, spread of members", "lppd_spread", higher, none,
       [](Sources s) { return s.members ? Value(s.members->lppd_spread) : Value(); }},
      {metric::kRmse, "rmse", lower, sweep | comparison,
       [](Sources s) { return s.members ? Value(s.members->rmse) : regression(&R::rmse)(s); }},
      {metric::kRmseOwnUnit, "rmse_own_unit", lower, none,
       [](Sources s) {
         return s.members ? Value(s.members->rmse * s.target_scale) : regression(&R::rmse_own_unit)(s);
       }},
      {kCoverage, "", nominal, comparison, {}, &IntervalCoverage::observed, true},
      {"calibration error", "calibration_error", lower, comparison, regression(&R::calibration_error)},
      {"LPPD, linearised", "", higher, sweep | comparison, linear_lppd},
      {"RMSE, linearised", "", lower, none,
       [](Sources s) { return s.linear_regression ? Value(s.linear_regression->rmse) : Value(); }},
      {"calibration error, linearised", "", lower, none,
       [](Sources s) {
         return s.linear_regression ? Value(s.linear_regression->calibration_error) : Value();
       }},
      {"ECE, linearised", "", lower, none,
       [](Sources s) {
         return s.linear_classification ? Value(s.linear_classification->reliability.ece) : Value();
       },
       nullptr, true},
      {"perplexity", "perplexity", lower, none, classification(&C::perplexity)},
      {metric::kAccuracy, "accuracy", higher, sweep | comparison, classification(&C::accuracy), nullptr,
       true},
      {"Brier", "brier", lower, comparison, classification(&C::brier)},
      {metric::kEce, "ece", lower, comparison,
       [](Sources s) { return s.classification ? Value(s.classification->reliability.ece) : Value(); },
       nullptr, true},
      {"AUROC", "auroc", higher, comparison, classification(&C::auroc)},
      {"F1", "f1", higher, none, classification(&C::f1)},
      {"entropy", "mean_entropy", neither, none, classification(&C::mean_entropy)},
      {"mutual information", "mean_mutual_information", neither, none,
       classification(&C::mean_mutual_information)},
      {metric::kOodEntropy, "", higher, none, ood_auroc_of(&Novelty::entropy)},
      {metric::kOodInformation, "", higher, none, ood_auroc_of(&Novelty::mutual_information)},
      {metric::kOodDensity, "", higher, none, ood_auroc_of(&Novelty::surprise)},
      {"R-hat of parameters, median", "", lower, none, median_of(&S::parameters, &D::rhat)},
      {"chain-wise R-hat of parameters, median", "", lower, none,
       median_of(&S::parameters, &D::chainwise_rhat)},
      {"R-hat of predictions, median", "", lower, none, median_of(&S::predictions, &D::rhat)},
      {"bulk ESS of predictions, median", "", higher, none, median_of(&S::predictions, &D::ess_bulk)},
  };
  return rows;
}

}  // namespace

std::span<const MetricInfo> metrics() {
  return all_metrics();
}

void add_metric(MetricInfo metric) {
  all_metrics().push_back(std::move(metric));
}

std::string coverage_label(double nominal) {
  return fmt::format(fmt::runtime(kCoverage), 100 * nominal);
}

std::vector<MetricValue> metric_values(const MetricSources& sources, std::span<const MetricInfo> rows) {
  std::vector<MetricValue> out;
  for (const MetricInfo& row : rows) {
    if (row.of_interval && sources.regression)
      for (const IntervalCoverage& interval : sources.regression->intervals)
        out.push_back(
            {fmt::format(fmt::runtime(row.label), 100 * interval.nominal), interval.*row.of_interval});
    if (!row.value) continue;
    if (const auto value = row.value(sources)) out.push_back({std::string(row.label), *value});
  }
  return out;
}

KnownMetric find_metric(std::string_view label) {
  for (const MetricInfo& row : metrics()) {
    if (row.label == label) return {&row, 0};
    const std::size_t place = row.label.find('{');
    if (place == std::string_view::npos || label.substr(0, place) != row.label.substr(0, place)) continue;
    const double nominal = std::strtod(std::string(label.substr(place)).c_str(), nullptr) / 100;
    if (fmt::format(fmt::runtime(row.label), 100 * nominal) == label) return {&row, nominal};
  }
  return {};
}

bool KnownMetric::is_in(MetricInfo::Column column) const {
  if (!row || !(row->columns & column)) return false;
  return !row->of_interval || std::abs(nominal - kShownCoverage) < 1e-9;
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// The metrics of the test set: a row each. The computation, the table on the terminal, eval/*.json, reports
/// and comparisons of runs, sweeps and `smile predict` read these rows. A new metric is a row here in
/// src/evaluation/metrics.cpp and the function that it calls.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smile/evaluation/classification.hpp"
#include "smile/evaluation/diagnostics.hpp"
#include "smile/evaluation/parts.hpp"
#include "smile/evaluation/regression.hpp"
#include "smile/named.hpp"

namespace smile {

/// Scores of rows that should be higher out of distribution, in nats.   @shape [rows] each
struct Novelty {
  std::vector<double> entropy, mutual_information;
  std::vector<double> surprise;  ///< −log p̄ of the target, or of the predicted class where there is none
};

/// What metrics are computed from; null: not there. Its task and phase decide which of them a run has.
struct MetricSources {
  const RegressionMetrics* regression = nullptr;          ///< tasks regr, mean_regr
  const ClassificationMetrics* classification = nullptr;  ///< tasks class, class_multilabel
  const DeepEnsembleRegression* members = nullptr;        ///< warm-started ensemble of mean_regr
  double target_scale = 1;                                ///< of `members`
  /// Of the closed predictive of the linearised network (sampler laplace).
  const RegressionMetrics* linear_regression = nullptr;
  const ClassificationMetrics* linear_classification = nullptr;
  const Novelty *inside = nullptr, *outside = nullptr;  ///< of test rows and of the set `ood`
  const DiagnosticsSummary *parameters = nullptr, *predictions = nullptr;
};

/// Where a better value lies.
enum class Better {
  neither,
  higher,
  lower,
  nominal,  ///< near the nominal coverage
};

struct MetricInfo {
  std::string_view label;  ///< of tables and metrics.json; "{:g}" stands for a nominal coverage in per cent
  std::string_view field;  ///< of sampling.json and ensemble_initialization.json; empty: not there
  Better better = Better::neither;
  /// Short tables that have it: of sweeps, of comparisons (there of both phases).
  enum Column : std::uint8_t { none = 0, sweep = 1, comparison = 2, comparison_ensemble = 4 };
  int columns = none;
  /// Nothing where it does not apply to these sources; NaN where it has no value.
  std::function<std::optional<double>(const MetricSources&)> value;
  /// In place of `value`, for one central interval.
  double IntervalCoverage::*of_interval = nullptr;
  bool is_share = false;  ///< reports write it in per cent
};

/// In the order of tables.
std::span<const MetricInfo> metrics();
/// For a program that embeds the library: before the first run is evaluated or read.
void add_metric(MetricInfo metric);

/// Labels that other code asks for.
namespace metric {
inline constexpr const char *kLppd = "LPPD", *kRmse = "RMSE", *kRmseOwnUnit = "RMSE, own unit",
                            *kAccuracy = "accuracy", *kEce = "ECE", *kOodEntropy = "OOD AUROC of entropy",
                            *kOodInformation = "OOD AUROC of mutual information",
                            *kOodDensity = "OOD AUROC of log-density";
}  // namespace metric
/// "coverage of 90 % intervals" of 0.9.
std::string coverage_label(double nominal);

struct MetricValue {
  std::string label;
  double value = 0;
};
/// All that apply.
std::vector<MetricValue> metric_values(const MetricSources& sources,
                                       std::span<const MetricInfo> rows = metrics());

/// The row of a label, and the nominal coverage of one that has it; row null: not known.
struct KnownMetric {
  const MetricInfo* row = nullptr;
  double nominal = 0;
  /// Whether a short table shows it; of intervals only those of 90 %.
  bool is_in(MetricInfo::Column column) const;
};
KnownMetric find_metric(std::string_view label);

}  // namespace smile

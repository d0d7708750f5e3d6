// One row: the evaluation, its files, the tables, reports and comparisons know the metric.
#include "narrow_intervals.hpp"
#include "smile/evaluation/metrics.hpp"

smile::MetricInfo narrow_intervals_row() {
  return {"shortfall of intervals", "interval_shortfall", smile::Better::lower, smile::MetricInfo::comparison,
          [](const smile::MetricSources& sources) -> std::optional<double> {
            if (!sources.regression) return std::nullopt;
            return shortfall_of_intervals(*sources.regression);
          }};
}

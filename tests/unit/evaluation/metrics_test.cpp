// SPDX-License-Identifier: Apache-2.0
#include "smile/evaluation/metrics.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace smile {
namespace {

TEST(Metrics, every_label_is_known_once_and_says_where_better_lies) {
  std::set<std::string> labels;
  for (const MetricInfo& row : metrics()) {
    EXPECT_TRUE(labels.insert(std::string(row.label)).second) << row.label;
    EXPECT_EQ(find_metric(row.label).row, &row);
  }
  EXPECT_EQ(find_metric("LPPD").row->better, Better::higher);
  EXPECT_EQ(find_metric("RMSE, own unit").row->better, Better::lower);
  EXPECT_EQ(find_metric("entropy").row->better, Better::neither);
  EXPECT_EQ(find_metric("R-hat of predictions, median").row->better, Better::lower);
  const KnownMetric coverage = find_metric(coverage_label(0.95));
  ASSERT_TRUE(coverage.row);
  EXPECT_EQ(coverage.row->better, Better::nominal);
  EXPECT_DOUBLE_EQ(coverage.nominal, 0.95);
  EXPECT_FALSE(coverage.is_in(MetricInfo::comparison));
  EXPECT_TRUE(find_metric("coverage of 90 % intervals").is_in(MetricInfo::comparison));
  EXPECT_FALSE(find_metric("coverage of many intervals").row);
  EXPECT_FALSE(find_metric("NLL").row);
}

/// A new metric: a function, and one row.
double share_of_narrow_intervals(const RegressionMetrics& m) {
  double narrow = 0;
  for (const IntervalCoverage& i : m.intervals) narrow += i.observed < i.nominal;
  return narrow / double(m.intervals.size());
}

TEST(Metrics, a_new_one_is_a_function_and_a_row) {
  const MetricInfo row{"intervals too narrow", "intervals_too_narrow", Better::lower, MetricInfo::sweep,
                       [](const MetricSources& s) -> std::optional<double> {
                         if (!s.regression) return std::nullopt;
                         return share_of_narrow_intervals(*s.regression);
                       }};
  RegressionMetrics m;
  m.intervals = {{0.5, 0.4, 1}, {0.9, 0.95, 2}};
  const auto values = metric_values({.regression = &m}, std::span(&row, 1));
  ASSERT_EQ(values.size(), 1u);
  EXPECT_EQ(values[0].label, "intervals too narrow");
  EXPECT_EQ(values[0].value, 0.5);
  const ClassificationMetrics other;
  EXPECT_TRUE(metric_values({.classification = &other}, std::span(&row, 1)).empty()) << "does not apply";
}

TEST(Metrics, have_the_rows_of_their_task_in_the_order_of_tables) {
  RegressionMetrics m;
  m.intervals = {{0.5, 0.4, 1}, {0.9, 0.95, 2}};
  std::vector<std::string> labels;
  for (const MetricValue& value : metric_values({.regression = &m})) labels.push_back(value.label);
  EXPECT_EQ(labels, (std::vector<std::string>{"LPPD", "RMSE", "RMSE, own unit", "coverage of 50 % intervals",
                                              "coverage of 90 % intervals", "calibration error"}));
}

}  // namespace
}  // namespace smile

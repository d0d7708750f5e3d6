// SPDX-License-Identifier: Apache-2.0
#include "smile/evaluation/json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "evaluation/json_number.hpp"

namespace smile {
namespace {

using Json = nlohmann::json;

TEST(MetricsJson, regression_reads_back_to_the_same_numbers) {
  const std::vector<double> y = {0.1, 0.7}, mean = {0.3, 0.2};
  RegressionAccumulator accumulator(y, {2, 1}, {.target_scale = 3});
  accumulator.add<double>(0, 0, mean, 0.1);
  accumulator.add<double>(0, 1, y, -0.2);
  accumulator.add<double>(1, 0, mean, 0.3);
  const RegressionMetrics m = accumulator.metrics();
  const Json json = Json::parse(to_json(m));
  EXPECT_EQ(json.at("lppd").get<double>(), m.lppd.lppd);
  EXPECT_EQ(json.at("chainwise_lppd").get<std::vector<double>>(), m.lppd.chainwise);
  EXPECT_EQ(json.at("running_lppd").at("samples").get<std::vector<std::size_t>>(), m.lppd.running.samples);
  EXPECT_EQ(json.at("rmse_own_unit").get<double>(), m.rmse_own_unit);
  EXPECT_EQ(json.at("intervals").at(3).at("width").get<double>(), m.intervals[3].width);
  EXPECT_TRUE(json.at("nonfinite").is_null());
}

TEST(MetricsJson, classification_marks_empty_bins_and_what_is_no_number) {
  const std::vector<std::uint32_t> labels = {0, 1};
  ClassificationAccumulator accumulator(labels, 2, {1});
  accumulator.add<double>(0, 0, std::vector<double>{1, 0, std::numeric_limits<double>::quiet_NaN(), 0});
  const Json json = Json::parse(to_json(accumulator.metrics(), true));
  EXPECT_TRUE(json.at("lppd").is_null());
  EXPECT_EQ(json.at("nonfinite").at("row"), 1);
  EXPECT_TRUE(json.at("reliability").at("accuracy").at(0).is_null());
  EXPECT_EQ(json.at("entropy").size(), 2u);
  EXPECT_FALSE(Json::parse(to_json(accumulator.metrics())).contains("entropy"));
}

TEST(MetricsJson, diagnostics_give_reason_and_place) {
  std::vector<double> draws = {1, 2, 3, 4, 5, std::numeric_limits<double>::quiet_NaN(), 7, 8};
  const std::vector<QuantityDiagnostics> all = {diagnose("log_density", draws, 2, 2),
                                                diagnose("still", std::vector<double>(8, 1.0), 2, 2)};
  const Json json = Json::parse(to_json(all));
  EXPECT_EQ(json.at(0).at("name"), "log_density");
  EXPECT_TRUE(json.at(0).at("rhat").is_null());
  EXPECT_EQ(json.at(0).at("nan_draw").at("chain"), 1);
  EXPECT_EQ(json.at(0).at("nan_draw").at("draw"), 1);
  EXPECT_EQ(json.at(1).at("reason"), "constant");
  EXPECT_EQ(json.at(1).at("ess_bulk"), 0);
  EXPECT_EQ(Json::parse(to_json(summarise(all))).at("with_nan"), 1);
  EXPECT_TRUE(Json::parse(to_json(evaluate_deep_ensemble(std::vector<double>{1}, std::vector<double>{1})))
                  .at("lppd_residual")
                  .is_null());
}

TEST(MetricsJson, what_is_not_finite_is_null_in_every_file_and_read_as_no_number) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  DeepEnsembleRegression members;
  members.lppd_spread = -kInfinity;
  members.spread = {1, kInfinity, std::numeric_limits<double>::quiet_NaN()};
  const Json json = Json::parse(to_json(members, true));
  EXPECT_TRUE(json.at("lppd_spread").is_null());
  EXPECT_EQ(json.at("spread").dump(), "[1.0,null,null]");
  EXPECT_TRUE(std::isnan(json_number(json, "lppd_spread")));
  EXPECT_TRUE(std::isnan(json_number(json, "not there")));
  EXPECT_EQ(json_number(json.at("spread").at(0)), 1);
}

}  // namespace
}  // namespace smile

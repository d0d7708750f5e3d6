// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

#include "smile/evaluation/regression.hpp"
#include "support/vectors.hpp"

namespace smile {
namespace {

using test::Json;
using test::mismatch;
using test::number;
using test::numbers;

void expect_known(const Json& object, std::initializer_list<std::string_view> keys) {
  EXPECT_EQ(test::unknown_keys(object, keys), "");
}

template <class T>
std::vector<T> as(const std::vector<double>& values) {
  return std::vector<T>(values.begin(), values.end());
}

template <class T>
class RegressionVectors : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(RegressionVectors, Precisions);

template <class T>
void replay_samples(const Json& input, const Json& expected, test::Tolerance tolerance) {
  expect_known(input, {"y", "mean", "log_sd", "log_sigma", "z", "nominal_coverages"});
  expect_known(expected, {"lppd", "running_lppd", "chainwise_lppd", "sequential_lppd", "rmse", "coverage",
                          "width", "calibration_error"});
  const auto y = numbers(input.at("y"));
  const Json& means = input.at("mean");
  RegressionOptions options;
  options.target_scale = 3;
  options.nominal_coverages =
      input.contains("nominal_coverages") ? numbers(input.at("nominal_coverages")) : std::vector<double>();
  RegressionAccumulator accumulator(y, std::vector<std::size_t>(means.size(), means.at(0).size()), options);
  for (std::size_t k = 0; k < means.size(); ++k)
    for (std::size_t s = 0; s < means.at(k).size(); ++s) {
      const auto mean = as<T>(numbers(means.at(k).at(s)));
      if (input.contains("log_sigma"))
        accumulator.add<T>(k, s, mean,
                           static_cast<double>(static_cast<T>(number(input.at("log_sigma").at(k).at(s)))));
      else
        accumulator.add<T>(k, s, mean, as<T>(numbers(input.at("log_sd").at(k).at(s))));
    }
  const RegressionMetrics metrics = accumulator.metrics();
  EXPECT_FALSE(metrics.nonfinite);
  for (const auto& [key, value] : expected.items()) {
    SCOPED_TRACE(key);
    // The vectors' intervals are those of random draws z; ours are those of the mixture the draws are from.
    if (key == "coverage" || key == "width" || key == "calibration_error") continue;
    if (key == "lppd") {
      EXPECT_EQ(mismatch(metrics.lppd.lppd, number(value), tolerance), "");
      EXPECT_EQ(metrics.lppd.nll, -metrics.lppd.lppd);
    } else if (key == "running_lppd") {
      EXPECT_EQ(mismatch(metrics.lppd.running.lppd, numbers(value), tolerance), "");
    } else if (key == "chainwise_lppd") {
      EXPECT_EQ(mismatch(metrics.lppd.chainwise, numbers(value), tolerance), "");
    } else if (key == "sequential_lppd") {
      EXPECT_EQ(mismatch(metrics.lppd.sequential, numbers(value), tolerance), "");
    } else if (key == "rmse") {
      EXPECT_EQ(mismatch(metrics.rmse, number(value), tolerance), "");
      EXPECT_EQ(metrics.rmse_own_unit, 3 * metrics.rmse);
    } else {
      ADD_FAILURE() << "not compared";
    }
  }
}

void replay_deep_ensemble(const Json& input, const Json& expected, test::Tolerance tolerance) {
  expect_known(input, {"y", "member_mean"});
  expect_known(expected, {"lppd", "rmse", "spread"});
  std::vector<double> means;
  for (const Json& member : input.at("member_mean"))
    for (double m : numbers(member)) means.push_back(m);
  const DeepEnsembleRegression actual = evaluate_deep_ensemble(numbers(input.at("y")), means);
  EXPECT_EQ(mismatch(actual.lppd_spread, number(expected.at("lppd")), tolerance), "");
  EXPECT_EQ(mismatch(actual.rmse, number(expected.at("rmse")), tolerance), "");
  EXPECT_EQ(mismatch(actual.spread, numbers(expected.at("spread")), tolerance), "");
}

TYPED_TEST(RegressionVectors, all_cases_replay) {
  const Json file = test::load_vectors("metrics_regression");
  expect_known(file, {"topic", "spec", "description", "tolerance", "cases"});
  const bool single = std::is_same_v<TypeParam, float>;
  const auto tolerance = test::tolerance(file.at("tolerance").at(single ? "float32" : "float64"));
  for (const Json& c : file.at("cases")) {
    SCOPED_TRACE(c.at("name").get<std::string>());
    expect_known(c, {"name", "input", "expected", "note", "tolerance"});
    if (c.at("input").contains("member_mean")) {
      // Members' means enter in double whatever they were computed in.
      if (!single) replay_deep_ensemble(c.at("input"), c.at("expected"), tolerance);
    } else {
      replay_samples<TypeParam>(c.at("input"), c.at("expected"), tolerance);
    }
  }
}

}  // namespace
}  // namespace smile

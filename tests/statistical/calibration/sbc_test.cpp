// SPDX-License-Identifier: Apache-2.0
// The default sampler samples the posterior: simulation-based calibration with its own batches, moments of
// linear models, directions that only the prior knows. Thresholds are those of the project's goals; 100
// replications give a rank variance a standard error of 0.09, so that a right sampler misses [0.75, 1.3] in a
// given quantity about once in 300 seeds. The seeds are fixed. Each check is also seen to fail with the
// sampler of version 0.1, which it was made for.
#include <gtest/gtest.h>

#include "support/calibration.hpp"

namespace smile {
namespace {

using test::Calibration;
using test::CalibrationModel;

void expect_calibrated(const Calibration& result) {
  for (const test::Group& group : result.groups) {
    EXPECT_GT(group.worst, 0.75) << group.name;
    EXPECT_LT(group.worst, 1.3) << group.name;
  }
  EXPECT_LT(result.chi2_per_df, 1.5);
}

Calibration of_default(const CalibrationModel& model, const std::string& keys = "") {
  return test::simulation_based_calibration(model, keys, 100, 4000, 20000);
}

TEST(Sbc, linear_regression) {
  expect_calibrated(of_default(test::linear_regression(200, 50)));
}
TEST(Sbc, linear_regression_with_even_batches) {
  expect_calibrated(of_default(test::linear_regression(200, 50), "batches: even"));
}
TEST(Sbc, linear_regression_of_1000_rows) {
  expect_calibrated(of_default(test::linear_regression(1000, 100)));
}
TEST(Sbc, logistic_regression) {
  expect_calibrated(of_default(test::logistic_regression(300, 50)));
}
TEST(Sbc, values_of_a_network) {
  expect_calibrated(of_default(test::small_network(200, 50)));
}
TEST(Sbc, the_default_of_version_0_1_is_rejected) {
  const Calibration result = of_default(test::linear_regression(200, 50), "compat: 0.1");
  EXPECT_LT(result.groups.back().mean, 0.6) << "log sigma";
  EXPECT_GT(result.chi2_per_df, 1.5);
}

void expect_temperatures(const CalibrationModel& model, int data_sets, double tolerance) {
  for (const test::Temperature& group : test::temperatures(model, "", data_sets, 10000, 60000))
    EXPECT_NEAR(group.value, 1, tolerance + 3 * group.standard_error) << group.name;
}
TEST(Temperatures, of_4_batches_an_epoch) {
  expect_temperatures(test::linear_regression(200, 50), 20, 0.05);
}
TEST(Temperatures, of_10_batches_an_epoch) {
  expect_temperatures(test::linear_regression(1000, 100), 10, 0.05);
}
TEST(Temperatures, of_100_batches_an_epoch) {
  expect_temperatures(test::linear_regression(2000, 20), 10, 0.1);
}
TEST(Temperatures, the_default_of_version_0_1_is_rejected) {
  const auto groups = test::temperatures(test::linear_regression(200, 50), "compat: 0.1", 10, 10000, 60000);
  EXPECT_GT(groups.back().value, 3) << groups.back().name;
}

}  // namespace
}  // namespace smile

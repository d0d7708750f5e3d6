#include "experiment/chain_report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace smile::experiment {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// 100 training rows of a regression.
const TrainingRows kRows{100, -1.419};

/// Chains of these log-likelihoods of a training row and scores.
std::vector<std::string> warnings_of(const std::vector<double>& likelihoods, const ChainScores& scores,
                                     const TrainingRows& rows = kRows) {
  std::vector<ChainRecord> records(likelihoods.size());
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    records[i].chain = i;
    records[i].status = ChainStatus::complete;
    records[i].monitor.training_log_likelihood = 100 * likelihoods[i];
  }
  return chain_warnings(records, scores, rows);
}

/// Two sound chains and one to be looked at.
std::vector<std::string> warnings_of(double likelihood, const ChainScore& score) {
  return warnings_of({-0.5, -0.5, likelihood}, {{10, -0.5, 0.4}, {10, -0.5, 0.4}, score});
}

TEST(ChainReport, WhatIsNotANumberHidesNoBlownUpChain) {
  EXPECT_TRUE(warnings_of(-0.5, {10, -0.5, 0.4}).empty());
  EXPECT_TRUE(warnings_of(-0.5, {}).empty()) << "a chain without draws";
  for (const auto& warnings : {warnings_of(kNan, {10, -0.5, 0.4}), warnings_of(-0.5, {10, -0.5, kNan}),
                               warnings_of(-0.5, {10, kNan, 0.4}), warnings_of(-1.2, {10, -0.5, 0.4})}) {
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("chain 2 has blown up"), std::string::npos) << warnings[0];
  }
}

TEST(ChainReport, ChainsThatAreAllBadAreHeldAgainstNoNetworkAndTheirStart) {
  const ChainScore sound{10, -0.4, 0.4, -0.6}, no_better{10, -0.9, 0.5, -0.6};
  EXPECT_TRUE(warnings_of({-0.5, -0.5}, {sound, no_better}).empty());
  // No chain differs from another.
  const auto nothing = warnings_of({-3, -3.1}, {{10, -3, 3}, {10, -3, 3}});
  ASSERT_EQ(nothing.size(), 1u);
  EXPECT_NE(nothing[0].find("2 chains: the training rows are less likely than without a network"),
            std::string::npos)
      << nothing[0];
  const auto start = warnings_of({-0.9, -0.9}, {{10, -1.3, 0.9, -0.6}, {10, -1.2, 0.9, -0.6}});
  ASSERT_EQ(start.size(), 1u);
  EXPECT_NE(start[0].find("2 chains: the test LPPD is more than 0.5 nats below"), std::string::npos);
  // Said once; and not where it is not known what nothing is.
  EXPECT_EQ(warnings_of({-3, -3}, {{10, -3, 3, -0.6}, {10, -3, 3, -0.6}}).size(), 1u);
  EXPECT_TRUE(warnings_of({-3, -3}, {{10, -3, 3}, {10, -3, 3}}, {100, kNan}).empty());
  EXPECT_TRUE(warnings_of({-3, -9}, {{10, -3, 3}, {10, -3, 3}}, {}).empty());
}

TEST(ChainReport, WhatNothingLearnedMeansDependsOnTheTask) {
  DatasetInfo info;
  info.train_rows.resize(7);
  EXPECT_NEAR(training_rows_of(info, true).nothing_learned, -1.418939, 1e-6);
  EXPECT_TRUE(std::isnan(training_rows_of(info, false).nothing_learned));
  EXPECT_EQ(training_rows_of(info, true).count, 7u);
  info.labels.names = {"a", "b", "c"};
  EXPECT_NEAR(training_rows_of(info, true).nothing_learned, -std::log(3.0), 1e-12);
  info.text = TextInfo{{"a", "b"}, 10, 0, 200, 200, 220, 220, 240};
  EXPECT_EQ(training_rows_of(info, true).count, 20u);
  EXPECT_NEAR(training_rows_of(info, true).nothing_learned, -10 * std::log(2.0), 1e-12);
}

}  // namespace
}  // namespace smile::experiment

#include "experiment/chain_report.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace smile::experiment {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Two sound chains and one to be looked at.
std::vector<std::string> warnings_of(double likelihood, const ChainScore& score) {
  std::vector<ChainRecord> records(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    records[i].chain = i;
    records[i].status = ChainStatus::complete;
    records[i].monitor.training_log_likelihood = -50;
  }
  records[2].monitor.training_log_likelihood = likelihood;
  const std::vector<ChainScore> scores{{10, -0.5, 0.4}, {10, -0.5, 0.4}, score};
  return chain_warnings(records, scores, 100);
}

TEST(ChainReport, WhatIsNotANumberHidesNoBlownUpChain) {
  EXPECT_TRUE(warnings_of(-50, {10, -0.5, 0.4}).empty());
  EXPECT_TRUE(warnings_of(-50, {}).empty()) << "a chain without draws";
  for (const auto& warnings : {warnings_of(kNan, {10, -0.5, 0.4}), warnings_of(-50, {10, -0.5, kNan}),
                               warnings_of(-50, {10, kNan, 0.4}), warnings_of(-1000, {10, -0.5, 0.4})}) {
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings[0].find("chain 2 has blown up"), std::string::npos) << warnings[0];
  }
}

}  // namespace
}  // namespace smile::experiment

// SPDX-License-Identifier: Apache-2.0
#include "smile/diagnosis/chain_report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "smile/diagnosis/chains_file.hpp"
#include "smile/run/run_paths.hpp"
#include "support/temporary_folder.hpp"

namespace smile::experiment {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// 100 training rows of a regression.
const TrainingRows kRows{100, -1.419};

/// Chains of these log-likelihoods of a training row and scores.
std::vector<Astray> astray_of(const std::vector<double>& likelihoods, const ChainScores& scores,
                              const TrainingRows& rows = kRows) {
  std::vector<ChainRecord> records(likelihoods.size());
  for (std::uint32_t i = 0; i < records.size(); ++i) {
    records[i].chain = i;
    records[i].status = ChainStatus::complete;
    records[i].monitor.training_log_likelihood = 100 * likelihoods[i];
  }
  return find_astray(records, scores, rows).chains;
}

/// The last of two sound chains and one to be looked at.
Astray astray_of(double likelihood, const ChainScore& score) {
  const auto all = astray_of({-0.5, -0.5, likelihood}, {{10, -0.5, 0.4}, {10, -0.5, 0.4}, score});
  EXPECT_FALSE(all[0].any() || all[1].any());
  return all[2];
}

TEST(ChainReport, WhatIsNotANumberHidesNoChainThatIsFarAway) {
  EXPECT_FALSE(astray_of(-0.5, {10, -0.5, 0.4}).any());
  EXPECT_FALSE(astray_of(-0.5, {}).any()) << "a chain without draws";
  for (const Astray& astray : {astray_of(kNan, {10, -0.5, 0.4}), astray_of(-0.5, {10, -0.5, kNan}),
                               astray_of(-0.5, {10, kNan, 0.4}), astray_of(-1.2, {10, -0.5, 0.4})})
    EXPECT_TRUE(astray.apart);
}

TEST(ChainReport, ChainsThatAreAllBadAreHeldAgainstNoNetworkAndTheirStart) {
  const ChainScore sound{10, -0.4, 0.4, -0.6}, no_better{10, -0.9, 0.5, -0.6};
  for (const Astray& astray : astray_of({-0.5, -0.5}, {sound, no_better})) EXPECT_FALSE(astray.any());
  // No chain differs from another.
  for (const Astray& astray : astray_of({-3, -3.1}, {{10, -3, 3}, {10, -3, 3}})) {
    EXPECT_TRUE(astray.worse_than_nothing);
    EXPECT_FALSE(astray.apart);
  }
  for (const Astray& astray : astray_of({-0.9, -0.9}, {{10, -1.3, 0.9, -0.6}, {10, -1.2, 0.9, -0.6}})) {
    EXPECT_TRUE(astray.worse_than_start);
    EXPECT_FALSE(astray.worse_than_nothing || astray.apart);
  }
  // Not where it is not known what nothing is.
  for (const Astray& astray : astray_of({-3, -3}, {{10, -3, 3}, {10, -3, 3}}, {100, kNan}))
    EXPECT_FALSE(astray.any());
  for (const Astray& astray : astray_of({-3, -9}, {{10, -3, 3}, {10, -3, 3}}, {})) EXPECT_FALSE(astray.any());
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

TEST(ChainsFile, IsReadAsItWasWritten) {
  test::TemporaryFolder folder;
  std::filesystem::create_directories(RunPaths(folder.path()).evaluation());
  EXPECT_TRUE(read_chains(folder.path()).empty());
  ChainRecord record;
  record.chain = 3;
  record.status = ChainStatus::failed;
  record.reason = "the disk is full";
  record.step = 40;
  record.dimension = 2;
  record.tuned = {{"length", 0.5}};
  record.findings = {"it stood still"};
  record.monitor.sampling.steps = 4;
  record.monitor.sampling.refusals[0] = 3, record.monitor.sampling.refusals[1] = 1;
  record.monitor.energy.counts[5] = 7;
  const ChainReport written = report_of(record, {10, -0.5, kNan, -0.75});
  EXPECT_EQ(written.sampling.refusal_frequency, 0.25);
  write_chains(folder.path(), std::vector{written});
  const auto chains = read_chains(folder.path());
  ASSERT_EQ(chains.size(), 1u);
  const ChainReport& read = chains[0];
  EXPECT_EQ(read.chain, 3u);
  EXPECT_EQ(read.status, "failed");
  EXPECT_EQ(read.reason, record.reason);
  EXPECT_EQ(read.steps, 40u);
  EXPECT_EQ(read.score.draws, 10u);
  EXPECT_EQ(read.score.lppd, -0.5);
  EXPECT_TRUE(std::isnan(read.score.rmse));
  EXPECT_EQ(read.score.start_lppd, -0.75);
  EXPECT_EQ(read.sampling.refused_by_cause, written.sampling.refused_by_cause);
  EXPECT_EQ(read.energy.counts, std::vector<std::uint64_t>{7});
  EXPECT_EQ(read.energy.log10_first_edge, written.energy.log10_first_edge);
  EXPECT_EQ(read.tuned, record.tuned);
  EXPECT_EQ(read.findings, record.findings);
}

}  // namespace
}  // namespace smile::experiment

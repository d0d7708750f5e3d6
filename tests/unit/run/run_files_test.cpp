// SPDX-License-Identifier: Apache-2.0
// The JSON files of a run come back as they were written, and their names and order do not change.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "smile/run/metrics_file.hpp"
#include "smile/run/progress_file.hpp"
#include "smile/run/run_directory.hpp"
#include "smile/run/run_paths.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

using test::TemporaryFolder;
const double kNaN = std::nan("");

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(MetricsFile, IsReadAsItWasWritten) {
  TemporaryFolder folder;
  std::filesystem::create_directories(RunPaths(folder.path()).evaluation());
  EXPECT_FALSE(read_metrics(folder.path()));
  write_metrics(folder.path(),
                {120, 3, 1, {{"LPPD", -0.5, 0.25}, {"RMSE", kNaN, 0.125}}, {"chain 2 failed"}});
  EXPECT_EQ(text_of(RunPaths(folder.path()).metrics()), R"({
  "draws": 120,
  "chains": 3,
  "failed_chains": 1,
  "metrics": [
    {
      "name": "LPPD",
      "ensemble_initialization": -0.5,
      "sampling": 0.25
    },
    {
      "name": "RMSE",
      "ensemble_initialization": null,
      "sampling": 0.125
    }
  ],
  "warnings": [
    "chain 2 failed"
  ]
}
)");
  const auto file = read_metrics(folder.path());
  ASSERT_TRUE(file);
  EXPECT_EQ(file->draws, 120u);
  EXPECT_EQ(file->failed_chains, 1u);
  EXPECT_EQ(file->warnings, std::vector<std::string>{"chain 2 failed"});
  EXPECT_EQ(file->value("LPPD", Phase::ensemble), -0.5);
  EXPECT_TRUE(std::isnan(file->value("RMSE", Phase::ensemble)));
  EXPECT_TRUE(std::isnan(file->value("accuracy", Phase::sampling)));
}

TEST(MetricsFile, WhatHoldsNoMetricsIsNone) {
  TemporaryFolder folder;
  std::filesystem::create_directories(RunPaths(folder.path()).evaluation());
  for (const char* text : {"", "[1]", "{\"draws\": 3}", "{\"metrics\": ["}) {
    folder.write("eval/metrics.json", text);
    EXPECT_FALSE(read_metrics(folder.path())) << text;
  }
  // Values of another kind are as if they were not there.
  folder.write("eval/metrics.json", R"({"draws": "many", "metrics": [3, {"name": 4, "sampling": "x"}]})");
  const auto file = read_metrics(folder.path());
  ASSERT_TRUE(file);
  EXPECT_EQ(file->draws, 0u);
  ASSERT_EQ(file->metrics.size(), 2u);
  EXPECT_TRUE(std::isnan(file->metrics[1].sampling));
}

TEST(ProgressFile, IsReadAsItWasWritten) {
  TemporaryFolder folder;
  LiveProgress live;
  live.now.phase = "sampling";
  live.now.done = 30, live.now.total = 100;
  live.now.per_second = 12.5;
  live.now.chains = {{2, 30, 100, 10, 1, -101.25, 0.5}};
  live.seconds_left = 5.6;
  live.written = 1790000000;
  live.phases = {{"warm start", "epochs", 3.5, 40}};
  write_progress(folder.path(), live);
  const auto back = read_progress(folder.path());
  ASSERT_TRUE(back);
  EXPECT_EQ(back->now.phase, "sampling");
  EXPECT_EQ(back->now.done, 30u);
  EXPECT_EQ(back->now.per_second, 12.5);
  EXPECT_TRUE(std::isnan(back->now.log_density));
  ASSERT_EQ(back->now.chains.size(), 1u);
  EXPECT_EQ(back->now.chains[0].log_density, -101.25);
  EXPECT_EQ(back->now.chains[0].warmup, 10u);
  EXPECT_EQ(back->seconds_left, 5.6);
  EXPECT_EQ(back->written, 1790000000);
  ASSERT_EQ(back->phases.size(), 1u);
  EXPECT_EQ(back->phases[0].unit, "epochs");
  EXPECT_EQ(back->phases[0].done, 40u);
}

TEST(RunState, IsReadAsItWasWritten) {
  TemporaryFolder folder;
  const auto run = RunDirectory::create(folder / "run");
  EXPECT_FALSE(read_run_state(run.path()));
  run.write_state({"interrupted", "sampling", "the disk is full"});
  const auto state = read_run_state(run.path());
  ASSERT_TRUE(state);
  EXPECT_EQ(state->status, "interrupted");
  EXPECT_EQ(state->phase, "sampling");
  EXPECT_EQ(state->reason, "the disk is full");
  EXPECT_FALSE(state->time.empty());
  EXPECT_FALSE(state->version.empty());
  EXPECT_FALSE(state->host.empty());
  EXPECT_GT(state->pid, 0);
}

}  // namespace
}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include "smile/run/run_paths.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "support/temporary_folder.hpp"

namespace smile {
namespace {

TEST(RunPaths, AFolderIsARunWhereItHasAConfiguration) {
  const test::TemporaryFolder folder;
  const RunPaths paths(folder.path());
  EXPECT_FALSE(paths.is_run());
  std::ofstream(paths.config()) << "a: 1\n";
  EXPECT_TRUE(paths.is_run());
}

TEST(RunPaths, NamesOfTheFilesOfRunsOnDisk) {
  // Runs that exist have these names; none of them may change within a generation of versions.
  const RunPaths paths("r");
  EXPECT_EQ(paths.config(), "r/config.yaml");
  EXPECT_EQ(paths.state(), "r/status.json");
  EXPECT_EQ(paths.data(), "r/dataset_splits.npz");
  EXPECT_EQ(paths.parameters(), "r/parameters.json");
  EXPECT_EQ(paths.network(), "r/network.json");
  EXPECT_EQ(paths.member(3), "r/warmstart/member-03.npy");
  EXPECT_EQ(paths.member_epochs(100), "r/warmstart/member-100.csv");
  EXPECT_EQ(paths.samples(), "r/samples");
  EXPECT_EQ(paths.metrics(), "r/eval/metrics.json");
  EXPECT_EQ(paths.outputs(2), "r/eval/outputs-02.npy");
}

TEST(RunPaths, OwnAndOthers) {
  for (const char* name : {"config.yaml", "warmstart", "samples", "trace", "checkpoint", "eval", "steps.csv"})
    EXPECT_TRUE(RunPaths::is_own(name)) << name;
  for (const char* name : {"predictions.csv", "draws.npz", "notes.txt"})
    EXPECT_FALSE(RunPaths::is_own(name)) << name;
}

TEST(RunPaths, WhatAProcessLeavesThatWasKilledAtItsBeginning) {
  for (const char* name : {"lock", "lock.1f", "locks", "status.json", "status.json.tmp-1",
                           "config.yaml.tmp-1", "inputs.json", "dataset_splits.npz"})
    EXPECT_TRUE(is_left_of_a_new_run(name)) << name;
  for (const char* name : {"lock2", "log.txt", "data.csv", "samples"})
    EXPECT_FALSE(is_left_of_a_new_run(name)) << name;
}

}  // namespace
}  // namespace smile

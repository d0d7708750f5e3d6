// SPDX-License-Identifier: Apache-2.0
// Who of how many a process is, as launchers say it in the environment.
#include "smile/run/launcher.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "smile/error.hpp"

namespace smile {
namespace {

std::optional<Launch> find(const std::map<std::string, std::string>& variables) {
  return find_launch([&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Launcher, EachIsUnderstood) {
  EXPECT_FALSE(find({}));
  auto launch = find(
      {{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->rank, 2U);
  EXPECT_EQ(launch->ranks, 4U);
  EXPECT_EQ(launch->ranks_on_host, 2U);
  EXPECT_TRUE(launch->together);
  launch = find({{"PMI_RANK", "0"}, {"PMI_SIZE", "3"}, {"MPI_LOCALNRANKS", "3"}});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->ranks, 3U);
  EXPECT_EQ(launch->launcher, "MPICH");
  launch = find({{"SLURM_PROCID", "7"}, {"SLURM_NTASKS", "8"}});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->rank, 7U);
}

TEST(Launcher, InsideOfSlurmMpirunHasTheLastWord) {
  const auto launch =
      find({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}, {"PMI_RANK", "2"}, {"PMI_SIZE", "3"}});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->rank, 2U);
  EXPECT_EQ(launch->ranks, 3U);
}

TEST(Launcher, TasksOfAnArrayLeaveWhenTheyAreDone) {
  auto launch = find({{"SLURM_PROCID", "0"},
                      {"SLURM_NTASKS", "1"},
                      {"SLURM_ARRAY_TASK_ID", "5"},
                      {"SLURM_ARRAY_TASK_MIN", "3"},
                      {"SLURM_ARRAY_TASK_COUNT", "4"}});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->rank, 2U);
  EXPECT_EQ(launch->ranks, 4U);
  EXPECT_FALSE(launch->together);
  // Each with two ranks.
  launch = find({{"SLURM_PROCID", "1"},
                 {"SLURM_NTASKS", "2"},
                 {"SLURM_ARRAY_TASK_ID", "1"},
                 {"SLURM_ARRAY_TASK_COUNT", "3"}});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->rank, 3U);
  EXPECT_EQ(launch->ranks, 6U);
}

TEST(Launcher, WhatCannotBeIsRefused) {
  EXPECT_THROW(find({{"PMI_RANK", "3"}, {"PMI_SIZE", "3"}}), Error);
  EXPECT_THROW(find({{"PMI_RANK", "x"}, {"PMI_SIZE", "3"}}), Error);
  EXPECT_THROW(launch_of_this_process(1, std::nullopt), Error);
  EXPECT_THROW(launch_of_this_process(0, 0), Error);
  EXPECT_THROW(launch_of_this_process(2, 2), Error);
  EXPECT_EQ(launch_of_this_process(1, 2).rank, 1U);
}

TEST(Launcher, RanksOfAHostShareItsCores) {
  Launch launch;
  launch.ranks = launch.ranks_on_host = 4;
  EXPECT_EQ(threads_of_rank(launch, 16, 16), 4U);
  EXPECT_EQ(threads_of_rank(launch, 2, 16), 2U) << "bound to its own";
  EXPECT_EQ(threads_of_rank(launch, 2, 2), 1U);
}

}  // namespace
}  // namespace smile

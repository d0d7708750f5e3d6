// SPDX-License-Identifier: Apache-2.0
// A search whose runs many processes share, and the job script.
#include <memory>

#include "many.hpp"

namespace smile::test {
namespace {

namespace fs = std::filesystem;

TEST(SharedSweep, ARunARankAndOneTable) {
  const TemporaryFolder folder;
  const auto config = folder.write("config.yaml", many_chains(2));
  const auto search =
      folder.write("sweep.yaml", "rng: [1, 2]\ntraining:\n  sampler:\n    turn_angle: [0.05, 0.08]\n");
  const auto arguments = [&](const char* out, const std::vector<std::string>& more) {
    std::vector<std::string> all = {"run", config, "--search", search, "--out", folder / out, "--quiet"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const Outcome alone = smile(arguments("alone", {}));
  ASSERT_EQ(alone.status, 0) << alone.error;
  std::vector<std::unique_ptr<Program>> ranks;
  for (const char* rank : {"0", "1", "2"})
    ranks.push_back(std::make_unique<Program>(
        arguments("shared", {"--distributed", "--rank", rank, "--ranks", "3", "--threads", "1"})));
  int tables = 0;
  for (const auto& one : ranks) {
    const Outcome outcome = one->wait();
    EXPECT_EQ(outcome.status, 0) << outcome.error;
    tables += outcome.out.find("pooled table") != std::string::npos;
  }
  EXPECT_EQ(tables, 1);
  EXPECT_TRUE(content_of(folder / "alone/sweep.csv") == content_of(folder / "shared/sweep.csv"));
  std::size_t points = 0;
  for (const auto& entry : fs::directory_iterator(folder / "alone")) {
    if (!entry.is_directory()) continue;
    ++points;
    expect_same_run(entry.path(), folder / "shared" / entry.path().filename().string());
  }
  EXPECT_EQ(points, 4U);
  // Killed in the middle, the same command by fewer ranks does what is left.
  fs::remove_all(folder / "shared");
  Program lost(arguments("shared", {"--distributed", "--rank", "0", "--ranks", "2"}));
  while (!fs::exists(folder / "shared/rng=1,turn_angle=0.05/samples/chain-00.npy"))
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  lost.send(SIGKILL), lost.wait();
  const Outcome again = smile(arguments("shared", {"--distributed", "--rank", "0", "--ranks", "1"}));
  EXPECT_EQ(again.status, 0) << again.error;
  EXPECT_TRUE(content_of(folder / "alone/sweep.csv") == content_of(folder / "shared/sweep.csv"));
}

TEST(SlurmScript, AsksForWhatThePlanNeedsAndGoesOnWhenItIsQueuedAgain) {
  const TemporaryFolder folder;
  const auto config = folder.write("my run.yaml", many_chains(10));
  const Outcome array =
      smile({"slurm", config, "--out", "runs/it's", "--tasks", "4", "--cores", "2", "--set", "rng=7"});
  ASSERT_EQ(array.status, 0) << array.error;
  for (const char* line :
       {"#!/bin/bash\n# 10 chains by 4 tasks of 2 cores. Measured: ", "\n#SBATCH --array=0-3\n",
        "\n#SBATCH --cpus-per-task=2\n", "\n#SBATCH --requeue\n",
        "\n#SBATCH --mem=", "\n#SBATCH --time=00:03:00\n",
        "my run.yaml' --set rng=7 --out 'runs/it'\\''s' --threads 2 --distributed --resume --preemptible &\n",
        "scontrol requeue"})
    EXPECT_NE(array.out.find(line), std::string::npos) << line << "\n" << array.out;
  const Outcome one = smile({"slurm", config, "--one-job", "--partition", "long"});
  ASSERT_EQ(one.status, 0) << one.error;
  for (const char* line :
       {"\n#SBATCH --ntasks=10\n", "\n#SBATCH --partition=long\n", "\nsrun --kill-on-bad-exit=0 smile run "})
    EXPECT_NE(one.out.find(line), std::string::npos) << line << "\n" << one.out;
  EXPECT_EQ(one.out.find("--array"), std::string::npos);
  // A shell takes both.
  EXPECT_EQ(shell("bash -n " + folder.write("job.sh", array.out).string()).status, 0);
  EXPECT_EQ(shell("bash -n " + folder.write("job.sh", one.out).string()).status, 0);
  const Outcome stdin_gone = smile({"slurm", "-"});
  EXPECT_EQ(stdin_gone.status, 2);
  EXPECT_TRUE(stdin_gone.is_one_line_error()) << stdin_gone.error;
  EXPECT_FALSE(fs::exists(folder / "runs"));
}

}  // namespace
}  // namespace smile::test

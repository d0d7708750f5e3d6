// SPDX-License-Identifier: Apache-2.0
// A run in many processes: whoever does its chains, it is the same run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>

#include "many.hpp"

namespace smile::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

int from_environment(const char* name, int usual) {
  const char* text = std::getenv(name);
  return text == nullptr ? usual : std::atoi(text);
}

class Parts : public testing::Test {
 protected:
  fs::path config(int chains, int samples = 400, const std::string& more = "") {
    return folder_.write("config.yaml", many_chains(chains, samples, more));
  }
  /// The run as one process makes it.
  fs::path whole(const fs::path& config) {
    const Outcome outcome = smile({"run", config, "--out", folder_ / "whole", "--quiet", "--threads", "2"});
    EXPECT_EQ(outcome.status, 0) << outcome.error;
    return folder_ / "whole";
  }
  static std::vector<std::string> rank(const fs::path& config, const fs::path& out, int rank, int ranks) {
    return {"run",
            config,
            "--out",
            out,
            "--distributed",
            "--rank",
            std::to_string(rank),
            "--ranks",
            std::to_string(ranks),
            "--threads",
            "1",
            "--quiet"};
  }
  TemporaryFolder folder_;
};

TEST_F(Parts, ChainsOneByOneInAnyOrderAreTheWholeRun) {
  const fs::path file = config(5), run = folder_ / "parts";
  for (const char* chains : {"3", "0", "4", "1-2"}) {
    const Outcome outcome = smile({"run", file, "--out", run, "--chains", chains, "--quiet"});
    EXPECT_EQ(outcome.status, 0) << outcome.error;
    EXPECT_NE(outcome.out.find(" of 5 chains are complete"), std::string::npos) << outcome.out;
  }
  // What is done is not done again.
  const std::string draws = content_of(run / "samples/chain-03.npy");
  const auto written = fs::last_write_time(run / "samples/chain-03.npy");
  EXPECT_EQ(smile({"run", file, "--out", run, "--chains", "3", "--quiet"}).status, 0);
  EXPECT_EQ(fs::last_write_time(run / "samples/chain-03.npy"), written);
  const Outcome merged = smile({"merge", run, "--quiet"});
  EXPECT_EQ(merged.status, 0) << merged.error;
  expect_same_run(whole(file), run);
  EXPECT_TRUE(report_of(folder_ / "whole") == report_of(run));
}

TEST_F(Parts, RanksThatAreStartedByHandShareTheChainsAndTheLastOneEvaluates) {
  const fs::path file = config(7), run = folder_ / "ranks";
  std::vector<std::unique_ptr<Program>> ranks;
  for (int i = 0; i < 3; ++i) ranks.push_back(std::make_unique<Program>(rank(file, run, i, 3)));
  int tables = 0;
  for (const auto& one : ranks) {
    const Outcome outcome = one->wait();
    EXPECT_EQ(outcome.status, 0) << outcome.error;
    tables += outcome.out.find("report: ") != std::string::npos;
  }
  EXPECT_EQ(tables, 1);
  expect_same_run(whole(file), run);
}

class Launchers : public Parts, public testing::WithParamInterface<const char*> {};

TEST_P(Launchers, ThreeRanksMakeTheSameRun) {
  const std::string launcher = GetParam();
  if (!has_command(launcher)) GTEST_SKIP() << launcher << " is not installed";
  const fs::path file = config(7), run = folder_ / "ranks";
  // Open MPI asks before it lets root or more ranks than cores in.
  const std::string leave = launcher == "mpirun.openmpi" ? " --allow-run-as-root --oversubscribe" : "";
  const Outcome outcome = shell("timeout 120 " + launcher + leave + " -n 3 " SMILE_PROGRAM " run " +
                                file.string() + " --out " + run.string() + " --distributed");
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  // One progress and one table, whatever the number of ranks.
  const auto first = outcome.error.find("sampling: ");
  EXPECT_NE(first, std::string::npos) << outcome.error;
  EXPECT_EQ(outcome.error.find("steps in", outcome.error.find("steps in") + 1), std::string::npos)
      << outcome.error;
  EXPECT_NE(outcome.out.find("report: "), std::string::npos) << outcome.out;
  expect_same_run(whole(file), run);
}

TEST_P(Launchers, ALostRankCostsItsChainAlone) {
  const std::string launcher = GetParam();
  if (!has_command(launcher)) GTEST_SKIP() << launcher << " is not installed";
  const fs::path file = config(6, 12000), run = folder_ / "ranks";
  const std::string leave =
      launcher == "mpirun.openmpi" ? " --allow-run-as-root --oversubscribe --enable-recovery" : "";
  // A rank that is not the first is killed in its chain.
  std::string lost;
  std::thread killer([&] {
    for (int i = 0; i < 4000 && lost.empty(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      const json first = json::parse(content_of(run / "locks/rank-0"), nullptr, false);
      for (int chain = 0; first.is_object() && chain < 6 && lost.empty(); ++chain) {
        const std::string name = "chain-0" + std::to_string(chain);
        const json one = json::parse(content_of(run / "locks" / name), nullptr, false);
        if (!one.is_object() || first["pid"] == one["pid"] || !fs::exists(run / "samples" / (name + ".npy")))
          continue;
        if (::kill(one["pid"].get<pid_t>(), SIGKILL) == 0) lost = std::to_string(chain);
      }
    }
  });
  const Outcome outcome = shell("timeout 120 " + launcher + leave + " -n 3 " SMILE_PROGRAM " run " +
                                file.string() + " --out " + run.string() + " --distributed --quiet");
  killer.join();
  ASSERT_NE(lost, "");
  if (launcher == "mpirun.openmpi") {
    EXPECT_NE(outcome.error.find("1 of 6 chains are missing: " + lost + " (chain " + lost + ": process "),
              std::string::npos)
        << outcome.status << outcome.error << outcome.out;
    EXPECT_NE(outcome.error.find("--resume`"), std::string::npos) << outcome.error;
  } else {
    // MPICH's mpirun ends the others, too: what is on the disk is what --resume goes on from.
    EXPECT_NE(outcome.status, 0);
  }
  const Outcome resumed = smile({"run", file, "--out", run, "--resume", "--quiet"});
  EXPECT_EQ(resumed.status, 0) << resumed.error;
  expect_same_run(whole(file), run);
}

INSTANTIATE_TEST_SUITE_P(Names, Launchers, testing::Values("mpirun.openmpi", "mpirun.mpich"),
                         [](const auto& param) { return std::string(param.param).substr(7); });

TEST_F(Parts, CopiesOfOneMemberAndPriorsOfAllAreTheSame) {
  for (const char* more :
       {"    prior_config: {name: WarmStart}\n", "  warmstart: {permutation_warmstart: true}\n"}) {
    SCOPED_TRACE(more);
    std::string text = many_chains(4);
    if (std::string(more).find("prior") != std::string::npos)
      text += more;
    else
      text.insert(text.find("    max_epochs"), "    permutation_warmstart: true\n");
    const fs::path file = folder_.write("config.yaml", text), run = folder_ / "parts";
    std::vector<std::unique_ptr<Program>> ranks;
    for (int i = 0; i < 3; ++i) ranks.push_back(std::make_unique<Program>(rank(file, run, i, 3)));
    for (const auto& one : ranks) EXPECT_EQ(one->wait().status, 0);
    expect_same_run(whole(file), run);
    fs::remove_all(run);
    fs::remove_all(folder_ / "whole");
  }
}

TEST_F(Parts, OfTwoProcessesThatAreAskedForTheSameChainOneWorksAndOneSaysWhoHasIt) {
  const fs::path file = config(3, 2000000), run = folder_ / "run";
  Program first({"run", file, "--out", run, "--chains", "1", "--quiet"});
  while (!fs::exists(run / "samples/chain-01.npy")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto expect_refused = [&](const std::vector<std::string>& arguments) {
    const Outcome second = smile(arguments);
    EXPECT_EQ(second.status, 1);
    EXPECT_TRUE(second.is_one_line_error()) << second.error;
    EXPECT_NE(second.error.find("in use by process " + std::to_string(first.pid()) + " on "),
              std::string::npos)
        << second.error;
  };
  expect_refused({"run", file, "--out", run, "--chains", "0-1"});
  expect_refused({"run", file, "--out", run, "--chains", "1", "--resume"});
  expect_refused({"run", file, "--out", run, "--resume"});
  expect_refused({"merge", run});
  // Another chain is another's business.
  Program other({"run", file, "--out", run, "--chains", "2", "--quiet"});
  while (!fs::exists(run / "samples/chain-02.npy")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const Outcome status = smile({"status", run, "--fast"});
  EXPECT_NE(status.out.find("and 1 more"), std::string::npos) << status.out;
  // Killed, it leaves its chain, which --resume takes over and nothing else.
  first.send(SIGKILL), first.wait();
  other.send(SIGTERM);
  EXPECT_EQ(other.wait().status, 1);
  const Outcome without = smile({"run", file, "--out", run, "--chains", "1"});
  EXPECT_EQ(without.status, 1);
  EXPECT_TRUE(without.is_one_line_error()) << without.error;
  EXPECT_NE(without.error.find("--resume"), std::string::npos) << without.error;
  Program third({"run", file, "--out", run, "--chains", "1", "--resume", "--quiet"});
  for (int i = 0; i < 2000; ++i) {
    const json lock = json::parse(content_of(run / "locks/chain-01"), nullptr, false);
    std::size_t held = 0;
    for (const auto& entry : fs::directory_iterator(run / "locks"))
      held += content_of(entry.path()).find("\"pid\":" + std::to_string(third.pid())) != std::string::npos;
    if (held == 1) break;
    ASSERT_LT(i, 1999);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  third.send(SIGTERM);
  third.wait();
}

/// kill -9 of any rank at any moment, then --resume with another number of ranks.
TEST_F(Parts, KilledAtAnyMomentTheyEndAsTheSameRun) {
  const fs::path file = config(5, 3000), run = folder_ / "run";
  const fs::path reference = whole(file);
  std::mt19937 random(7);
  int kills = 0;
  for (int attempt = 0; kills < from_environment("SMILE_KILLS", 20); ++attempt) {
    ASSERT_LT(attempt, 200);
    const int ranks = 1 + attempt % 3;
    std::vector<std::unique_ptr<Program>> programs;
    for (int i = 0; i < ranks; ++i) {
      auto arguments = rank(file, run, i, ranks);
      arguments.push_back("--resume");
      programs.push_back(std::make_unique<Program>(arguments));
    }
    std::this_thread::sleep_for(std::chrono::microseconds(2000 + random() % 150000));
    programs[random() % programs.size()]->send(SIGKILL);
    if (random() % 3 == 0)
      for (const auto& one : programs) one->send(SIGKILL);
    for (const auto& one : programs) {
      const Outcome outcome = one->wait();
      kills += outcome.status == 128 + SIGKILL;
      // What a living rank says of a dead one is no failure of its own.
      if (outcome.status != 128 + SIGKILL && outcome.status != 0) {
        EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
        EXPECT_NE(outcome.error.find("missing"), std::string::npos) << outcome.error;
      }
    }
    // A run that is complete starts anew, so that the next moments are not all after its end.
    const json state = json::parse(content_of(run / "status.json"), nullptr, false);
    if (state.is_object() && state.value("status", "") == "complete") {
      expect_same_run(reference, run);
      fs::remove_all(run);
    }
  }
  auto last = rank(file, run, 0, 1);
  last.push_back("--resume");
  const Outcome outcome = smile(last);
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  expect_same_run(reference, run);
  // No chain was done after it had ended.
  std::map<std::string, int> ended;
  for (const auto& entry : fs::directory_iterator(run / "log")) {
    std::istringstream lines(content_of(entry.path()));
    for (std::string line; std::getline(lines, line);)
      if (const auto at = line.find("chain "); line.find(" has ended") != std::string::npos)
        ++ended[line.substr(at, 8)];
  }
  for (const auto& [chain, times] : ended) EXPECT_EQ(times, 1) << chain;
}

TEST_F(Parts, ThirtyTwoThatBeginAtOnceMakeOneRun) {
  const fs::path file =
      folder_.write("config.yaml", "data:\n  path: " + airfoil() +
                                       "\n  task: mean_regr\n  datapoint_limit: 60\nmodel: "
                                       "{hidden_structure: [2, 1]}\ntraining:\n  warmstart: {include: "
                                       "false}\n  sampler: {name: sgld, step_size: 1.0e-7, batch_size: 10, "
                                       "n_chains: 40, warmup_steps: 5, n_samples: 10, "
                                       "n_thinning: 1}\n");
  const int rounds = from_environment("SMILE_STRESS_ROUNDS", 3);
  std::string draws;
  for (int round = 0; round < rounds; ++round) {
    const fs::path run = folder_ / ("run-" + std::to_string(round));
    std::vector<std::unique_ptr<Program>> ranks;
    for (int i = 0; i < 32; ++i) ranks.push_back(std::make_unique<Program>(rank(file, run, i, 32)));
    int tables = 0;
    for (const auto& one : ranks) {
      const Outcome outcome = one->wait();
      EXPECT_EQ(outcome.status, 0) << outcome.error;
      tables += outcome.out.find("report: ") != std::string::npos;
    }
    EXPECT_EQ(tables, 1) << "evaluated once";
    EXPECT_EQ(json::parse(content_of(run / "status.json"))["status"], "complete");
    EXPECT_TRUE(fs::is_empty(run / "locks"));
    std::string now;
    for (int chain = 0; chain < 40; ++chain) {
      char name[32];
      std::snprintf(name, sizeof name, "samples/chain-%02d.npy", chain);
      now += content_of(run / name);
    }
    EXPECT_GT(now.size(), 40U * 128);
    if (draws.empty()) draws = now;
    EXPECT_TRUE(now == draws);
    fs::remove_all(run);
  }
}

TEST_F(Parts, AFileSystemThatRefusesLocksIsNoMatter) {
  const fs::path file = config(3), run = folder_ / "run";
  const auto preload = [] { ::setenv("LD_PRELOAD", SMILE_TEST_NO_LOCKS, 1); };
  const Outcome one = smile({"run", file, "--out", run, "--quiet"}, preload);
  EXPECT_EQ(one.status, 0) << one.error;
  expect_same_run(whole(file), run);
  EXPECT_EQ(smile({"run", file, "--out", folder_ / "parts", "--chains", "0-2", "--quiet"}, preload).status,
            0);
  EXPECT_EQ(smile({"merge", folder_ / "parts", "--quiet"}, preload).status, 0);
  expect_same_run(folder_ / "whole", folder_ / "parts");
}

TEST_F(Parts, MadeInFoldersOfTheirOwnAreMerged) {
  const fs::path file = config(4);
  EXPECT_EQ(smile({"run", file, "--out", folder_ / "a", "--chains", "0,2", "--quiet"}).status, 0);
  EXPECT_EQ(smile({"run", file, "--out", folder_ / "b", "--chains", "2-3", "--quiet"}).status, 0);
  const Outcome some = smile({"merge", folder_ / "a", folder_ / "b", "--out", folder_ / "some", "--quiet"});
  EXPECT_EQ(some.status, 1);
  EXPECT_TRUE(some.is_one_line_error()) << some.error;
  EXPECT_NE(some.error.find("3 of 4 chains are complete; missing: 1"), std::string::npos) << some.error;
  EXPECT_EQ(smile({"run", file, "--out", folder_ / "c", "--chains", "1", "--quiet"}).status, 0);
  const Outcome all =
      smile({"merge", folder_ / "a", folder_ / "b", folder_ / "c", "--out", folder_ / "all", "--quiet"});
  EXPECT_EQ(all.status, 0) << all.error;
  expect_same_run(whole(file), folder_ / "all");
  // What was begun in a merged folder goes on there.
  EXPECT_EQ(smile({"run", file, "--out", folder_ / "some", "--resume", "--quiet"}).status, 0);
  expect_same_run(folder_ / "whole", folder_ / "some");

  EXPECT_EQ(
      smile({"run", file, "--out", folder_ / "other", "--chains", "1", "--quiet", "--set", "rng=4"}).status,
      0);
  const Outcome wrong = smile({"merge", folder_ / "a", folder_ / "other", "--out", folder_ / "mixed"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_TRUE(wrong.is_one_line_error()) << wrong.error;
  EXPECT_NE(wrong.error.find("rng (3 in the run, 4 now)"), std::string::npos) << wrong.error;
  EXPECT_FALSE(fs::exists(folder_ / "mixed"));
  const Outcome taken = smile({"merge", folder_ / "a", folder_ / "b", "--out", folder_ / "all"});
  EXPECT_EQ(taken.status, 2);
  EXPECT_TRUE(taken.is_one_line_error()) << taken.error;
}

TEST_F(Parts, WrongUsageIsOneLine) {
  const fs::path file = config(10), run = folder_ / "run";
  ASSERT_EQ(smile({"run", file, "--out", run, "--chains", "0", "--quiet"}).status, 0);
  const auto expect_error = [&](std::vector<std::string> arguments, const std::string& says) {
    arguments.insert(arguments.begin(), {"run", file.string()});
    const Outcome outcome = smile(arguments);
    EXPECT_EQ(outcome.status, 2) << outcome.error;
    EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
    EXPECT_NE(outcome.error.find(says), std::string::npos) << outcome.error;
  };
  const std::string out = run.string();
  expect_error({"--out", out, "--chains", "12"}, "12 is none of the 10 chains");
  for (const char* list : {"3-", "a", "1,,2", "4-2", "1,1", "-1", "99999999999"})
    expect_error({"--out", out, "--chains=" + std::string(list)}, "--chains");
  expect_error({"--chains", "1"}, "--out DIR");
  expect_error({"--out", out, "--distributed", "--rank", "3", "--ranks", "3"}, "rank 3 of 3");
  expect_error({"--out", out, "--distributed", "--rank", "3"}, "--ranks");
  expect_error({"--out", out, "--distributed"}, "no launcher");
  expect_error({"--out", out, "--rank", "1", "--ranks", "2"}, "--distributed");
  expect_error({"--out", out, "--distributed", "--rank", "0", "--ranks", "1", "--chains", "1"}, "--chains");
  expect_error({"--out", out, "--chains", "1", "--set", "rng=5"}, "rng (3 in the run, 5 now)");
  folder_.write("notes/mine.txt", "");
  fs::create_directories(folder_ / "notes");
  folder_.write("notes/mine.txt", "x");
  expect_error({"--out", folder_ / "notes", "--chains", "1"}, "not empty");
  EXPECT_EQ(content_of(folder_ / "notes/mine.txt"), "x");
  EXPECT_FALSE(fs::exists(folder_ / "notes/config.yaml"));
}

TEST_F(Parts, WhatIsMissingOrChangedIsToldAndNothingIsLost) {
  const fs::path file = config(3), run = folder_ / "run";
  ASSERT_EQ(smile({"run", file, "--out", run, "--chains", "0-2", "--quiet"}).status, 0);
  const auto expect_merge_refused = [&](int status, const std::string& says) {
    const Outcome outcome = smile({"merge", run, "--quiet"});
    EXPECT_EQ(outcome.status, status) << outcome.error;
    EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
    EXPECT_NE(outcome.error.find(says), std::string::npos) << outcome.error;
  };
  fs::rename(run / "warmstart/member-01.npy", folder_ / "kept");
  expect_merge_refused(2, "member-01.npy: is missing");
  fs::copy_file(run / "warmstart/member-00.npy", run / "warmstart/member-01.npy");
  expect_merge_refused(2, "is not the member that its chain started from");
  fs::rename(folder_ / "kept", run / "warmstart/member-01.npy");
  fs::rename(run / "checkpoint/chain-02.bin", folder_ / "kept");
  fs::remove(run / "checkpoint/chain-02.bin.previous");
  expect_merge_refused(1, "2 of 3 chains are complete; missing: 2");
  fs::rename(folder_ / "kept", run / "checkpoint/chain-02.bin");
  EXPECT_EQ(smile({"merge", run, "--quiet"}).status, 0);
  expect_same_run(whole(file), run);
}

TEST_F(Parts, AFullDiskCostsAProcessItsChainAndResumingMendsIt) {
  const fs::path file = config(4, 2000), run = folder_ / "run";
  const Outcome full = smile(rank(file, run, 0, 1), [] {
    const rlimit limit{100000, 100000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  });
  EXPECT_EQ(full.status, 1);
  EXPECT_TRUE(full.is_one_line_error()) << full.error;
  auto again = rank(file, run, 0, 2);
  again.push_back("--resume");
  const Outcome resumed = smile(again);
  EXPECT_EQ(resumed.status, 0) << resumed.error;
  expect_same_run(whole(file), run);
}

TEST_F(Parts, PreemptedTheyAskToBeStartedAgain) {
  const fs::path file = config(2, 4000), run = folder_ / "run";
  for (const int signal : {SIGTERM, SIGHUP, SIGUSR1}) {
    auto arguments = rank(file, run, 0, 1);
    arguments.insert(arguments.end(),
                     {"--resume", "--preemptible", "--set", "training.sampler.n_samples=400000"});
    Program program(arguments);
    while (!fs::exists(run / "samples/chain-00.npy"))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    program.send(signal);
    EXPECT_EQ(program.wait().status, 75);
    EXPECT_TRUE(fs::exists(run / "checkpoint/chain-00.bin"));
    EXPECT_TRUE(fs::is_empty(run / "locks"));
  }
}

}  // namespace
}  // namespace smile::test

// SPDX-License-Identifier: Apache-2.0
/// Commands that read a run refuse what is not one, is of another version, is incomplete, or is being
/// written, and say what can be done.
#include <gtest/gtest.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "../../end_to_end/pipeline/program.hpp"

namespace smile::test {
namespace {

namespace fs = std::filesystem;

class Unreadable : public testing::TestWithParam<const char*> {
 protected:
  std::vector<std::string> command(const fs::path& run) const {
    std::vector<std::string> arguments = {GetParam(), run};
    if (std::string(GetParam()) == "predict")
      arguments.insert(arguments.end(), {"--data", airfoil(), "--out", folder_ / "p.csv"});
    else
      arguments.insert(arguments.end(), {"--format", "npz", "--out", folder_ / "draws.npz"});
    return arguments;
  }
  void expect_refused(const fs::path& run, int status, const std::vector<std::string>& parts) const {
    const Outcome outcome = smile(command(run));
    EXPECT_EQ(outcome.status, status) << outcome.error;
    EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
    for (const auto& part : parts) EXPECT_NE(outcome.error.find(part), std::string::npos) << outcome.error;
    EXPECT_FALSE(fs::exists(folder_ / "p.csv"));
    EXPECT_FALSE(fs::exists(folder_ / "draws.npz"));
  }
  fs::path complete_run() {
    const auto config = folder_.write("config.yaml", small_config());
    EXPECT_EQ(smile({"run", config, "--out", folder_ / "results/run", "--quiet"}).status, 0);
    return folder_ / "results/run";
  }
  TemporaryFolder folder_;
};

TEST_P(Unreadable, WhatIsNoRun) {
  expect_refused(folder_ / "none", 2, {"there is no such run directory"});
  expect_refused(folder_.write("file", "x"), 2, {"is a file, not a run directory"});
  fs::create_directory(folder_ / "empty");
  expect_refused(folder_ / "empty", 2, {"holds no run (no config.yaml)"});
}

TEST_P(Unreadable, AFolderOfRunsAndAnotherVersion) {
  const fs::path run = complete_run();
  expect_refused(folder_ / "results", 2, {"is not a run, it holds 1", "give one of them: run"});

  const std::string status = content_of(run / "status.json");
  auto changed = nlohmann::json::parse(status);
  const std::string version = changed["version"];
  changed["version"] = "7.1.0";
  std::ofstream(run / "status.json") << changed.dump();
  expect_refused(run, 2, {"was written by smile 7.1.0 and this is smile " + version, "use smile 7.1.0"});
  changed["version"] = version.substr(0, version.rfind('.')) + ".99";  // only a patch apart
  std::ofstream(run / "status.json") << changed.dump();
  EXPECT_EQ(smile(command(run)).status, 0);
}

TEST_P(Unreadable, WhatIsIncompleteOrBeingWritten) {
  const auto config = folder_.write("config.yaml", small_config());
  const fs::path run = folder_ / "run";
  Program running({"run", config, "--out", run, "--quiet", "--set", "training.sampler.n_samples=4000000",
                   "--set", "training.sampler.n_thinning=400"});
  while (!fs::exists(run / "samples/chain-00.npy") || content_of(run / "samples/chain-00.npy").size() < 60000)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  expect_refused(run, 1, {"is being written by process " + std::to_string(running.pid()), "wait for it"});
  running.send(SIGKILL);
  running.wait();
  expect_refused(run, 1, {"the run is incomplete", "let it go on with `smile run"});
  // Once there is a checkpoint, what is stored may be used.
  Program again({"run", config, "--out", run, "--resume", "--quiet", "--set",
                 "training.sampler.n_samples=4000000", "--set", "training.sampler.n_thinning=400"});
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  again.send(SIGINT);
  again.wait();
  expect_refused(run, 1,
                 {"0 of 3 chains are complete", "draws are stored", "interrupted during sampling",
                  "--resume`, or use the draws that are there with --incomplete"});
  auto arguments = command(run);
  arguments.push_back("--incomplete");
  const Outcome outcome = smile(arguments);
  EXPECT_EQ(outcome.status, 0) << outcome.error;
}

INSTANTIATE_TEST_SUITE_P(Commands, Unreadable, testing::Values("predict", "export"),
                         [](const auto& param) { return std::string(param.param); });

}  // namespace
}  // namespace smile::test

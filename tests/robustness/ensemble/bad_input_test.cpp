// SPDX-License-Identifier: Apache-2.0
/// Wrong input and hostile surroundings, through the program: one line with place and mend, the right exit
/// status, nothing lost.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <sstream>

#include "../../end_to_end/pipeline/program.hpp"

namespace smile::test {
namespace {

namespace fs = std::filesystem;

class BadInput : public testing::Test {
 protected:
  /// Expects a usage error that names `part`, and that nothing was written.
  void expect_refused(const std::string& config, const std::string& part,
                      const std::vector<std::string>& more = {}) {
    const auto file = folder_.write("config.yaml", config);
    std::vector<std::string> arguments = {"run", file, "--out", folder_ / "run"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = smile(arguments);
    EXPECT_EQ(outcome.status, 2) << outcome.error;
    EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
    EXPECT_NE(outcome.error.find(part), std::string::npos) << outcome.error;
    EXPECT_FALSE(fs::exists(folder_ / "run")) << "a run directory was begun";
    EXPECT_TRUE(outcome.out.empty()) << outcome.out;
  }
  std::string table(std::size_t rows, bool constant = false) {
    std::ostringstream out;
    for (std::size_t i = 0; i < rows; ++i)
      out << i % 13 << ' ' << i % 7 << ' ' << (constant ? 5 : double(i % 11)) << '\n';
    return folder_.write("table.data", out.str());
  }
  TemporaryFolder folder_;
};

TEST_F(BadInput, WrongKey) {
  expect_refused(small_config() + "    n_sample: 3\n", "n_sample");
}
TEST_F(BadInput, WrongType) {
  expect_refused(small_config() + "    step_size: fast\n", "step_size");
}
TEST_F(BadInput, MissingConfiguration) {
  const Outcome outcome = smile({"run", folder_ / "none.yaml"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
}
TEST_F(BadInput, MissingData) {
  expect_refused(small_config(folder_ / "none.data"), "none.data");
}
TEST_F(BadInput, EmptyData) {
  expect_refused(small_config(folder_.write("empty.data", "")), "empty.data");
}
TEST_F(BadInput, OneRow) {
  expect_refused(small_config(table(1)), "table.data");
}
TEST_F(BadInput, ConstantTarget) {
  expect_refused(small_config(table(200, true)), "constant");
}
TEST_F(BadInput, BatchLargerThanTheData) {
  expect_refused(small_config(table(100)), "batch_size");
}
TEST_F(BadInput, ThinningLargerThanTheSamples) {
  expect_refused(small_config(), "n_thinning", {"--set", "training.sampler.n_thinning=401"});
}
TEST_F(BadInput, BurnInOfAllDraws) {
  expect_refused(small_config(), "burn_in", {"--set", "training.sampler.burn_in=100"});
}
TEST_F(BadInput, TurningAngleWithOneBatchAnEpoch) {
  expect_refused(small_config(), "mclmc", {"--set", "training.sampler.batch_size=1000"});
}
TEST_F(BadInput, WrongNumberOfClasses) {
  expect_refused(small_config(table(200), "psmile-auto", "class"), "hidden_structure",
                 {"--set", "training.sampler.batch_size=32", "--set", "model.hidden_structure=[8, 3]"});
}
TEST_F(BadInput, WordsWhereNumbersShouldBe) {
  expect_refused(small_config(folder_.write("words.data", "1 2 3\n4 five 6\n7 8 9\n")), "words.data:2:2");
}

TEST_F(BadInput, AFolderThatHoldsSomething) {
  fs::create_directories(folder_ / "run");
  folder_.write("run/notes.txt", "mine");
  const auto config = folder_.write("config.yaml", small_config());
  const Outcome outcome = smile({"run", config, "--out", folder_ / "run"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
  EXPECT_EQ(content_of(folder_ / "run/notes.txt"), "mine");
}

TEST_F(BadInput, UnwritableOutput) {
  const auto config = folder_.write("config.yaml", small_config());
  // /proc refuses folders even to root.
  const Outcome outcome = smile({"run", config, "--out", "/proc/smile-run"});
  EXPECT_EQ(outcome.status, 1) << outcome.error;
  EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
}

TEST_F(BadInput, AFileInPlaceOfTheFolder) {
  const auto config = folder_.write("config.yaml", small_config());
  const auto file = folder_.write("file", "x");
  const Outcome outcome = smile({"run", config, "--out", file / "run"});
  EXPECT_EQ(outcome.status, 1) << outcome.error;
  EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
}

TEST_F(BadInput, NoRunToEvaluate) {
  for (const char* command : {"evaluate", "predict"}) {
    std::vector<std::string> arguments = {command, folder_ / "none"};
    if (std::string(command) == "predict") arguments.insert(arguments.end(), {"--data", airfoil()});
    const Outcome outcome = smile(arguments);
    EXPECT_EQ(outcome.status, 2) << command;
    EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
  }
}

TEST(Surroundings, ASecondProcessOnTheSameRunIsRefused) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const std::vector<std::string> longer = {"--set", "training.sampler.n_samples=2000000", "--out",
                                           folder / "run"};
  std::vector<std::string> arguments = {"run", config};
  arguments.insert(arguments.end(), longer.begin(), longer.end());
  Program first(arguments);
  while (!fs::exists(folder / "run/samples/chain-00.npy"))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  arguments.push_back("--resume");
  const Outcome second = smile(arguments);
  EXPECT_EQ(second.status, 1);
  EXPECT_TRUE(second.is_one_line_error()) << second.error;
  EXPECT_NE(second.error.find(std::to_string(first.pid())), std::string::npos)
      << "names the holder: " << second.error;
  // Killed, it leaves its lock file, which does not count.
  first.send(SIGKILL);
  first.wait();
  EXPECT_TRUE(fs::exists(folder / "run/lock"));
  Program third(arguments);
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  third.send(SIGINT);
  const Outcome outcome = third.wait();
  EXPECT_NE(outcome.error.find("interrupted"), std::string::npos) << outcome.error;
}

TEST(Surroundings, AFullDiskStopsTheRunAndItCanBeResumed) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const Outcome whole = smile({"run", config, "--out", folder / "whole"});
  ASSERT_EQ(whole.status, 0);
  const Outcome full = smile({"run", config, "--out", folder / "full"}, [] {
    const rlimit limit{100000, 100000};  // a third of a file of draws
    ::setrlimit(RLIMIT_FSIZE, &limit);
  });
  EXPECT_EQ(full.status, 1) << full.error;
  EXPECT_TRUE(full.is_one_line_error()) << full.error;
  EXPECT_NE(full.error.find("samples/chain-0"), std::string::npos) << full.error;
  const Outcome resumed = smile({"run", config, "--out", folder / "full", "--resume"});
  ASSERT_EQ(resumed.status, 0) << resumed.error;
  for (const char* name : {"samples/chain-00.npy", "samples/chain-01.npy", "samples/chain-02.npy"})
    EXPECT_TRUE(content_of(folder / "whole" / name) == content_of(folder / "full" / name)) << name;
}

TEST(Surroundings, ARunThatCannotFitIsRefusedBeforeItBegins) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const Outcome outcome =
      smile({"run", config, "--out", folder / "run", "--set", "training.sampler.n_samples=900000000000",
             "--set", "training.sampler.n_thinning=1"});
  EXPECT_EQ(outcome.status, 1) << outcome.error;
  EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
  EXPECT_NE(outcome.error.find("MB"), std::string::npos) << outcome.error;
}

TEST(Surroundings, AChainThatExplodesFailsTheRunWithItsCause) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config(airfoil(), "sgld"));
  const Outcome outcome =
      smile({"run", config, "--out", folder / "run", "--set", "training.sampler.step_size=1e30"});
  EXPECT_EQ(outcome.status, 1) << outcome.error;
  EXPECT_NE(outcome.error.find("not finite"), std::string::npos) << outcome.error;
  EXPECT_NE(content_of(folder / "run/status.json").find("failed"), std::string::npos);
}

TEST(Surroundings, ADamagedCheckpointFallsBackOrIsNamed) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const fs::path run = folder / "run";
  ASSERT_EQ(smile({"run", config, "--out", run}).status, 0);
  const std::string draws = content_of(run / "samples/chain-01.npy");
  std::ofstream(run / "checkpoint/chain-01.bin", std::ios::binary) << "nonsense";
  const Outcome outcome = smile({"run", config, "--out", run, "--resume"});
  EXPECT_EQ(outcome.status, 1) << outcome.error;
  EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
  EXPECT_NE(outcome.error.find("chain-01.bin"), std::string::npos) << outcome.error;
  // What the message says mends it.
  fs::remove(run / "checkpoint/chain-01.bin");
  EXPECT_EQ(smile({"run", config, "--out", run, "--resume"}).status, 0);
  EXPECT_TRUE(content_of(run / "samples/chain-01.npy") == draws);
}

TEST(Surroundings, ChangedDataIsNoticedOnResume) {
  TemporaryFolder folder;
  const auto data = folder.write("airfoil.data", content_of(airfoil()));
  const auto config = folder.write("config.yaml", small_config(data));
  ASSERT_EQ(smile({"run", config, "--out", folder / "run"}).status, 0);
  std::string text = content_of(data);
  text[0] = '9';
  folder.write("airfoil.data", text);
  const Outcome outcome = smile({"run", config, "--out", folder / "run", "--resume"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
}

}  // namespace
}  // namespace smile::test

// SPDX-License-Identifier: Apache-2.0
/// Rows as people have them: columns of one name, targets that are missing, features out of range; a part of
/// the draws; the time that is left; and a run in a folder whose name has a space.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <thread>

#include "../pipeline/program.hpp"
#include "smile/random/stream.hpp"

namespace smile::test {
namespace {

namespace fs = std::filesystem;

constexpr int kRows = 120;

class AwkwardRows : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    folder_->write("table.csv", table("a,a,y", [](std::string&, int) {}));
    const auto config = folder_->write(
        "config.yaml", "data: {path: " + (*folder_ / "table.csv").string() +
                           ", task: mean_regr}\ntraining: {warmstart: {max_epochs: 10}, sampler: "
                           "{n_chains: 2, warmup_steps: 100, n_samples: 200, n_thinning: 2}}\n");
    const Outcome outcome = smile({"run", config, "--out", run(), "--quiet"});
    ASSERT_EQ(outcome.status, 0) << outcome.error;
  }
  static void TearDownTestSuite() { delete folder_; }

  /// Two features of one name and the target. @param change  of a line, by its number from 1
  static std::string table(const std::string& head, const std::function<void(std::string&, int)>& change) {
    Stream stream({.seed = 8, .purpose = Purpose::split});
    std::ostringstream out;
    out << head << '\n';
    for (int i = 1; i <= kRows; ++i) {
      const double u = stream.normal(), v = stream.normal();
      std::ostringstream line;
      line << u << ',' << v << ',' << u - v + 0.2 * stream.normal();
      std::string text = line.str();
      change(text, i);
      out << text << '\n';
    }
    return out.str();
  }
  static fs::path run() { return *folder_ / "a run"; }
  static Outcome predict(const fs::path& data, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"predict", run(), "--data", data, "--out", *folder_ / "out.csv"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return smile(arguments);
  }
  static std::size_t rows_written() {
    const std::string text = content_of(*folder_ / "out.csv");
    return std::size_t(std::count(text.begin(), text.end(), '\n')) - 1;
  }
  static TemporaryFolder* folder_;
};
TemporaryFolder* AwkwardRows::folder_ = nullptr;

std::string without_target(const std::string& line) {
  return line.substr(0, line.rfind(',') + 1);
}

/// What was trained on can be predicted.
TEST_F(AwkwardRows, TwoColumnsOfOneNameAreReadBothTimes) {
  const Outcome outcome = predict(*folder_ / "table.csv");
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_EQ(rows_written(), std::size_t(kRows));
  EXPECT_NE(outcome.out.find("RMSE"), std::string::npos) << outcome.out;
}

TEST_F(AwkwardRows, RowsWithoutATargetArePredictedAndTheOthersScored) {
  const auto none =
      folder_->write("none.csv", table("a,a,y", [](std::string& line, int) { line = without_target(line); }));
  Outcome outcome = predict(none);
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_EQ(rows_written(), std::size_t(kRows));
  EXPECT_EQ(outcome.out.find("LPPD"), std::string::npos) << "nothing to score: " << outcome.out;
  const auto some = folder_->write("some.csv", table("a,a,y", [](std::string& line, int i) {
                                     if (i % 40 == 1) line = without_target(line);
                                   }));
  outcome = predict(some);
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_EQ(rows_written(), std::size_t(kRows));
  EXPECT_NE(outcome.error.find("117 of 120 rows have a target"), std::string::npos) << outcome.error;
  EXPECT_NE(outcome.out.find("LPPD"), std::string::npos) << outcome.out;
}

TEST_F(AwkwardRows, FeaturesFarOutOfRangeAreCountedAndTheFirstIsNamed) {
  const auto far = folder_->write("far.csv", table("a,a,y", [](std::string& line, int i) {
                                    if (i == 3 || i == 7) line = "1e30" + line.substr(line.find(','));
                                  }));
  const Outcome outcome = predict(far);
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_NE(outcome.error.find("2 by more than the range's width (first: line 4, 'a' is 1e+30"),
            std::string::npos)
      << outcome.error;
  // A number of thirty digits says nothing that 1e30 does not.
  EXPECT_FALSE(std::regex_search(outcome.out, std::regex("[0-9]{9}"))) << outcome.out;
}

TEST_F(AwkwardRows, FilledCellsAreCounted) {
  const auto table_with_holes = folder_->write("holes.csv", table("a,b,y", [](std::string& line, int i) {
                                                 if (i % 30 == 1) line = line.substr(line.find(','));
                                               }));
  const auto config = folder_->write(
      "holes.yaml", "data: {path: " + table_with_holes.string() +
                        ", task: mean_regr, missing: mean}\ntraining: {warmstart: {max_epochs: 5}, sampler: "
                        "{n_chains: 2, warmup_steps: 50, n_samples: 100, n_thinning: 2}}\n");
  ASSERT_EQ(smile({"run", config, "--out", *folder_ / "holes", "--quiet"}).status, 0);
  const Outcome outcome =
      smile({"predict", *folder_ / "holes", "--data", table_with_holes, "--out", *folder_ / "out.csv"});
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_NE(outcome.error.find("4 missing values replaced by the mean"), std::string::npos) << outcome.error;
}

TEST_F(AwkwardRows, EveryKthDrawAndTheTimeLeft) {
  const Outcome all = predict(*folder_ / "table.csv");
  EXPECT_NE(all.error.find("rows/s"), std::string::npos) << all.error;
  const std::string of_all = content_of(*folder_ / "out.csv");
  const Outcome some = predict(*folder_ / "table.csv", {"--every", "10"});
  EXPECT_EQ(some.status, 0) << some.error;
  EXPECT_EQ(rows_written(), std::size_t(kRows));
  EXPECT_NE(content_of(*folder_ / "out.csv"), of_all) << "a tenth of the draws predicts as all do";
  EXPECT_EQ(predict(*folder_ / "table.csv", {"--every", "0"}).status, 2);
}

/// The command that an interrupted run prints is run by a shell as it stands.
TEST_F(AwkwardRows, TheCommandToResumeIsQuotedForTheShell) {
  const auto config =
      folder_->write("long.yaml", "data: {path: " + (*folder_ / "table.csv").string() +
                                      ", task: mean_regr}\ntraining: {warmstart: {max_epochs: 2}, "
                                      "sampler: {n_chains: 2, warmup_steps: 1000, n_samples: "
                                      "400000, n_thinning: 1000}}\n");
  const fs::path run = *folder_ / "it's a \"long\" run";
  Program program({"run", config, "--out", run, "--quiet"});
  while (!fs::exists(run / "samples")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  program.send(SIGTERM);
  const Outcome stopped = program.wait();
  const std::string said = stopped.out + stopped.error;
  std::smatch found;
  ASSERT_TRUE(std::regex_search(said, found, std::regex("smile (run [^\\n`]*--resume[^\\n`]*)"))) << said;
  const std::string command = std::string(SMILE_PROGRAM) + " " + found[1].str() + " --quiet > /dev/null 2>&1";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  const auto state = nlohmann::json::parse(content_of(run / "status.json"));
  EXPECT_EQ(state["status"], "complete");
}

}  // namespace
}  // namespace smile::test

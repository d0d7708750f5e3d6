// SPDX-License-Identifier: Apache-2.0
/// `smile tune`: the table, the choice, what is refused. How near the choice comes to the best of a fine grid
/// is measured by scripts/tune_study.py (docs/results/tune.md).
#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <sstream>

#include "../pipeline/program.hpp"

namespace smile::test {
namespace {

namespace fs = std::filesystem;

struct Row {
  double step_size = 0, gradients = 0, resets = 0, nonfinite = 0, lppd = NAN;
  long steps = 0;
  std::string verdict;
};

std::vector<Row> rows_of(const fs::path& csv) {
  std::istringstream in(content_of(csv));
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "step_size,steps,gradients,reset_rate,nonfinite_rate,validation_lppd,verdict");
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    std::vector<std::string> cells;
    std::istringstream fields(line);
    for (std::string cell; std::getline(fields, cell, ',');) cells.push_back(cell);
    rows.push_back({std::stod(cells.at(0)), std::stod(cells.at(2)), std::stod(cells.at(3)),
                    std::stod(cells.at(4)), cells.at(5).empty() ? NAN : std::stod(cells.at(5)),
                    std::stol(cells.at(1)), cells.at(6)});
  }
  return rows;
}

std::string config_of(const std::string& sampler, const std::string& more = "") {
  std::string text = small_config(airfoil(), sampler);
  const auto replace = [&](const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    if (at != std::string::npos) text.replace(at, from.size(), to);
  };
  replace("warmup_steps: 300", "warmup_steps: 6000");
  replace("n_samples: 400", "n_samples: 6000");
  replace("n_chains: 3", "n_chains: 6");
  replace("max_epochs: 8", "max_epochs: 40");
  return text + more;
}

class Tune : public testing::Test {
 protected:
  Outcome tune(const std::string& config, const std::string& out, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"tune", folder_.write("config.yaml", config), "--out",
                                          folder_ / out};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return smile(arguments);
  }
  TemporaryFolder folder_;
};

TEST_F(Tune, ChoosesAStepWithinItsBudgetAndWritesIt) {
  const Outcome outcome = tune(config_of("psmile-naive"), "a", {"--threads", "1"});
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  const auto rows = rows_of(folder_ / "a" / "steps.csv");
  ASSERT_EQ(rows.size(), 8u);
  // Three and a half decades around 0.01, the learning rate of the warm start.
  EXPECT_NEAR(std::log10(rows.back().step_size / rows.front().step_size), 3.5, 1e-6);
  EXPECT_NEAR(std::sqrt(rows.back().step_size * rows.front().step_size), 0.01, 1e-6);
  double gradients = 0, chosen = 0, best = -INFINITY;
  long longest = 0;
  for (const Row& row : rows) longest = std::max(longest, row.steps), gradients += row.gradients;
  for (const Row& row : rows) {
    if (row.verdict == "chosen") chosen = row.step_size;
    if (row.steps == longest && row.lppd > best) best = row.lppd;
  }
  for (const Row& row : rows)
    if (row.verdict == "chosen") {
      EXPECT_EQ(row.lppd, best);
    }
  EXPECT_LE(gradients, 0.18 * 6 * 12000 * 2);  // two gradients a step
  EXPECT_GT(gradients, 0.05 * 6 * 12000 * 2);
  // Longest chains went four times as far as the shortest that were not stopped.
  for (const Row& row : rows)
    if (row.verdict.starts_with("behind")) {
      EXPECT_TRUE(row.steps * 4 == longest || row.steps * 2 == longest);
    }
  EXPECT_GT(chosen, 3e-4);
  EXPECT_LT(chosen, 3e-2);
  EXPECT_NE(outcome.out.find("has the highest validation LPPD"), std::string::npos) << outcome.out;

  // Any number of threads gives the same.
  ASSERT_EQ(tune(config_of("psmile-naive"), "b", {"--threads", "3", "--quiet"}).status, 0);
  EXPECT_EQ(content_of(folder_ / "a" / "steps.csv"), content_of(folder_ / "b" / "steps.csv"));
  EXPECT_EQ(content_of(folder_ / "a" / "tuned.yaml"), content_of(folder_ / "b" / "tuned.yaml"));
  // What was written is a configuration with that step, and runs.
  const Outcome checked = smile({"check", folder_ / "a" / "tuned.yaml"});
  EXPECT_EQ(checked.status, 0) << checked.error;
  const std::string tuned = content_of(folder_ / "a" / "tuned.yaml");
  const auto at = tuned.find("step_size: ");
  ASSERT_NE(at, std::string::npos);
  // From the length of the chains to that of the run.
  EXPECT_NEAR(std::stod(tuned.substr(at + 11)) / (chosen * std::sqrt(double(longest) / 12000)), 1, 0.006);
  EXPECT_NE(tuned.find("n_chains: 6"), std::string::npos) << "the search's own chains are not the run's";
}

TEST_F(Tune, HopelessStepsAreStopped) {
  const Outcome outcome = tune(config_of("sghmc", "    step_size: 1.0e-6\n"), "a", {"--from", "1e-3"});
  ASSERT_TRUE(outcome.status == 0 || outcome.status == 1) << outcome.error;
  const auto rows = rows_of(folder_ / "a" / "steps.csv");
  ASSERT_EQ(rows.size(), 8u);
  EXPECT_TRUE(rows.back().verdict.starts_with("stopped: ")) << rows.back().verdict;
  EXPECT_TRUE(std::isnan(rows.back().lppd));
  long longest = 0;
  for (const Row& row : rows) longest = std::max(longest, row.steps);
  EXPECT_LT(rows.back().steps, longest);
}

TEST_F(Tune, TheCentreFollowsTheUnitOfTheStep) {
  const Outcome outcome = tune(config_of("sgld"), "a");
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  // 1503 rows: 1052 train. 0.01/1052.
  EXPECT_NE(
      outcome.out.find("around 9.51e-06: the optimiser's last learning rate 0.01 over the 1052 training"),
      std::string::npos)
      << outcome.out;
}

TEST_F(Tune, ASamplerThatFindsItsStepIsTunedWithAFixedOne) {
  const Outcome outcome =
      tune(config_of("psmile-auto"), "a", {"--decades", "1", "--refine", "--chains", "2"});
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_NE(outcome.error.find("psmile-auto finds its step size by itself"), std::string::npos);
  EXPECT_NE(content_of(folder_ / "a" / "tuned.yaml").find("name: psmile-naive"), std::string::npos);
  const auto rows = rows_of(folder_ / "a" / "steps.csv");
  EXPECT_EQ(rows.size(), 5u);  // three steps in a decade's grid, two of the refinement
}

TEST_F(Tune, WhatCannotBeTunedIsRefusedBeforeAnythingIsWritten) {
  const auto expect_refused = [&](const std::string& config, const std::vector<std::string>& more,
                                  const std::string& part) {
    const Outcome outcome = tune(config, "none", more);
    EXPECT_EQ(outcome.status, 2) << outcome.error;
    EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
    EXPECT_NE(outcome.error.find(part), std::string::npos) << outcome.error;
    EXPECT_FALSE(fs::exists(folder_ / "none" / "steps.csv"));
  };
  expect_refused(config_of("mclmc"), {}, "nothing to tune");
  expect_refused(config_of("csgld"), {}, "follows a schedule");
  expect_refused(config_of("psmile-naive"), {"--decades", "9"}, "out of range");
  expect_refused(config_of("psmile-naive"), {"--budget", "0"}, "out of range");
  expect_refused(config_of("psmile-naive"), {"--from", "-1"}, "not a step size");
  expect_refused(small_config(), {}, "or more, raise n_samples");
  fs::create_directory(folder_ / "full");
  std::ofstream(folder_ / "full" / "mine.txt") << "x";
  EXPECT_EQ(tune(config_of("psmile-naive"), "full").status, 2);
  EXPECT_EQ(content_of(folder_ / "full" / "mine.txt"), "x");
}

TEST_F(Tune, CtrlCEndsIt) {
  const auto config = folder_.write("config.yaml", config_of("psmile-naive"));
  Program program({"tune", config, "--out", folder_ / "a", "--set", "training.sampler.n_samples=4000000"});
  while (!fs::exists(folder_ / "a" / "warmstart" / "metrics.csv"))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  program.send(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.status, 1) << outcome.error;
  EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
}

}  // namespace
}  // namespace smile::test

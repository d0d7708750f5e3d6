// SPDX-License-Identifier: Apache-2.0
/// The program as a user meets it: exit status, stdout, and errors of one line on stderr.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "smile/config/catalogue.hpp"
#include "smile/config/config.hpp"
#include "smile/data/table_formats.hpp"

namespace smile {
namespace {

struct Outcome {
  int status = -1;
  std::string out, err;
};

class Program : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) / ("smile-cli-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    write("config.yaml", "saving_dir: " + (folder_ / "results").string() + R"(
experiment_name: tiny
data: {path: )" + std::string(SMILE_SOURCE_DIR) +
                             R"(/data/uci/yacht.data, task: mean_regr}
model: {hidden_structure: [4, 1]}
training:
  warmstart: {max_epochs: 2}
  sampler: {name: psmile-naive, n_chains: 2, warmup_steps: 20, n_samples: 40, n_thinning: 4, batch_size: 50, step_size: 0.001}
)");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return (folder_ / name).string();
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  Outcome smile(const std::string& arguments, const std::string& input = "/dev/null") const {
    const std::string command = std::string(SMILE_PROGRAM) + " " + arguments + " >" + path("out") + " 2>" +
                                path("err") + " <" + input;
    Outcome outcome;
    outcome.status = WEXITSTATUS(std::system(command.c_str()));
    outcome.out = read("out");
    outcome.err = read("err");
    return outcome;
  }
  std::string read(const std::string& name) const {
    std::ifstream stream(folder_ / name);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }
  /// Exit status 2 and exactly one line "error: where: what; mend" that holds `part`.
  void expect_usage_error(const std::string& arguments, const std::string& part) const {
    const Outcome outcome = smile(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(outcome.err.rfind("error: ", 0), 0u) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    EXPECT_NE(outcome.err.find("; "), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  }
  std::filesystem::path folder_;
};

TEST_F(Program, TellsVersionAndHelp) {
  const Outcome version = smile("--version");
  EXPECT_EQ(version.status, 0);
  EXPECT_EQ(version.out.rfind("smile 0.", 0), 0u);
  for (const std::string command : {"", "run", "check", "list", "evaluate", "predict", "tune", "export"}) {
    const Outcome help = smile(command + " --help");
    EXPECT_EQ(help.status, 0) << command;
    EXPECT_NE(help.out.find("Usage: smile"), std::string::npos) << help.out;
    EXPECT_EQ(help.err, "");
  }
}

TEST_F(Program, CommandsHelpToo) {
  EXPECT_EQ(smile("help").out, smile("--help").out);
  EXPECT_EQ(smile("help run").out, smile("run --help").out);
  EXPECT_EQ(smile("help list keys").out, smile("list keys --help").out);
  EXPECT_EQ(smile("version").out, smile("--version").out);
  expect_usage_error("help rnu", "unknown command `rnu`; the commands are init, run, analytic");
  const std::string file = path("config.yaml");
  const Outcome piped = smile("check -", file);
  EXPECT_EQ(piped.status, 0) << piped.err;
  EXPECT_NE(piped.out.find("hidden_structure: [4, 1]"), std::string::npos) << piped.out;
  EXPECT_NE(smile("check - --set rng=x", file).err.find("rng: `x` is not an integer"), std::string::npos);
  expect_usage_error("check -", "stdin: the file is empty");
}

/// What a shell is told is what the parser takes: every command, its options, every key.
TEST_F(Program, ShellsAndTheManualPageKnowEveryOption) {
  const auto exists = [&](const std::string& command) {
    return std::system(("command -v " + command + " >/dev/null 2>&1").c_str()) == 0;
  };
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const Outcome script = smile("completion " + shell);
    ASSERT_EQ(script.status, 0);
    for (const std::string word : {"diagnose", "completion", "threads", "training.sampler.step_size="})
      EXPECT_NE(script.out.find(word), std::string::npos) << shell << ": " << word;
    if (exists(shell)) {
      EXPECT_EQ(std::system((shell + " -n " + write("completion", script.out)).c_str()), 0) << shell;
    }
  }
  if (exists("bash")) {
    write("completion", smile("completion bash").out);
    const auto replies = [&](const std::string& words, int at) {
      const std::string asks = "source " + path("completion") + "; COMP_WORDS=(" + words +
                               "); COMP_CWORD=" + std::to_string(at) + "; _smile; echo ${COMPREPLY[*]}";
      std::system(("bash -c '" + asks + "' >" + path("replies") + " 2>/dev/null").c_str());
      return read("replies");
    };
    EXPECT_EQ(replies("smile comp", 1), "completion\n");
    EXPECT_EQ(replies("smile list sam", 2), "samplers\n");
    EXPECT_EQ(replies("smile check --thr", 2), "--threads\n");
    EXPECT_EQ(replies("smile run c.yaml --set training.sampler.turn", 4), "training.sampler.turn_angle=\n");
  }
  const Outcome page = smile("man");
  EXPECT_EQ(page.status, 0);
  EXPECT_EQ(page.out.rfind(".TH SMILE 1", 0), 0u);
  for (const KeyEntry& key : list_keys())
    EXPECT_NE(page.out.find("\\fB" + key.path + "\\fR"), std::string::npos) << key.path;
  if (exists("groff")) {
    const std::string file = write("smile.1", page.out);
    EXPECT_EQ(std::system(
                  ("groff -man -K utf8 -Tutf8 -z -ww -W break " + file + " 2>" + path("complaints")).c_str()),
              0);
    EXPECT_EQ(read("complaints"), "");
  }
}

TEST_F(Program, AnswersWrongUsageInOneLine) {
  expect_usage_error("", "see `smile --help`");
  expect_usage_error("rnu x", "unknown command `rnu`; the commands are init, run, analytic, check");
  expect_usage_error("check", "config is required");
  expect_usage_error("check " + path("config.yaml") + " --thread 2", "--thread");
  expect_usage_error("check " + path("config.yaml") + " --threads two", "--threads");
  expect_usage_error("check " + path("config.yaml") + " --set rng", "--set rng: not of the form key=value");
  expect_usage_error("check " + path("config.yaml") + " --set rng=x", "--set: rng: `x` is not an integer");
  expect_usage_error("check " + path("nothing.yaml"), "nothing.yaml: no such file");
  expect_usage_error("run " + path("nothing.yaml"), "nothing.yaml: no such file");
#ifdef SMILE_WITH_TORCH
  const std::string no_cuda = "`cuda`: the native engine of FCN computes on the CPU";
#else
  const std::string no_cuda = "`cuda` is not available in this build";
#endif
  expect_usage_error("run " + path("config.yaml") + " --device cuda", "--device: device: " + no_cuda);
  expect_usage_error("run " + path("config.yaml") + " --set data.path=nothing.csv", "nothing.csv");
  expect_usage_error("evaluate " + path("nothing"), "nothing");
  expect_usage_error("predict " + path("nothing") + " --data x.csv", "nothing");
  expect_usage_error("generate " + path("nothing"), "nothing");
  write("bad.yaml", "data: {path: a.csv, task: mean_regr}\ntraining:\n  sampler:\n    stepsize: 1\n");
  expect_usage_error("run " + path("bad.yaml"),
                     "bad.yaml:4: training.sampler.stepsize: unknown key; did you mean `step_size`?");
}

TEST_F(Program, ChecksAgainstTheData) {
  expect_usage_error("check " + path("config.yaml") + " --set training.sampler.batch_size=5000",
                     "batch_size: 5000 is more than the 215 training rows");
  expect_usage_error("run " + path("config.yaml") + " --set training.sampler.batch_size=5000",
                     "more than the 215 training rows");
  expect_usage_error("check " + path("config.yaml") +
                         " --set training.sampler.name=psmile-auto --set training.sampler.batch_size=200",
                     "is one batch");
}

// The three lines of the README on tables that have less than one batch of the usual size.
TEST_F(Program, ThreeLinesAreEnoughForASmallTable) {
  write("three.yaml", "data:\n  path: " SMILE_SOURCE_DIR "/data/uci/yacht.data\n  task: mean_regr\n");
  const Outcome checked = smile("check " + path("three.yaml"));
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_NE(checked.out.find("batch_size: 53"), std::string::npos) << checked.out;
  EXPECT_NE(checked.out.find("# batches: 4 an epoch"), std::string::npos) << checked.out;
}

TEST_F(Program, CheckPrintsAConfigurationThatReadsBack) {
  const Outcome checked =
      smile("check " + path("config.yaml") + " --set rng=7 --set training.sampler.mdecay=0.1");
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_EQ(std::count(checked.err.begin(), checked.err.end(), '\n'), 1) << checked.err;
  EXPECT_EQ(checked.err.rfind("warning: --set: training.sampler.mdecay has no effect", 0), 0u) << checked.err;
  const Config config = parse_config(checked.out, "checked.yaml");
  EXPECT_EQ(config.rng, 7u);
  EXPECT_EQ(config.training.sampler.n_chains, 2);
  // 6 features: 6·4 + 4 + 4 + 1 and log σ.
  EXPECT_NE(checked.out.find("# dimension: 34 parameters"), std::string::npos) << checked.out;
  EXPECT_NE(checked.out.find("# data: 215 rows for training, 30 for validation, 63 for testing; 6 features"),
            std::string::npos)
      << checked.out;
  EXPECT_NE(checked.out.find("# chains: 2, each 60 steps with 120 gradients, at most 10 stored draws"),
            std::string::npos)
      << checked.out;
  EXPECT_NE(checked.out.find("# as in the authors' code: nothing"), std::string::npos);
  const Outcome authors = smile("check " + path("config.yaml") + " --set compat=authors");
  EXPECT_NE(authors.out.find("# as in the authors' code: data.normalize_with: all"), std::string::npos)
      << authors.out;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "results"));
}

TEST_F(Program, CheckGoesThroughEveryPointOfASearch) {
  write("sweep.yaml",
        "training: {sampler: {step_size: [0.01, 0.001]}}\nmodel: {hidden_structure: [[4, 1], [8, 1]]}\n");
  const Outcome checked = smile("check " + path("config.yaml") + " --search " + path("sweep.yaml"));
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_NE(checked.out.find("step_size=0.01,hidden_structure=4-1: 34 parameters"), std::string::npos)
      << checked.out;
  EXPECT_NE(checked.out.find("step_size=0.001,hidden_structure=8-1: 66 parameters"), std::string::npos)
      << checked.out;
  EXPECT_NE(checked.out.find("4 runs: "), std::string::npos) << checked.out;
  write("bad.yaml", "training: {sampler: {step_size: [0.01, -1]}}\n");
  expect_usage_error("run " + path("config.yaml") + " --search " + path("bad.yaml"),
                     "bad.yaml:1: training.sampler.step_size: `-1` is out of range");
}

TEST_F(Program, ListsWhatItKnows) {
  for (const auto& [what, entries] : {std::pair{"samplers", list_samplers()},
                                      {"models", list_models()},
                                      {"priors", list_priors()},
                                      {"metrics", list_metrics()}}) {
    const Outcome listed = smile(std::string("list ") + what);
    EXPECT_EQ(listed.status, 0);
    EXPECT_EQ(static_cast<std::size_t>(std::count(listed.out.begin(), listed.out.end(), '\n')),
              entries.size());
    for (const CatalogueEntry& entry : entries)
      EXPECT_NE(listed.out.find(entry.description), std::string::npos) << entry.name;
  }
  const std::string tables = smile("list tables").out;
  for (const TableFormat& format : table_formats())
    EXPECT_NE(tables.find(format.endings.front() + "  "), std::string::npos) << tables;
  EXPECT_EQ(smile("list keys --markdown").out, configuration_reference());
  EXPECT_NE(smile("list keys").out.find("training.sampler.turn_angle"), std::string::npos);
}

TEST_F(Program, RunsEvaluatesAndPredicts) {
  const Outcome run = smile("run " + path("config.yaml") + " --out " + path("first") + " --threads 1");
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("LPPD"), std::string::npos) << run.out;
  EXPECT_TRUE(std::filesystem::exists(folder_ / "first/config.yaml"));
  const Outcome quiet =
      smile("run " + path("config.yaml") + " --out " + path("second") + " --threads 2 --quiet");
  EXPECT_EQ(quiet.status, 0) << quiet.err;
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(read("first/samples/chain-00.npy"), read("second/samples/chain-00.npy"));
  EXPECT_EQ(smile("evaluate " + path("first") + " --quiet").status, 0);
  const Outcome predicted = smile("predict " + path("first") + " --data " + SMILE_SOURCE_DIR +
                                  "/data/uci/yacht.data --out " + path("p.csv"));
  EXPECT_EQ(predicted.status, 0) << predicted.err;
  const std::string predictions = read("p.csv");
  EXPECT_EQ(std::count(predictions.begin(), predictions.end(), '\n'), 309);
}

}  // namespace
}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// status, snapshots and progress of runs that go on, and diagnose.
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "end_to_end/pipeline/program.hpp"
#include "smile/files/npy.hpp"

namespace smile::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using namespace std::chrono_literals;

void wait_for(const std::function<bool()>& there) {
  for (int i = 0; i < 4000 && !there(); ++i) std::this_thread::sleep_for(5ms);
  ASSERT_TRUE(there());
}

/// A run that goes on until it is stopped.
const std::vector<std::string> kLong = {"--set", "training.sampler.n_samples=4000000"};

std::vector<std::string> long_run(const fs::path& config, const fs::path& run) {
  std::vector<std::string> arguments = {"run", config, "--out", run};
  arguments.insert(arguments.end(), kLong.begin(), kLong.end());
  return arguments;
}

TEST(Status, FollowsARunWithoutDisturbingIt) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const fs::path run = folder / "run";
  Program program(long_run(config, run));
  wait_for([&] {
    std::ifstream in(run / "progress.json");
    const json text = json::parse(in, nullptr, false);
    return text.is_object() && text["phase"] == "sampling" && text["done"] > 2000;
  });
  const Outcome text = smile({"status", run});
  ASSERT_EQ(text.status, 0) << text.error;
  for (const char* part : {"running (process ", "sampling: ", " steps/s", " left", "chain 0: ",
                           "draws, not evaluated", "resets", "validation rows", "warm start 0:0"})
    EXPECT_NE(text.out.find(part), std::string::npos) << part << "\n" << text.out;
  const json status = json::parse(smile({"status", run, "--json"}).out);
  EXPECT_EQ(status["status"], "running");
  EXPECT_EQ(status["progress"]["phase"], "sampling");
  EXPECT_GT(status["progress"]["per_second"], 100);
  EXPECT_GT(status["progress"]["seconds_left"], 1);
  EXPECT_GT(status["draws"], 0);
  EXPECT_GT(status["validation_lppd"]["lppd"], -3);
  EXPECT_LT(status["validation_lppd"]["lppd"], 3);
  // What reads a finished run says who writes it, and does not wait.
  for (const char* command : {"diagnose", "report"}) {
    const Outcome refused = smile({command, run});
    EXPECT_EQ(refused.status, 1) << command;
    EXPECT_TRUE(refused.is_one_line_error()) << refused.error;
    EXPECT_NE(refused.error.find("is being written by process " + std::to_string(program.pid())),
              std::string::npos)
        << refused.error;
  }
  program.send(SIGINT);
  EXPECT_EQ(program.wait().status, 1);
  const Outcome stopped = smile({"status", run});
  EXPECT_NE(stopped.out.find("interrupted during sampling"), std::string::npos) << stopped.out;
  EXPECT_NE(stopped.out.find("--resume"), std::string::npos) << stopped.out;
}

TEST(Status, TellsAKilledRunFromARunningOneAndAFinishedOne) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const fs::path run = folder / "run";
  Program program(long_run(config, run));
  wait_for([&] {
    return fs::exists(run / "checkpoint/chain-00.bin") || fs::exists(run / "samples/chain-00.npy");
  });
  program.send(SIGKILL);
  program.wait();
  const Outcome killed = smile({"status", run, "--fast"});
  ASSERT_EQ(killed.status, 0) << killed.error;
  EXPECT_NE(killed.out.find("killed during sampling"), std::string::npos) << killed.out;
  EXPECT_EQ(json::parse(smile({"status", run, "--json", "--fast"}).out)["status"], "killed");
  const Outcome report = smile({"report", run});
  EXPECT_EQ(report.status, 1);
  EXPECT_TRUE(report.is_one_line_error()) << report.error;
  EXPECT_NE(report.error.find("was killed (phase sampling): 3 of 3 warm-started members"), std::string::npos)
      << report.error;
  EXPECT_NE(report.error.find("smile run"), std::string::npos) << report.error;

  const fs::path whole = folder / "whole";
  ASSERT_EQ(smile({"run", config, "--out", whole}).status, 0);
  const Outcome done = smile({"status", whole});
  ASSERT_EQ(done.status, 0) << done.error;
  for (const char* part : {"complete since", "3 of 3 chains complete, 300 draws, evaluated", "test LPPD",
                           "time: warm start", "sampling", "evaluation"})
    EXPECT_NE(done.out.find(part), std::string::npos) << part << "\n" << done.out;
}

TEST(Snapshot, IsWrittenToTheLogAtSigusr1AndTheRunGoesOn) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const fs::path run = folder / "run";
  Program program(long_run(config, run));
  wait_for([&] { return fs::exists(run / "samples/chain-01.npy"); });
  const auto snapshots = [&] {
    std::size_t count = 0;
    std::istringstream log(content_of(run / "run.log"));
    for (std::string line; std::getline(log, line);)
      count += line.find("snapshot: sampling: ") != std::string::npos;
    return count;
  };
  EXPECT_EQ(snapshots(), 0u);
  program.send(SIGUSR1);
  wait_for([&] { return snapshots() == 1; });
  program.send(SIGUSR1);
  wait_for([&] { return snapshots() == 2; });
  const std::string log = content_of(run / "run.log");
  EXPECT_TRUE(std::regex_search(log, std::regex("snapshot: sampling: [0-9,]+ of [0-9,]+ steps .*ε "))) << log;
  EXPECT_TRUE(
      std::regex_search(log, std::regex("snapshot: chain 0: (warm-up|sampling), step [0-9,]+ of 4,000,300")))
      << log;
  program.send(SIGINT);
  EXPECT_EQ(program.wait().status, 1);
}

TEST(Progress, HasALineForEachChainOnATerminalAndFitsIt) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  int master = -1, slave = -1;
  winsize size{};
  size.ws_col = 60, size.ws_row = 20;
  ASSERT_EQ(::openpty(&master, &slave, nullptr, nullptr, &size), 0);
  // Some seconds of sampling: the picture is drawn a few times a second.
  Program program({"run", config, "--out", folder / "run", "--threads", "2", "--set",
                   "training.sampler.n_samples=300000", "--set", "training.sampler.n_thinning=300"},
                  [&] { ::dup2(slave, 2); });
  ::close(slave);
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = ::read(master, buffer, sizeof buffer)) > 0;) text.append(buffer, std::size_t(got));
  ::close(master);
  EXPECT_EQ(program.wait().status, 0) << text;
  EXPECT_NE(text.find("  chain 0    ["), std::string::npos) << text;
  EXPECT_NE(text.find("  chain 1    ["), std::string::npos) << text;
  EXPECT_NE(text.find("sampling: "), std::string::npos) << text;
  // No line of the picture is wider than the terminal: between control sequences and line ends.
  std::size_t widest = 0;
  for (std::size_t at = text.find("  chain "); at != std::string::npos; at = text.find("  chain ", at + 1)) {
    const std::size_t end = text.find_first_of("\r\n\x1b", at);
    widest = std::max(widest, std::min(end, text.size()) - at);
  }
  EXPECT_GT(widest, 30u);
  EXPECT_LE(widest, 61u);  // "ε" has two bytes
  // Elsewhere: no control sequences, no lines of chains.
  const Outcome plain = smile({"run", config, "--out", folder / "plain"});
  EXPECT_EQ(plain.error.find('\x1b'), std::string::npos) << plain.error;
  EXPECT_EQ(plain.error.find("chain 0    ["), std::string::npos) << plain.error;
}

TEST(Diagnose, HasAVerdictForEachChainInWordsAndNumbers) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const fs::path run = folder / "run";
  ASSERT_EQ(smile({"run", config, "--out", run}).status, 0);
  const Outcome text = smile({"diagnose", run});
  ASSERT_EQ(text.status, 0) << text.error;
  for (int c = 0; c < 3; ++c)
    EXPECT_TRUE(std::regex_search(
        text.out,
        std::regex(
            "chain " + std::to_string(c) +
            ": (sound|sound, with remarks|doubtful)\\. 700 steps, 100 draws, test LPPD .*expected 0.1 %")))
        << text.out;
  const json document = json::parse(smile({"diagnose", run, "--json"}).out);
  ASSERT_EQ(document["chains"].size(), 3u);
  const json file = json::parse(content_of(run / "eval/diagnostics.json"));
  EXPECT_EQ(document["chains"], file["chains"]) << "the evaluation leaves the same document";
  for (const json& chain : document["chains"])
    for (const char* key :
         {"reset_frequency", "expected_reset_frequency", "gamma_shape", "gamma_scale", "kolmogorov_distance",
          "step_size_first", "step_size_after_warmup", "step_size_last", "gradient_rms", "seconds_per_step",
          "gradients_per_second", "chainwise_rhat_parameters", "chainwise_rhat_predictions", "test_lppd"})
      EXPECT_TRUE(chain[key].is_number()) << key << ": " << chain[key];
  // Over time: 300 steps of warm-up, then 400 of sampling; the resets add up.
  const json& over_time = document["chains"][0]["energy_over_time"];
  EXPECT_EQ(over_time["last_step"], (json{300, 700}));
  EXPECT_TRUE(over_time["gamma_shape"][1].is_number() && over_time["kolmogorov_distance"][1].is_number());
  EXPECT_NEAR(over_time["reset_frequency"][1], document["chains"][0]["reset_frequency"], 1e-9);
  bool has_log_sigma = false, has_log_density = false, has_prediction = false;
  for (const json& q : file["quantities"]) {
    has_log_sigma = has_log_sigma || q["name"] == "log_sigma";
    has_log_density = has_log_density || q["name"] == "log_density";
    has_prediction = has_prediction || q["name"] == "prediction[0]";
    for (const char* key :
         {"rhat", "ess_bulk", "ess_tail", "between_variance", "within_variance", "chainwise_rhat"})
      EXPECT_TRUE(q.contains(key)) << key;
  }
  EXPECT_TRUE(has_log_sigma && has_log_density && has_prediction);
}

TEST(Diagnose, FindsDrawsThatAreNotThoseOfTheChainAndLeavesThemOut) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const fs::path run = folder / "run";
  ASSERT_EQ(smile({"run", config, "--out", run}).status, 0);
  // Chain 1: two draws change places. Chain 2: padded with NaN.
  auto values = read_npy(run / "samples/chain-01.npy").as<float>();
  const std::size_t d = values.size() / 100;
  for (std::size_t j = 0; j < d; ++j) std::swap(values[3 * d + j], values[80 * d + j]);
  const auto write = [&](int chain, const std::vector<float>& rows) {
    auto file = NpyAppender::create(run / ("samples/chain-0" + std::to_string(chain) + ".npy"), d);
    for (std::size_t i = 0; i < rows.size(); i += d) file.append(std::span(rows).subspan(i, d));
  };
  write(1, values);
  values = read_npy(run / "samples/chain-02.npy").as<float>();
  values.resize(values.size() + 2 * d, NAN);
  write(2, values);
  const Outcome diagnosed = smile({"diagnose", run});
  ASSERT_EQ(diagnosed.status, 0) << diagnosed.error;
  EXPECT_NE(diagnosed.out.find(
                "chain-01.npy: its 100 draws are not those that the chain stored, or not in its order"),
            std::string::npos)
      << diagnosed.out;
  EXPECT_NE(diagnosed.out.find("chain-02.npy: draw 100 holds a value that is not a number"),
            std::string::npos)
      << diagnosed.out;
  const Outcome evaluated = smile({"evaluate", run});
  EXPECT_EQ(evaluated.status, 1) << evaluated.error;
  EXPECT_NE(evaluated.error.find(
                "chains 1, 2 are left out: their files are damaged (chain 1: samples/chain-01.npy"),
            std::string::npos)
      << evaluated.error;
  EXPECT_EQ(json::parse(content_of(run / "eval/metrics.json"))["draws"], 100);
}

TEST(Diagnose, NamesTheCauseWhereChainsFailAndWhereTheStepSizeRunsAway) {
  TemporaryFolder folder;
  const auto config =
      folder.write("config.yaml", small_config(airfoil(), "sgld", "mean_regr", "    step_size: 1.0e+3\n"));
  const fs::path run = folder / "run";
  EXPECT_EQ(smile({"run", config, "--out", run}).status, 1);
  const Outcome failed = smile({"diagnose", run});
  ASSERT_EQ(failed.status, 0) << failed.error;
  EXPECT_NE(failed.out.find("chain 0: failed."), std::string::npos) << failed.out;
  EXPECT_NE(failed.out.find("try: lower step_size by a factor of 3 to 10"), std::string::npos) << failed.out;

  // The energy rule shrinks a step that is far too long.
  const auto drifting =
      folder.write("drift.yaml", small_config(airfoil(), "psmile", "mean_regr", "    step_size: 9.0\n"));
  smile({"run", drifting, "--out", folder / "drift", "--set", "training.sampler.warmup_steps=3000"});
  const json document = json::parse(smile({"diagnose", folder / "drift", "--json"}).out);
  bool any = false;
  for (const json& chain : document["chains"])
    for (const json& finding : chain["findings"])
      any = any || (finding["code"] == "step-size-drift" && chain["step_size_drifted"] == true);
  EXPECT_TRUE(any) << document.dump(1);
}

/// With a Python of SMILE_TEST_PYTHON (or python3) that has ArviZ; the vectors say the same without it.
TEST(Diagnose, AgreesWithArvizOnTheDrawsOfARun) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  ASSERT_EQ(smile({"run", config, "--out", folder / "run", "--no-report", "--set",
                   "training.sampler.n_samples=2000"})
                .status,
            0);
  const char* python = std::getenv("SMILE_TEST_PYTHON");
  const std::string command = std::string(python ? python : "python3") + " " + SMILE_SOURCE_DIR +
                              "/scripts/check_against_arviz.py '" + (folder / "run").string() + "' > '" +
                              (folder / "out").string() + "' 2>&1";
  const int status = std::system(command.c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  if (code == 3 || code == 127) GTEST_SKIP() << "ArviZ is not installed: " << content_of(folder / "out");
  EXPECT_EQ(code, 0) << content_of(folder / "out");
}

TEST(Commands, RefuseWhatIsNoRunOrOfAnotherVersion) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const fs::path run = folder / "run";
  ASSERT_EQ(smile({"run", config, "--out", run, "--no-report"}).status, 0);
  EXPECT_FALSE(fs::exists(run / "report.html"));
  json status = json::parse(content_of(run / "status.json"));
  status["version"] = "99.1.0";
  for (const char* command : {"status", "diagnose", "report", "evaluate"}) {
    for (const fs::path& path : {folder / "nothing", fs::path(config), folder.path() / "."}) {
      const Outcome outcome = smile({command, path});
      EXPECT_EQ(outcome.status, 2) << command << " " << path;
      EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
    }
    const std::string before = content_of(run / "status.json");
    std::ofstream(run / "status.json") << status.dump();
    const Outcome other = smile({command, run});
    EXPECT_EQ(other.status, 2) << command;
    EXPECT_NE(other.error.find("written by smile 99.1.0"), std::string::npos) << other.error;
    EXPECT_TRUE(other.is_one_line_error()) << other.error;
    std::ofstream(run / "status.json") << before;
    EXPECT_EQ(smile({command, run}).status, 0) << command;
  }
  // Incomplete: not evaluated.
  fs::remove_all(run / "eval");
  const Outcome report = smile({"report", run});
  EXPECT_EQ(report.status, 1);
  EXPECT_NE(report.error.find("300 draws, not evaluated"), std::string::npos) << report.error;
  EXPECT_NE(report.error.find("smile evaluate"), std::string::npos) << report.error;
  EXPECT_TRUE(report.is_one_line_error()) << report.error;
}

}  // namespace
}  // namespace smile::test

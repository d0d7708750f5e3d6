// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "program.hpp"
#include "smile/files/npy.hpp"

namespace smile::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

double metric(const fs::path& run, const std::string& name, const char* phase = "sampling") {
  const json text = json::parse(content_of(run / "eval" / "metrics.json"));
  for (const auto& row : text["metrics"])
    if (row["name"] == name && row[phase].is_number()) return row[phase];
  return NAN;
}

void expect_same_draws(const fs::path& a, const fs::path& b, int chains = 3) {
  for (int c = 0; c < chains; ++c) {
    const std::string name = "samples/chain-0" + std::to_string(c) + ".npy";
    ASSERT_GT(content_of(a / name).size(), 1000u);
    EXPECT_TRUE(content_of(a / name) == content_of(b / name)) << name;
  }
}

TEST(Run, APriorOfTheWarmStartIsWrittenAndFoundAgain) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const fs::path run = folder / "run", again = folder / "again";
  const std::vector<std::string> prior{"--set", "training.sampler.prior_config.name=WarmStart"};
  const auto with_prior = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), prior.begin(), prior.end());
    return smile(arguments);
  };
  ASSERT_EQ(with_prior({"run", config, "--out", run}).status, 0);
  const json scales = json::parse(content_of(run / "warmstart/prior.json"));
  // Twice the root mean square of layer 0 over the three members, its weight (5 x 16) and bias together.
  double sum = 0;
  for (int m = 0; m < 3; ++m) {
    const NpyArray member = read_npy(run / ("warmstart/member-0" + std::to_string(m) + ".npy"));
    const auto values = member.as<double>();
    for (std::size_t i = 0; i < 96; ++i) sum += values[i] * values[i];
  }
  EXPECT_NEAR(scales["layer0.weight"].get<double>(), 2 * std::sqrt(sum / (3 * 96)), 1e-6);
  EXPECT_EQ(scales["layer0.bias"], scales["layer0.weight"]);
  EXPECT_EQ(scales["log_sigma"], 1.0);
  const std::string metrics = content_of(run / "eval/metrics.json");
  EXPECT_EQ(smile({"evaluate", run}).status, 0);
  EXPECT_EQ(content_of(run / "eval/metrics.json"), metrics);
  ASSERT_EQ(smile({"run", config, "--out", again}).status, 0);
  EXPECT_NE(content_of(again / "samples/chain-00.npy"), content_of(run / "samples/chain-00.npy"));
  const Outcome refused =
      with_prior({"run", config, "--out", folder / "none", "--set", "training.warmstart.include=false"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.error.find("WarmStart follows from the members"), std::string::npos) << refused.error;
}

TEST(Run, LeavesEverythingThatTheRunDirectoryPromises) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const fs::path run = folder / "run";
  const Outcome outcome = smile({"run", config, "--out", run});
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_NE(outcome.out.find("LPPD"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find((run / "samples").string()), std::string::npos) << outcome.out;
  for (const char* name :
       {"config.yaml", "dataset_splits.npz", "parameters.json", "status.json", "run.log",
        "warmstart/member-00.npy", "warmstart/metrics.csv", "samples/chain-02.npy", "trace/chain-00.csv",
        "trace/chain-00-monitor.csv", "checkpoint/chain-01.bin", "eval/metrics.json", "eval/sampling.json",
        "eval/ensemble_initialization.json", "eval/diagnostics.json", "eval/chains.json",
        "eval/predictions.npz", "report.html"})
    EXPECT_TRUE(fs::exists(run / name)) << name;
  EXPECT_FALSE(fs::exists(run / "lock"));
  EXPECT_EQ(json::parse(content_of(run / "status.json"))["status"], "complete");
  const NpyRows draws(run / "samples/chain-00.npy");
  EXPECT_EQ(draws.rows(), 100u);
  // airfoil: 5 features, 16-16-16-1, log sigma.
  EXPECT_EQ(draws.columns(), 5u * 16 + 16 + 2 * (16 * 16 + 16) + 16 + 1 + 1);
  const json parameters = json::parse(content_of(run / "parameters.json"));
  EXPECT_EQ(parameters.back()["name"], "log_sigma");
  EXPECT_EQ(parameters.back()["offset"], draws.columns() - 1);
  // Far better than predicting the mean, in both units.
  EXPECT_LT(metric(run, "RMSE"), 0.7);
  EXPECT_NEAR(metric(run, "RMSE, own unit") / metric(run, "RMSE"), 6.9, 0.3);
  EXPECT_GT(metric(run, "LPPD"), -1.2);
  EXPECT_TRUE(std::isfinite(metric(run, "LPPD", "ensemble_initialization")));
  EXPECT_GT(metric(run, "LPPD", "ensemble_initialization"),
            metric(run, "LPPD, spread of members", "ensemble_initialization") - 5);
}

TEST(Run, DrawsDoNotDependOnThreads) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  for (const char* threads : {"1", "2", "7"})
    ASSERT_EQ(smile({"run", config, "--out", folder / threads, "--threads", threads, "--quiet"}).status, 0);
  expect_same_draws(folder / "1", folder / "2");
  expect_same_draws(folder / "1", folder / "7");
  EXPECT_TRUE(content_of(folder / "1/eval/metrics.json") == content_of(folder / "7/eval/metrics.json"));
}

TEST(Run, AChainDoesNotDependOnHowManyThereAre) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  ASSERT_EQ(smile({"run", config, "--out", folder / "three"}).status, 0);
  ASSERT_EQ(smile({"run", config, "--out", folder / "one", "--set", "training.sampler.n_chains=1"}).status,
            0);
  expect_same_draws(folder / "three", folder / "one", 1);
}

TEST(Run, KilledAtManyMomentsAndResumedEndsInTheSameBytes) {
  TemporaryFolder folder;
  const auto config = folder.write(
      "config.yaml", small_config(airfoil(), "psmile-auto", "mean_regr", "    keep_warmup: true\n"));
  const std::vector<std::string> more = {"--set", "training.sampler.n_samples=6000", "--threads", "2",
                                         "--quiet"};
  const auto command = [&](const char* name, bool resume) {
    std::vector<std::string> arguments = {"run", config, "--out", folder / name};
    arguments.insert(arguments.end(), more.begin(), more.end());
    if (resume) arguments.push_back("--resume");
    return arguments;
  };
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_EQ(smile(command("whole", false)).status, 0);
  const auto length =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  int killed = 0;
  for (int attempt = 0; attempt < 12; ++attempt) {
    Program program(command("broken", fs::exists(folder / "broken/config.yaml")));
    std::this_thread::sleep_for(length * (attempt * 7 % 11 + 1) / 14);
    program.send(SIGKILL);
    if (program.wait().status == 128 + SIGKILL) ++killed;
  }
  EXPECT_GE(killed, 3);
  const Outcome last = smile(command("broken", true));
  ASSERT_EQ(last.status, 0) << last.error;
  expect_same_draws(folder / "whole", folder / "broken");
  EXPECT_TRUE(content_of(folder / "whole/samples/warmup-01.npy") ==
              content_of(folder / "broken/samples/warmup-01.npy"));
  EXPECT_TRUE(content_of(folder / "whole/warmstart/metrics.csv") ==
              content_of(folder / "broken/warmstart/metrics.csv"));
  EXPECT_EQ(metric(folder / "whole", "LPPD"), metric(folder / "broken", "LPPD"));
}

TEST(Run, StopsAtCtrlCSaysHowToResumeAndEndsInTheSameBytes) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const std::string length = "training.sampler.n_samples=200000";
  Program program({"run", config, "--out", folder / "run", "--set", length});
  while (!fs::exists(folder / "run/samples/chain-00.npy"))
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  program.send(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.status, 1);
  EXPECT_NE(outcome.error.find("--resume"), std::string::npos) << outcome.error;
  EXPECT_EQ(json::parse(content_of(folder / "run/status.json"))["status"], "interrupted");
  EXPECT_TRUE(fs::exists(folder / "run/checkpoint/chain-00.bin"));
  // Another number of steps is another configuration.
  const Outcome other = smile({"run", config, "--out", folder / "run", "--resume"});
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.error.find("training.sampler.n_samples"), std::string::npos) << other.error;
}

TEST(Run, AClosedTerminalEndsItAsSigtermDoesUnlessNohupIgnoresIt) {
  const auto ended = [](const std::string& samples, const std::function<void()>& in_child) {
    TemporaryFolder folder;
    const auto config = folder.write("config.yaml", small_config());
    Program program(
        {"run", config, "--out", folder / "run", "--quiet", "--set", "training.sampler.n_samples=" + samples},
        in_child);
    while (!fs::exists(folder / "run/samples/chain-00.npy"))
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    program.send(SIGHUP);
    const Outcome outcome = program.wait();
    const std::string status = json::parse(content_of(folder / "run/status.json"))["status"];
    EXPECT_EQ(status, outcome.status == 0 ? "complete" : "interrupted");
    EXPECT_EQ(fs::exists(folder / "run/checkpoint/chain-00.bin"), true);
    return outcome;
  };
  const Outcome closed = ended("200000", {});
  EXPECT_EQ(closed.status, 1);
  EXPECT_TRUE(closed.is_one_line_error()) << closed.error;
  EXPECT_NE(closed.error.find("go on with `smile run"), std::string::npos) << closed.error;
  EXPECT_NE(closed.error.find("--resume"), std::string::npos) << closed.error;
  const Outcome nohup = ended("20000", [] { ::signal(SIGHUP, SIG_IGN); });
  EXPECT_EQ(nohup.status, 0) << nohup.error;
}

TEST(Run, ResumeWithoutAFolderFindsTheUnfinishedRun) {
  TemporaryFolder folder;
  const auto config =
      folder.write("config.yaml", "saving_dir: " + (folder / "results").string() + "\n" + small_config());
  const Outcome none = smile({"run", config, "--resume"});
  EXPECT_EQ(none.status, 2);
  EXPECT_TRUE(none.is_one_line_error()) << none.error;
  Program program({"run", config, "--set", "training.sampler.n_samples=20000"});
  while (!fs::exists(folder / "results/test")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  program.send(SIGTERM);
  ASSERT_EQ(program.wait().status, 1);
  const Outcome resumed = smile({"run", config, "--set", "training.sampler.n_samples=20000", "--resume"});
  EXPECT_EQ(resumed.status, 0) << resumed.error;
  std::size_t runs = 0;
  for (const auto& entry : fs::directory_iterator(folder / "results/test")) runs += entry.is_directory();
  EXPECT_EQ(runs, 1u);
}

class EverySampler : public testing::TestWithParam<const char*> {};

TEST_P(EverySampler, RunsOnEveryTask) {
  TemporaryFolder folder;
  // Two classes by a rule that a small network learns.
  std::ostringstream table;
  for (int i = 0; i < 400; ++i) {
    const double x = std::sin(0.7 * i), y = std::cos(1.3 * i);
    table << x << ' ' << y << ' ' << (x * y > 0 ? "3" : "8") << '\n';
  }
  const auto classes = folder.write("classes.data", table.str());
  // v <- (1 - a) v + e g takes another unit of step than the others.
  const std::string more = std::string(GetParam()) == "sghmc" ? "    step_size: 1.0e-6\n" : "";
  for (const char* task : {"mean_regr", "regr", "class"}) {
    const std::string data = std::string(task) == "class" ? classes.string() : airfoil();
    const auto config = folder.write("config.yaml", small_config(data, GetParam(), task, more));
    const fs::path run = folder / task;
    std::vector<std::string> command = {"run", config, "--out", run};
    // A transition of these is many gradients.
    for (const char* transitions : {"hmc", "nuts", "mams"})
      if (std::string(GetParam()) == transitions)
        command.insert(command.end(),
                       {"--set", "training.sampler.warmup_steps=30", "--set", "training.sampler.n_samples=20",
                        "--set", "training.sampler.n_thinning=1"});
    const Outcome outcome = smile(command);
    ASSERT_EQ(outcome.status, 0) << task << ": " << outcome.error;
    EXPECT_TRUE(std::isfinite(metric(run, "LPPD"))) << task;
    const Outcome predicted = smile({"predict", run, "--data", data, "--out", folder / "p.csv"});
    ASSERT_EQ(predicted.status, 0) << predicted.error;
    std::istringstream lines(content_of(folder / "p.csv"));
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, std::string(task) == "class" ? "row,predicted,p_3,p_8,entropy,mutual_information"
                                                 : "row,mean,sd,aleatoric_sd,epistemic_sd,q0.05,q0.5,q0.95");
    std::size_t rows = 0;
    while (std::getline(lines, line)) ++rows;
    EXPECT_EQ(rows, std::string(task) == "class" ? 400u : 1503u);
  }
}

INSTANTIATE_TEST_SUITE_P(Names, EverySampler,
                         testing::Values("smile-naive", "psmile-naive", "smile", "psmile", "psmile-auto",
                                         "smile-auto", "mclmc", "sgld", "psgld", "csgld", "sghmc", "adasghmc",
                                         "rmsprop-sghmc", "sgnht", "hmc", "nuts", "mams"),
                         [](const auto& param) {
                           std::string name = param.param;
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

TEST(Predict, AgreesWithTheEvaluation) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const fs::path run = folder / "run";
  ASSERT_EQ(smile({"run", config, "--out", run}).status, 0);
  const Outcome predicted = smile({"predict", run, "--data", airfoil()});
  ASSERT_EQ(predicted.status, 0) << predicted.error;
  std::istringstream lines(content_of(run / "predictions.csv"));
  std::string line;
  std::getline(lines, line);
  std::vector<double> mean, sd, aleatoric, epistemic;
  while (std::getline(lines, line)) {
    double values[5];
    ASSERT_EQ(std::sscanf(line.c_str(), "%lf,%lf,%lf,%lf,%lf", values, values + 1, values + 2, values + 3,
                          values + 4),
              5);
    mean.push_back(values[1]), sd.push_back(values[2]), aleatoric.push_back(values[3]),
        epistemic.push_back(values[4]);
    EXPECT_NEAR(sd.back() * sd.back(), values[3] * values[3] + values[4] * values[4],
                1e-6 * sd.back() * sd.back());
  }
  // The same rows of the same file: the RMSE over the test rows is that of the evaluation.
  std::ifstream data(airfoil());
  std::vector<double> target;
  while (std::getline(data, line)) target.push_back(std::stod(line.substr(line.rfind(' ') + 1)));
  ASSERT_EQ(target.size(), mean.size());
  const auto splits = read_npz(run / "dataset_splits.npz");
  std::vector<std::int64_t> test;
  for (const auto& array : splits)
    if (array.name == "test") test = array.array.as<std::int64_t>();
  ASSERT_EQ(test.size(), 301u);
  double sum = 0;
  for (const auto row : test) sum += std::pow(mean[std::size_t(row)] - target[std::size_t(row)], 2);
  EXPECT_NEAR(std::sqrt(sum / double(test.size())), metric(run, "RMSE, own unit"), 1e-4);
}

TEST(Evaluate, GivesTheSameNumbersAgain) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const fs::path run = folder / "run";
  const Outcome first = smile({"run", config, "--out", run});
  ASSERT_EQ(first.status, 0);
  const std::string metrics = content_of(run / "eval/metrics.json");
  fs::remove_all(run / "eval");
  const Outcome again = smile({"evaluate", run});
  ASSERT_EQ(again.status, 0) << again.error;
  EXPECT_EQ(content_of(run / "eval/metrics.json"), metrics);
  EXPECT_EQ(first.out, again.out);
}

TEST(Evaluate, WritesWhatTheConfigurationNames) {
  TemporaryFolder folder;
  const auto config = folder.write(
      "config.yaml",
      small_config() +
          "evaluations: [Lppd, LppdCum, PriorLogLik, PredSaver]\nevaluation_args:\n  n_orderings: 4\n");
  const fs::path run = folder / "run";
  const Outcome outcome = smile({"run", config, "--out", run});
  ASSERT_EQ(outcome.status, 0) << outcome.error;

  // Whatever the order, all chains together have the LPPD of the run.
  const auto orderings = read_npz(run / "eval/lppd_orderings.npz");
  const auto lppd = array_named(orderings, "lppd", run).as<double>();
  ASSERT_EQ(lppd.size(), 12u);
  for (std::size_t i = 2; i < lppd.size(); i += 3) EXPECT_NEAR(lppd[i], metric(run, "LPPD"), 1e-12);

  const auto densities = read_npz(run / "eval/log_densities.npz");
  const auto prior = array_named(densities, "log_prior", run).as<double>();
  ASSERT_EQ(prior.size(), 300u);
  const NpyRows draws(run / "samples/chain-01.npy");
  double expected = 0;  // the standard normal prior of draw 7 of chain 1
  for (const float x : draws.row(7))
    expected += -0.5 * double(x) * double(x) - 0.5 * std::log(2 * 3.14159265358979323846);
  EXPECT_NEAR(prior[100 + 7], expected, 1e-6 * std::abs(expected));

  // The saved outputs give the RMSE of the run.
  double sum = 0;
  std::vector<double> mean(301);
  for (int c = 0; c < 3; ++c) {
    const NpyRows outputs(run / ("eval/outputs-0" + std::to_string(c) + ".npy"));
    ASSERT_EQ(outputs.rows(), 100u);
    for (std::size_t s = 0; s < 100; ++s)
      for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += double(outputs.row(s)[i]) / 300;
  }
  const auto predictions = read_npz(run / "eval/predictions.npz");
  const auto target = array_named(predictions, "target", run).as<double>();
  for (std::size_t i = 0; i < mean.size(); ++i) sum += (mean[i] - target[i]) * (mean[i] - target[i]);
  EXPECT_NEAR(std::sqrt(sum / 301), metric(run, "RMSE"), 1e-6);
}

TEST(Evaluate, LeavesAnUnfinishedRunUnfinishedAndACompleteOneComplete) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const fs::path run = folder / "run";
  Program program({"run", config, "--out", run, "--set", "training.sampler.n_samples=200000"});
  const auto steps_done = [&]() -> std::size_t {
    const json progress = json::parse(content_of(run / "progress.json"), nullptr, false);
    return progress.is_object() && progress["phase"] == "sampling" ? progress["done"].get<std::size_t>() : 0;
  };
  for (int i = 0; i < 6000 && steps_done() < 2000; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  program.send(SIGINT);
  ASSERT_EQ(program.wait().status, 1);
  const std::string before = content_of(run / "status.json");
  const Outcome outcome = smile({"evaluate", run});
  EXPECT_EQ(outcome.status, 1) << outcome.error;
  EXPECT_NE(outcome.error.find("chain 0 is incomplete ("), std::string::npos) << outcome.error;
  EXPECT_NE(outcome.error.find(" of 200300 steps)"), std::string::npos) << outcome.error;
  EXPECT_EQ(content_of(run / "status.json"), before);

  const fs::path whole = folder / "whole";
  ASSERT_EQ(smile({"run", config, "--out", whole}).status, 0);
  fs::remove_all(whole / "samples");  // so that evaluation fails
  EXPECT_EQ(smile({"evaluate", whole}).status, 1);
  EXPECT_EQ(json::parse(content_of(whole / "status.json"))["status"], "complete");
}

TEST(Evaluate, LeavesOutAChainWhoseCheckpointCannotBeRead) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const fs::path run = folder / "run";
  ASSERT_EQ(smile({"run", config, "--out", run}).status, 0);
  fs::remove(run / "checkpoint/chain-01.bin.previous");
  folder.write("run/checkpoint/chain-01.bin", "nonsense");
  const Outcome outcome = smile({"evaluate", run});
  EXPECT_NE(outcome.error.find("chain 1 is left out: the checkpoint is cut short"), std::string::npos)
      << outcome.error;
  EXPECT_EQ(json::parse(content_of(run / "eval/metrics.json"))["draws"], 200);
}

TEST(Run, ResumeRefusesChangedData) {
  TemporaryFolder folder;
  std::string table = content_of(airfoil());
  const auto data = folder.write("mine.data", table);
  const auto config = folder.write("config.yaml", small_config(data.string()));
  const std::vector<std::string> again = {"run", config, "--out", folder / "run", "--resume"};
  ASSERT_EQ(smile({"run", config, "--out", folder / "run"}).status, 0);
  ASSERT_EQ(smile(again).status, 0);
  // A target of a test row changes: rows, means and standard deviations stay.
  std::int64_t row = -1;
  for (const auto& array : read_npz(folder / "run/dataset_splits.npz"))
    if (array.name == "test") row = array.array.as<std::int64_t>().front();
  ASSERT_GE(row, 0);
  std::size_t line_end = table.find('\n');
  while (row-- > 0) line_end = table.find('\n', line_end + 1);
  char& digit = table[table.find_last_of("0123456789", line_end)];
  digit = digit == '1' ? '2' : '1';
  folder.write("mine.data", table);
  const Outcome outcome = smile(again);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
  EXPECT_NE(outcome.error.find("mine.data"), std::string::npos) << outcome.error;
}

TEST(Run, FilesSayWhichRowsAreInWhichPart) {
  TemporaryFolder folder;
  const std::string file = SMILE_SOURCE_DIR "/data/uci-splits/airfoil/index_test_3.txt";
  std::istringstream rows(content_of(file));
  const std::vector<std::int64_t> wanted{std::istream_iterator<std::int64_t>(rows), {}};
  ASSERT_EQ(wanted.size(), 150u);
  const auto list = folder.write("rows.txt", content_of(file));
  const auto config = folder.write("config.yaml", small_config());
  const fs::path run = folder / "run";
  const std::string by_file = "data.split_files.test=" + list.string();
  ASSERT_EQ(smile({"run", config, "--out", run, "--set", by_file}).status, 0);
  std::size_t parts = 0, all = 0;
  for (const auto& array : read_npz(run / "dataset_splits.npz")) {
    if (array.name != "test" && array.name != "train" && array.name != "valid") continue;
    const auto part = array.array.as<std::int64_t>();
    ++parts, all += part.size();
    if (array.name == "test") {
      EXPECT_EQ(part, wanted);
    }
    if (array.name == "valid") {
      EXPECT_EQ(part.size(), 1353u / 8);
    }
  }
  EXPECT_EQ(parts, 3u);
  EXPECT_EQ(all, 1503u);
  const std::string metrics = content_of(run / "eval/metrics.json");
  ASSERT_EQ(smile({"evaluate", run}).status, 0);
  EXPECT_EQ(content_of(run / "eval/metrics.json"), metrics);
  // Other rows than those of the run, and rows that cannot be.
  folder.write("rows.txt", "1\n2\n3\n");
  const Outcome other = smile({"run", config, "--out", run, "--set", by_file, "--resume"});
  EXPECT_EQ(other.status, 2);
  EXPECT_TRUE(other.is_one_line_error()) << other.error;
  folder.write("rows.txt", "1\n1503\n");
  const Outcome beyond = smile({"run", config, "--out", folder / "none", "--set", by_file});
  EXPECT_EQ(beyond.status, 2);
  EXPECT_TRUE(beyond.is_one_line_error()) << beyond.error;
  EXPECT_NE(beyond.error.find("rows.txt:2:1: row 1503 is not there"), std::string::npos) << beyond.error;
  EXPECT_FALSE(fs::exists(folder / "none"));
}

TEST(Evaluate, TellsAnOutOfDistributionSetFromTheTestSet) {
  TemporaryFolder folder;
  std::ostringstream inside, outside;
  for (int i = 0; i < 400; ++i) {
    const double x = std::sin(0.7 * i), y = std::cos(1.3 * i);
    inside << x << ' ' << y << ' ' << (x > 0 ? 1 : 0) << '\n';
    outside << 0.01 * x << ' ' << 8 + y << ' ' << 0 << '\n';  // on the boundary between the classes
  }
  const auto config = folder.write(
      "config.yaml", small_config(folder.write("in.data", inside.str()), "psmile-auto", "class"));
  const Outcome outcome = smile({"run", config, "--out", folder / "run", "--set",
                                 "evaluation_args.ood=" + folder.write("out.data", outside.str()).string()});
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_GT(metric(folder / "run", "accuracy"), 0.9);
  EXPECT_GT(metric(folder / "run", "OOD AUROC of entropy"), 0.7) << outcome.out;
}

TEST(WarmStart, MembersOfAnEarlierRunPermutedCopiesAndPriorDraws) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  ASSERT_EQ(smile({"run", config, "--out", folder / "first"}).status, 0);

  const std::string taken = "training.warmstart.warmstart_exp_dir=" + (folder / "first").string();
  ASSERT_EQ(smile({"run", config, "--out", folder / "taken", "--set", taken}).status, 0);
  expect_same_draws(folder / "first", folder / "taken");
  // A resumed run has its own members: the other run is not needed any more.
  fs::rename(folder / "first/warmstart", folder / "hidden");
  const Outcome resumed = smile({"run", config, "--out", folder / "taken", "--set", taken, "--resume"});
  EXPECT_EQ(resumed.status, 0) << resumed.error;
  fs::rename(folder / "hidden", folder / "first/warmstart");
  const Outcome more = smile(
      {"run", config, "--out", folder / "more", "--set", taken, "--set", "training.sampler.n_chains=5"});
  EXPECT_EQ(more.status, 2);
  EXPECT_TRUE(more.is_one_line_error()) << more.error;
  const Outcome wider = smile(
      {"run", config, "--out", folder / "wider", "--set", taken, "--set", "model.hidden_structure=[8, 1]"});
  EXPECT_EQ(wider.status, 2);
  EXPECT_TRUE(wider.is_one_line_error()) << wider.error;

  ASSERT_EQ(smile({"run", config, "--out", folder / "copies", "--set",
                   "training.warmstart.permutation_warmstart=true"})
                .status,
            0);
  EXPECT_EQ(content_of(folder / "first/warmstart/member-00.npy"),
            content_of(folder / "copies/warmstart/member-00.npy"));
  EXPECT_NE(content_of(folder / "copies/warmstart/member-01.npy"),
            content_of(folder / "copies/warmstart/member-02.npy"));

  ASSERT_EQ(
      smile({"run", config, "--out", folder / "prior", "--set", "training.warmstart.include=false"}).status,
      0);
  const auto member = read_npy(folder / "prior/warmstart/member-01.npy").as<float>();
  double sum = 0;
  for (const float value : member) sum += double(value) * double(value);
  EXPECT_NEAR(sum / double(member.size()), 1, 0.25) << "a draw of the standard normal prior";
}

TEST(Sweep, RunsEveryPointOnceAndPoolsTheTable) {
  TemporaryFolder folder;
  const auto config =
      folder.write("config.yaml", "saving_dir: " + (folder / "results").string() + "\n" + small_config());
  const auto search =
      folder.write("sweep.yaml", "rng: [1, 2]\ntraining:\n  sampler:\n    turn_angle: [0.05, 0.08]\n");
  const Outcome first = smile({"run", config, "--search", search, "--quiet"});
  ASSERT_EQ(first.status, 0) << first.error;
  const std::string csv = content_of(folder / "results/test/sweep.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 5) << csv;
  EXPECT_TRUE(fs::exists(folder / "results/test/sweep.json"));
  std::vector<fs::path> draws;
  for (const auto& entry : fs::recursive_directory_iterator(folder / "results"))
    if (entry.path().filename() == "chain-00.npy") draws.push_back(entry.path());
  ASSERT_EQ(draws.size(), 4u);
  const auto written = fs::last_write_time(draws[0]);
  const Outcome again = smile({"run", config, "--search", search, "--quiet"});
  EXPECT_EQ(again.status, 0) << again.error;
  EXPECT_EQ(first.out, again.out);
  EXPECT_EQ(fs::last_write_time(draws[0]), written) << "a finished point was run again";
  EXPECT_EQ(content_of(folder / "results/test/sweep.csv"), csv);
}

}  // namespace
}  // namespace smile::test

// SPDX-License-Identifier: Apache-2.0
/// `smile predict` against an independent computation from the stored draws, in its formats, and on files
/// larger than memory.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <thread>

#include "../pipeline/program.hpp"
#include "smile/files/npy.hpp"

namespace smile::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<double> numbers_of(std::string line) {
  std::replace(line.begin(), line.end(), ',', ' ');
  std::istringstream in(line);
  std::vector<double> numbers;
  for (double value; in >> value;) numbers.push_back(value);
  return numbers;
}

/// A CSV file's columns by name.
std::map<std::string, std::vector<double>> columns_of(const fs::path& csv) {
  const auto lines = lines_of(content_of(csv));
  std::vector<std::string> names;
  std::istringstream header(lines.at(0));
  for (std::string name; std::getline(header, name, ',');) names.push_back(name);
  std::map<std::string, std::vector<double>> columns;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto numbers = numbers_of(lines[i]);
    for (std::size_t j = 0; j < names.size(); ++j) columns[names[j]].push_back(numbers.at(j));
  }
  return columns;
}

class Predict : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    const auto config = folder_->write("config.yaml", small_config());
    ASSERT_EQ(smile({"run", config, "--out", run(), "--quiet"}).status, 0);
  }
  static void TearDownTestSuite() { delete folder_; }
  static fs::path run() { return *folder_ / "run"; }
  static fs::path path(const char* name) { return *folder_ / name; }
  static TemporaryFolder* folder_;
};
TemporaryFolder* Predict::folder_ = nullptr;

/// The network 5-16-16-16-1 with ReLU, written plainly, in double.
double forward(std::span<const float> theta, std::vector<double> x) {
  std::size_t at = 0;
  const std::size_t widths[] = {16, 16, 16, 1};
  for (std::size_t l = 0; l < 4; ++l) {
    std::vector<double> y(widths[l]);
    for (std::size_t o = 0; o < widths[l]; ++o)
      for (const double value : x) y[o] += double(theta[at++]) * value;
    for (double& value : y) {
      value += double(theta[at++]);
      if (l < 3) value = std::max(value, 0.0);
    }
    x = y;
  }
  return x[0];
}

TEST_F(Predict, CoverageOfTheTestRowsAgreesWithAnIndependentComputation) {
  // The test rows of the run, as a file of their own.
  const auto splits = read_npz(run() / "dataset_splits.npz");
  const auto test_rows = array_named(splits, "test", run()).as<std::uint32_t>();
  const auto rows = lines_of(content_of(airfoil()));
  std::string text;
  std::vector<std::vector<double>> table;
  for (const auto row : test_rows) {
    text += rows.at(row) + "\n";
    table.push_back(numbers_of(rows.at(row)));
  }
  const auto file = folder_->write("test.data", text);
  const Outcome outcome =
      smile({"predict", run(), "--data", file, "--out", path("p.csv"), "--quantiles", "0.05,0.95,0.25,0.75"});
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  const auto predicted = columns_of(path("p.csv"));

  const auto mean = array_named(splits, "feature_mean", run()).as<double>();
  const auto sd = array_named(splits, "feature_sd", run()).as<double>();
  const double y_mean = array_named(splits, "target_mean", run()).as<double>()[0],
               y_sd = array_named(splits, "target_sd", run()).as<double>()[0];
  std::size_t covered = 0;
  double log_density = 0, squares = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    std::vector<double> x;
    for (std::size_t j = 0; j < 5; ++j) x.push_back((table[i][j] - mean[j]) / sd[j]);
    const double y = table[i][5];
    std::vector<double> means, sigmas;
    for (const char* chain : {"chain-00", "chain-01", "chain-02"}) {
      const NpyRows draws(run() / "samples" / (std::string(chain) + ".npy"));
      for (std::size_t s = 0; s < draws.rows(); ++s) {
        means.push_back(y_mean + y_sd * forward(draws.row(s), x));
        sigmas.push_back(y_sd * std::exp(double(draws.row(s).back())));
      }
    }
    const double count = double(means.size());
    const auto below = [&](double at) {
      double sum = 0;
      for (std::size_t s = 0; s < means.size(); ++s)
        sum += 0.5 * std::erfc((means[s] - at) / sigmas[s] / std::sqrt(2.0));
      return sum / count;
    };
    const auto quantile = [&](double p) {  // by halving
      double low = -1e4, high = 1e4;
      while (high - low > 1e-9) (below(0.5 * (low + high)) < p ? low : high) = 0.5 * (low + high);
      return low;
    };
    const double low = quantile(0.05), high = quantile(0.95);
    covered += low <= y && y <= high;
    double center = 0, noise = 0, square = 0, density = 0;
    for (std::size_t s = 0; s < means.size(); ++s) {
      center += means[s] / count;
      square += means[s] * means[s] / count;
      noise += sigmas[s] * sigmas[s] / count;
      const double z = (y - means[s]) / sigmas[s];
      density += std::exp(-0.5 * z * z) / sigmas[s] / std::sqrt(2 * M_PI) / count;
    }
    log_density += std::log(density * y_sd) / double(table.size());
    squares += (y - center) * (y - center) / double(table.size());
    ASSERT_NEAR(predicted.at("q0.05")[i], low, 2e-4);
    ASSERT_NEAR(predicted.at("q0.95")[i], high, 2e-4);
    ASSERT_NEAR(predicted.at("q0.75")[i], quantile(0.75), 2e-4);
    ASSERT_NEAR(predicted.at("mean")[i], center, 1e-4);
    ASSERT_NEAR(predicted.at("aleatoric_sd")[i], std::sqrt(noise), 1e-4);
    ASSERT_NEAR(predicted.at("epistemic_sd")[i], std::sqrt(square - center * center), 1e-3);
    ASSERT_NEAR(predicted.at("sd")[i], std::sqrt(noise + square - center * center), 1e-3);
  }
  const double coverage = double(covered) / double(table.size());
  const auto printed = [&](const std::string& name) {
    const auto at = outcome.out.find(name + ": ");
    return at == std::string::npos ? NAN : std::stod(outcome.out.substr(at + name.size() + 2));
  };
  EXPECT_NEAR(printed("coverage of 90 % intervals"), coverage, 1e-4) << outcome.out;
  EXPECT_NEAR(printed("LPPD"), log_density, 2e-4) << outcome.out;
  EXPECT_NEAR(printed("RMSE, own unit"), std::sqrt(squares), 2e-4) << outcome.out;

  // The intervals that were written, and the number on the report's first screen: the same.
  std::size_t inside = 0;
  for (std::size_t i = 0; i < table.size(); ++i)
    inside += predicted.at("q0.05")[i] <= table[i][5] && table[i][5] <= predicted.at("q0.95")[i];
  EXPECT_EQ(inside, covered);
  const std::string report = content_of(run() / "report.html");
  std::smatch shown;
  ASSERT_TRUE(std::regex_search(report, shown,
                                std::regex("90 % intervals hold</div><div class=\"value\">([0-9.]+) %")));
  EXPECT_NEAR(std::stod(shown[1]), 100 * coverage, 0.051);

  const json metrics = json::parse(content_of(run() / "eval/metrics.json"));
  for (const auto& row : metrics["metrics"]) {
    if (row["name"] == "coverage of 90 % intervals") {
      EXPECT_NEAR(row["sampling"], coverage, 1e-9);
    }
    if (row["name"] == "LPPD") {
      EXPECT_NEAR(row["sampling"], log_density, 1e-4);
    }
  }
  EXPECT_NE(report.find("coverage of 90 % intervals"), std::string::npos);
}

// A draw of a run with frozen parameters has only the others; whoever reads draws has to put the member's in.
TEST_F(Predict, FrozenParametersArePartOfThePredictions) {
  const auto config = folder_->write(
      "frozen.yaml",
      small_config(
          airfoil(), "psmile-naive", "mean_regr",
          "    params_frozen: [\"layer0.*\", \"log_sigma\"]\nevaluation_args:\n  ood: " + airfoil() + "\n"));
  const fs::path frozen = path("frozen");
  const Outcome outcome = smile({"run", config, "--out", frozen, "--quiet"});
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  const auto splits = read_npz(frozen / "dataset_splits.npz");
  const auto rows = lines_of(content_of(airfoil()));
  std::string text;
  for (const auto row : array_named(splits, "test", frozen).as<std::uint32_t>()) text += rows.at(row) + "\n";
  const Outcome predicted =
      smile({"predict", frozen, "--data", folder_->write("frozen.data", text), "--out", path("frozen.csv")});
  ASSERT_EQ(predicted.status, 0) << predicted.error;
  double lppd = NAN, novelty = NAN;
  const json metrics = json::parse(content_of(frozen / "eval/metrics.json"));
  for (const auto& row : metrics["metrics"]) {
    if (row["name"] == "LPPD") lppd = row["sampling"];
    if (row["name"] == "OOD AUROC of log-density") novelty = row["sampling"];
  }
  const auto at = predicted.out.find("LPPD: ");
  ASSERT_NE(at, std::string::npos) << predicted.out;
  EXPECT_NEAR(std::stod(predicted.out.substr(at + 6)), lppd, 1e-4);
  // The whole data set against its test rows: no telling them apart.
  EXPECT_NEAR(novelty, 0.5, 0.06);
}

TEST_F(Predict, FormatsHoldTheSameNumbers) {
  for (const char* name : {"a.csv", "a.npy", "a.json"})
    ASSERT_EQ(smile({"predict", run(), "--data", airfoil(), "--out", path(name), "--threads", "1"}).status,
              0);
  const auto csv = columns_of(path("a.csv"));
  ASSERT_EQ(csv.at("row").size(), 1503u);

  const json rows = json::parse(content_of(path("a.json")));
  ASSERT_EQ(rows.size(), 1503u);
  const std::string npy = content_of(path("a.npy"));
  ASSERT_EQ(npy.substr(0, 8), std::string("\x93NUMPY\x03\x00", 8));
  std::uint32_t length = 0;
  std::memcpy(&length, npy.data() + 8, 4);
  const std::string header = npy.substr(12, length);
  EXPECT_EQ((12 + length) % 64, 0u);
  EXPECT_EQ(header.back(), '\n');
  EXPECT_TRUE(
      header.starts_with("{'descr': [('row', '<i8'), ('mean', '<f8'), ('sd', '<f8'), "
                         "('aleatoric_sd', '<f8'), ('epistemic_sd', '<f8'), ('q0.05', '<f8'), "
                         "('q0.5', '<f8'), ('q0.95', '<f8')], 'fortran_order': False, 'shape': "
                         "(1503,), }"))
      << header;
  ASSERT_EQ(npy.size(), 12 + length + 1503 * 64);
  const char* names[] = {"mean", "sd", "aleatoric_sd", "epistemic_sd", "q0.05", "q0.5", "q0.95"};
  for (std::size_t i = 0; i < 1503; ++i) {
    std::int64_t row = 0;
    std::memcpy(&row, npy.data() + 12 + length + 64 * i, 8);
    EXPECT_EQ(std::size_t(row), i);
    EXPECT_EQ(rows[i]["row"], i);
    for (std::size_t j = 0; j < 7; ++j) {
      double value = 0;
      std::memcpy(&value, npy.data() + 12 + length + 64 * i + 8 * (j + 1), 8);
      ASSERT_NEAR(csv.at(names[j])[i], value, 1e-8 * std::abs(value));
      ASSERT_EQ(double(rows[i][names[j]]), csv.at(names[j])[i]);
    }
  }
  // Other threads, another name for the format: the same bytes.
  ASSERT_EQ(
      smile({"predict", run(), "--data", airfoil(), "--out", path("b"), "--format", "npy", "--threads", "3"})
          .status,
      0);
  EXPECT_TRUE(content_of(path("b")) == npy);
  // Without --out it goes into the run directory, under the ending of its format.
  ASSERT_EQ(smile({"predict", run(), "--data", airfoil(), "--format", "json"}).status, 0);
  EXPECT_TRUE(content_of(run() / "predictions.json") == content_of(path("a.json")));
  const Outcome wrong = smile({"predict", run(), "--data", airfoil(), "--format", "xml"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_TRUE(wrong.is_one_line_error()) << wrong.error;
  EXPECT_EQ(smile({"predict", run(), "--data", airfoil(), "--quantiles", "0.5,1"}).status, 2);
}

TEST_F(Predict, TheDataItselfIsNotOverwritten) {
  const auto copy = folder_->write("copy.data", content_of(airfoil()));
  const Outcome outcome = smile({"predict", run(), "--data", copy, "--out", copy});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
  EXPECT_EQ(content_of(copy), content_of(airfoil()));
}

/// A table with a header, words and two classes.
class PredictClasses : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    std::ostringstream table;
    table << "size,\"wind, from\",kind\n";
    for (int i = 0; i < 400; ++i) {
      const bool east = i % 3 == 0;
      const double size = std::sin(0.7 * i);
      table << size << ',' << (east ? "east" : "\"west, \"\"far\"\"\"") << ','
            << ((size > 0) == east ? "it's \\ big" : "small") << '\n';
    }
    folder_->write("train.csv", table.str());
    std::string text = small_config(*folder_ / "train.csv", "psmile-auto", "class");
    text.insert(text.find("  task:"), "  categorical: ['wind, from']\n  missing: drop\n");
    const auto config = folder_->write("config.yaml", text);
    const Outcome outcome = smile({"run", config, "--out", *folder_ / "run", "--quiet"});
    ASSERT_EQ(outcome.status, 0) << outcome.error;
  }
  static void TearDownTestSuite() { delete folder_; }
  static Outcome predict(const std::string& data, const char* out = "p.csv") {
    return smile(
        {"predict", *folder_ / "run", "--data", folder_->write("new.csv", data), "--out", *folder_ / out});
  }
  static TemporaryFolder* folder_;
};
TemporaryFolder* PredictClasses::folder_ = nullptr;

TEST_F(PredictClasses, ColumnsAreFoundByNameWithAndWithoutTheTarget) {
  const Outcome outcome =
      predict("colour,\"wind, from\",size\nred,east,0.5\nblue,\"west, \"\"far\"\"\",\nred,east,-0.5\n");
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_NE(outcome.error.find("columns that the model does not use: colour"), std::string::npos)
      << outcome.error;
  EXPECT_NE(outcome.error.find("1 row with a missing value left out"), std::string::npos);
  const auto lines = lines_of(content_of(*folder_ / "p.csv"));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0], "row,predicted,p_it's \\ big,p_small,entropy,mutual_information");
  EXPECT_TRUE(lines[1].starts_with("0,")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("2,")) << lines[2];  // row 1 is left out
  const auto numbers_only = numbers_of(lines[1].substr(lines[1].find(',', 2) + 1));
  ASSERT_EQ(numbers_only.size(), 4u);
  const double p = numbers_only[0], entropy = -p * std::log(p) - (1 - p) * std::log(1 - p);
  EXPECT_NEAR(numbers_only[1], 1 - p, 1e-8);
  EXPECT_NEAR(numbers_only[2], entropy, 1e-7);
  EXPECT_GE(numbers_only[3], 0);
  EXPECT_LE(numbers_only[3], numbers_only[2]);

  const Outcome with_target =
      smile({"predict", *folder_ / "run", "--data", *folder_ / "train.csv", "--out", *folder_ / "p.npy"});
  ASSERT_EQ(with_target.status, 0) << with_target.error;
  const auto accuracy = with_target.out.find("accuracy: ");
  ASSERT_NE(accuracy, std::string::npos) << with_target.out;
  EXPECT_GE(std::stod(with_target.out.substr(accuracy + 10)), 0.9);
  EXPECT_NE(content_of(*folder_ / "p.npy").find("('predicted', '<U10'), ('p_it\\'s \\\\ big', '<f8')"),
            std::string::npos);
}

TEST_F(PredictClasses, MismatchingColumnsAreRefusedByName) {
  const Outcome missing = predict("length,kind\n1,small\n");
  EXPECT_EQ(missing.status, 2);
  EXPECT_TRUE(missing.is_one_line_error()) << missing.error;
  EXPECT_NE(missing.error.find("there are no columns 'size', 'wind, from'"), std::string::npos)
      << missing.error;
  EXPECT_NE(missing.error.find("length, kind"), std::string::npos) << missing.error;
  const Outcome twice = predict("size,size,\"wind, from\"\n1,2,east\n");
  EXPECT_EQ(twice.status, 2);
  EXPECT_NE(twice.error.find("several columns are named 'size'"), std::string::npos) << twice.error;
  const Outcome word = predict("size,\"wind, from\"\n1,north\n");
  EXPECT_EQ(word.status, 2);
  EXPECT_NE(word.error.find("'north' did not occur"), std::string::npos) << word.error;
  const Outcome label = predict("size,\"wind, from\",kind\n1,east,huge\n");
  EXPECT_EQ(label.status, 2);
  EXPECT_NE(label.error.find("'huge' did not occur"), std::string::npos) << label.error;
}

TEST_F(Predict, StopsAtCtrlCAndLeavesNothing) {
  const auto data = path("long.data");
  const std::string rows = content_of(airfoil());
  {
    std::ofstream out(data);
    for (int i = 0; i < 400; ++i) out << rows;
  }
  fs::create_directories(path("stopped"));
  Program program({"predict", run(), "--data", data, "--out", path("stopped/new.csv"), "--threads", "1"});
  while (fs::is_empty(path("stopped"))) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  program.send(SIGINT);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
  EXPECT_NE(outcome.error.find("stopped before the last row"), std::string::npos) << outcome.error;
  EXPECT_TRUE(fs::is_empty(path("stopped")));
  fs::remove(data);
}

TEST_F(Predict, AFileLargerThanMemoryIsStreamed) {
  if (!kMemoryCanBeLimited) GTEST_SKIP() << "no limit on memory with the address sanitizer or LibTorch";
  // Numbers with many zeros behind them: 300 MB of file for few rows, so that the test is short.
  const std::string zeros(3000, '0');
  constexpr std::size_t kRows = 16000;
  const auto data = path("large.data");
  const auto rows = lines_of(content_of(airfoil()));
  {
    std::ofstream out(data);
    for (std::size_t i = 0; i < kRows; ++i) {
      const auto numbers = numbers_of(rows[i % rows.size()]);
      for (std::size_t j = 0; j < 6; ++j) {
        std::ostringstream number;
        number.precision(12);
        number << std::fixed << numbers[j];
        out << number.str() << zeros << (j < 5 ? ' ' : '\n');
      }
    }
  }
  ASSERT_GT(fs::file_size(data), 250u << 20);
  const auto limit = [] {
    const rlimit bytes{std::size_t{240} << 20, std::size_t{240} << 20};
    ::setrlimit(RLIMIT_AS, &bytes);  // all memory, that of the program's own code included
  };
  const Outcome outcome = smile({"predict", run(), "--data", data, "--out", path("large.csv"), "--threads",
                                 "2", "--quantiles", "0.05,0.95"},
                                limit);
  fs::remove(data);
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  ASSERT_EQ(
      smile({"predict", run(), "--data", airfoil(), "--out", path("small.csv"), "--quantiles", "0.05,0.95"})
          .status,
      0);
  const auto large = lines_of(content_of(path("large.csv"))), small = lines_of(content_of(path("small.csv")));
  ASSERT_EQ(large.size(), kRows + 1);
  for (std::size_t i = 0; i < kRows; ++i) {
    const std::string& expected = small[1 + i % rows.size()];
    ASSERT_EQ(large[i + 1].substr(large[i + 1].find(',')), expected.substr(expected.find(','))) << i;
  }
}

}  // namespace
}  // namespace smile::test

// SPDX-License-Identifier: Apache-2.0
// `smile analytic` as a user meets it: files, threads, an interrupt, wrong input.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "end_to_end/pipeline/program.hpp"
#include "smile/benchmark/analytic.hpp"
#include "smile/files/npy.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}
std::size_t lines(const std::string& text) {
  return std::size_t(std::count(text.begin(), text.end(), '\n'));
}

class Analytic : public testing::Test {
 protected:
  std::string write(const std::string& text, const std::string& name = "a.yaml") const {
    std::ofstream(folder_.path() / name) << text;
    return (folder_.path() / name).string();
  }
  std::string out(const std::string& name) const { return (folder_.path() / name).string(); }
  test::TemporaryFolder folder_;
};

const std::string kSmall = R"(
steps: 3000
chains: 5
targets: [icg, funnel]
noises: [isotropic, spatially-varied]
distributions: [gaussian, student-t]
methods:
  - {name: mclmc, step_size: [0.1, 0.3], decoherence_length: [5.0, 20.0]}
  - {name: psmile-naive, label: "psmile, ours", step_size: {from: 1e-3, to: 1e-1, points: 3}}
  - {name: sgld, step_size: 1e-3}
)";

TEST_F(Analytic, writes_table_numbers_and_figures) {
  const auto outcome =
      test::smile({"analytic", write(kSmall), "--out", out("results"), "--quiet", "--threads", "2"});
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_NE(outcome.out.find("± s.e."), std::string::npos);
  const fs::path results = out("results");
  // A row a grid point: two targets times (4 + four noises times (3 + 1)).
  const std::string csv = read(results / "points.csv");
  EXPECT_EQ(lines(csv), 1u + 2 * (4 + 4 * 4));
  EXPECT_NE(csv.find("\"psmile, ours\""), std::string::npos);
  const auto json = nlohmann::json::parse(read(results / "results.json"));
  EXPECT_EQ(json.at("cells").size(), 2u * (1 + 4 * 2));
  EXPECT_EQ(json.at("config").at("steps"), 3000);
  EXPECT_EQ(json.at("cells").at(0).at("points").at(0).at("b2_of_chains").size(), 5u);
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(results)) names.insert(entry.path().filename().string());
  EXPECT_EQ(names, (std::set<std::string>{"points.csv", "results.json", "table.txt", "step-size-icg-none.svg",
                                          "step-size-icg-isotropic.svg", "step-size-icg-spatially-varied.svg",
                                          "step-size-funnel-none.svg", "step-size-funnel-isotropic.svg",
                                          "step-size-funnel-spatially-varied.svg"}));
  EXPECT_NE(read(results / "step-size-icg-isotropic.svg").find("psmile, ours, student-t(5)"),
            std::string::npos);
}

TEST_F(Analytic, draws_sigma_and_modes) {
  const std::string sigma = R"(
steps: 20000
chains: 4
targets: [gaussian]
covariance: s.npy
noises: [correlated]
noise_scale: 0.5
distributions: [lognormal]
lognormal_sigma: [0.01, 0.5]
methods: [{name: psmile-naive, step_size: [0.1, 0.3]}]
)";
  write_npy(folder_.path() / "s.npy", std::vector<std::size_t>{3, 3},
            std::vector<double>{1, 0.3, 0, 0.3, 1, 0.2, 0, 0.2, 1});
  const auto first = test::smile({"analytic", write(sigma), "--out", out("sigma"), "--quiet"});
  ASSERT_EQ(first.status, 0) << first.error;
  EXPECT_TRUE(fs::exists(fs::path(out("sigma")) / "lognormal-b2.svg"));
  EXPECT_TRUE(fs::exists(fs::path(out("sigma")) / "lognormal-step-size.svg"));
  const std::string modes = R"(
steps: 20000
chains: 4
start: paper
targets: [gmm]
noises: [isotropic]
record_modes: true
methods: [{name: psmile-naive, step_size: 0.6}, {name: csgld, step_size: 0.01, cycle_steps: 5000}]
)";
  const auto second = test::smile({"analytic", write(modes), "--out", out("modes"), "--quiet"});
  ASSERT_EQ(second.status, 0) << second.error;
  EXPECT_NE(second.out.find("modes by all chains"), std::string::npos) << second.out;
  for (const char* name : {"modes-psmile-naive-one.svg", "modes-psmile-naive-all.svg", "modes-csgld-all.svg"})
    EXPECT_TRUE(fs::exists(fs::path(out("modes")) / name)) << name;
}

TEST_F(Analytic, threads_change_nothing) {
  const std::string config = write(kSmall);
  ASSERT_EQ(test::smile({"analytic", config, "--out", out("one"), "--quiet", "--threads", "1"}).status, 0);
  ASSERT_EQ(test::smile({"analytic", config, "--out", out("three"), "--quiet", "--threads", "3"}).status, 0);
  EXPECT_EQ(read(fs::path(out("one")) / "points.csv"), read(fs::path(out("three")) / "points.csv"));
}

TEST_F(Analytic, goes_on_after_an_interrupt) {
  const std::string config = write(R"(
steps: 20000
chains: 16
targets: [icg]
noises: [isotropic, correlated]
methods: [{name: psmile-naive, step_size: {from: 1e-3, to: 1e-1, points: 12}}]
)");
  const fs::path ledger = fs::path(out("cut")) / "unfinished.jsonl";
  test::Program program({"analytic", config, "--out", out("cut"), "--quiet", "--threads", "1"});
  for (int i = 0; i < 6000 && lines(read(ledger)) < 3; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  program.send(SIGINT);
  const auto cut = program.wait();
  EXPECT_EQ(cut.status, 1);
  EXPECT_TRUE(cut.is_one_line_error()) << cut.error;
  EXPECT_EQ(cut.out, "");
  EXPECT_FALSE(fs::exists(fs::path(out("cut")) / "points.csv"));
  ASSERT_TRUE(fs::exists(ledger));

  const auto resumed = test::smile({"analytic", config, "--out", out("cut"), "--quiet"});
  ASSERT_EQ(resumed.status, 0) << resumed.error;
  EXPECT_NE(resumed.out.find("were kept from an interrupted run"), std::string::npos) << resumed.out;
  EXPECT_FALSE(fs::exists(ledger));
  ASSERT_EQ(test::smile({"analytic", config, "--out", out("whole"), "--quiet"}).status, 0);
  EXPECT_EQ(read(fs::path(out("cut")) / "points.csv"), read(fs::path(out("whole")) / "points.csv"));
}

TEST_F(Analytic, wrong_input_is_one_line) {
  for (const auto& [old, fresh] : std::vector<std::pair<std::string, std::string>>{
           {"icg", "icq"}, {"chains: 5", "chains: 0"}, {"from: 1e-3", "from: 1"}}) {
    std::string text = kSmall;
    text.replace(text.find(old), old.size(), fresh);
    const auto outcome = test::smile({"analytic", write(text), "--out", out("bad")});
    EXPECT_EQ(outcome.status, 2) << fresh;
    EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(fs::exists(out("bad")));
  }
  const auto missing = test::smile({"analytic", out("none.yaml")});
  EXPECT_EQ(missing.status, 2);
  EXPECT_TRUE(missing.is_one_line_error()) << missing.error;
}

/// A file where the folder should be: status 1, one line, and no half results.
TEST_F(Analytic, a_folder_that_cannot_be_made) {
  std::ofstream(folder_.path() / "file") << "x";
  const auto outcome = test::smile({"analytic", write(kSmall), "--out", out("file"), "--quiet"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
}

/// Every configuration of the repository can be read.
TEST(AnalyticConfigs, are_good) {
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(SMILE_SOURCE_DIR) / "configs" / "analytical")) {
    if (entry.path().extension() != ".yaml") continue;
    const AnalyticConfig config = load_analytic_config(entry.path());
    EXPECT_EQ(config.experiment_name, entry.path().stem().string());
    ++count;
  }
  EXPECT_GE(count, 9u);
}

}  // namespace
}  // namespace smile

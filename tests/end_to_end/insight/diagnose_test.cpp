// SPDX-License-Identifier: Apache-2.0
/// `smile diagnose` on runs that went well, and on one where all chains went wrong together.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "end_to_end/pipeline/program.hpp"

namespace smile::test {
namespace {

using nlohmann::json;

/// Three classes by a rule that a small network learns.
std::string three_classes() {
  std::ostringstream table;
  for (int i = 0; i < 600; ++i) {
    const double x = std::sin(0.7 * i), y = std::cos(1.3 * i);
    table << x << ' ' << y << ' ' << (x * y > 0.1 ? 0 : x > y ? 1 : 2) << '\n';
  }
  return table.str();
}

/// Codes of the findings of each chain after a run with fixed steps.
std::vector<std::string> findings_of(const std::string& data, const char* task, const char* step_size) {
  TemporaryFolder folder;
  const auto config =
      folder.write("config.yaml", small_config(folder.write("data", data), "smile-naive", task));
  const Outcome run = smile({"run", config, "--out", folder / "run", "--no-report", "--quiet", "--set",
                             std::string("training.sampler.step_size=") + step_size});
  EXPECT_EQ(run.status, 0) << run.error;
  const Outcome outcome = smile({"diagnose", folder / "run", "--json"});
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  std::vector<std::string> codes;
  const json diagnosis = json::parse(outcome.out);
  for (const json& chain : diagnosis["chains"]) {
    std::string& of_one = codes.emplace_back(chain["verdict"]);
    for (const json& finding : chain["findings"]) of_one += " " + finding["code"].get<std::string>();
    EXPECT_TRUE(chain["start_test_lppd"].is_number());
  }
  EXPECT_EQ(codes.size(), 3u);
  return codes;
}

TEST(ChainsAstray, AreNamedWhereAllDivergedTogether) {
  for (const auto& codes :
       {findings_of(three_classes(), "class", "5"), findings_of(content_of(airfoil()), "mean_regr", "5"),
        findings_of(content_of(airfoil()), "regr", "5")})
    for (const auto& of_one : codes) {
      EXPECT_TRUE(of_one.starts_with("doubtful") || of_one.starts_with("failed")) << of_one;
      EXPECT_TRUE(of_one.find("worse-than-") != std::string::npos ||
                  of_one.find("blown-up") != std::string::npos)
          << of_one;
    }
}

/// The small run with other settings, and its diagnosis.
struct Diagnosed {
  Outcome run, diagnosis;
};
Diagnosed diagnosed(const char* sampler, std::initializer_list<const char*> settings) {
  TemporaryFolder folder;
  const auto config =
      folder.write("config.yaml", small_config(folder.write("data", three_classes()), sampler, "class"));
  std::vector<std::string> words = {"run", config, "--out", folder / "run", "--no-report"};
  for (const char* setting : settings) words.insert(words.end(), {"--set", setting});
  Diagnosed out{smile(words), {}};
  out.diagnosis = smile({"diagnose", folder / "run"});
  EXPECT_EQ(out.run.status, 0) << out.run.error;
  EXPECT_EQ(out.diagnosis.status, 0) << out.diagnosis.error;
  return out;
}

TEST(StepSizes, FarTooSmallOnesAreToBeRaisedSaysTheRunToo) {
  const auto [run, diagnosis] = diagnosed("smile-naive", {"training.sampler.step_size=1e-12"});
  EXPECT_NE(run.error.find("their steps are so small that they went nowhere"), std::string::npos)
      << run.error;
  EXPECT_NE(diagnosis.out.find("try: raise step_size"), std::string::npos) << diagnosis.out;
  EXPECT_EQ(diagnosis.out.find("lower step_size"), std::string::npos) << diagnosis.out;
}

TEST(StepSizes, FarTooLargeOnesAreNamedAndTheLastLineSaysWhatTheyDid) {
  const auto [run, diagnosis] = diagnosed("psmile-auto", {"training.sampler.step_size=1e6"});
  const auto begun = diagnosis.out.find("it began with a step size of 1e+06");
  ASSERT_NE(begun, std::string::npos) << diagnosis.out;
  EXPECT_EQ(diagnosis.out.find("lower turn_angle"), std::string::npos) << diagnosis.out;
  const auto last = run.error.rfind("warning: the draws predict the test rows worse than no network");
  ASSERT_NE(last, std::string::npos) << run.error;
  EXPECT_EQ(run.error.find('\n', last), run.error.size() - 1) << run.error;
}

TEST(Diagnose, SaysWhereDrawsAreTooFewToJudge) {
  const auto [run, diagnosis] = diagnosed(
      "psmile-auto",
      {"training.sampler.n_chains=1", "training.sampler.n_samples=10", "training.sampler.n_thinning=1"});
  EXPECT_NE(diagnosis.out.find("too few draws to judge: chain 0"), std::string::npos) << diagnosis.out;
  EXPECT_EQ(diagnosis.out.find("sound"), diagnosis.out.find("sound; too few")) << diagnosis.out;
}

TEST(ChainsAstray, AreNotFoundInGoodRuns) {
  for (const auto& codes : {findings_of(three_classes(), "class", "0.003"),
                            findings_of(content_of(airfoil()), "mean_regr", "0.003"),
                            findings_of(content_of(airfoil()), "regr", "0.003")})
    for (const auto& of_one : codes) EXPECT_EQ(of_one.find("worse-than-"), std::string::npos) << of_one;
}

}  // namespace
}  // namespace smile::test

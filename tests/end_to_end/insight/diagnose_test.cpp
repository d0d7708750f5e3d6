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
      EXPECT_NE(of_one.find("worse-than-"), std::string::npos) << of_one;
    }
}

TEST(ChainsAstray, AreNotFoundInGoodRuns) {
  for (const auto& codes : {findings_of(three_classes(), "class", "0.003"),
                            findings_of(content_of(airfoil()), "mean_regr", "0.003"),
                            findings_of(content_of(airfoil()), "regr", "0.003")})
    for (const auto& of_one : codes) EXPECT_EQ(of_one.find("worse-than-"), std::string::npos) << of_one;
}

}  // namespace
}  // namespace smile::test

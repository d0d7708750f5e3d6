// SPDX-License-Identifier: Apache-2.0
#include "report/comparison.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace smile::report {
namespace {

RunFiles run(const std::string& sampler, std::uint64_t seed, double lppd, double rmse,
             double step_size = 1e-3, const std::string& data = "data/airfoil.data") {
  RunFiles f;
  f.config.data.path = data;
  f.config.data.dataset.task = Task::mean_regression;
  f.config.rng = seed;
  f.config.training.sampler.name = sampler;
  f.config.training.sampler.step.step_size = step_size;
  f.metrics.metrics = {
      {"LPPD", -0.1, lppd}, {"RMSE", kNone, rmse}, {"coverage of 90 % intervals", kNone, 0.8 + 0.1 * rmse}};
  return f;
}

std::size_t column(const ComparisonTable& table, const std::string& name) {
  return std::size_t(std::find_if(table.columns.begin(), table.columns.end(),
                                  [&](const Column& column) { return column.label() == name; }) -
                     table.columns.begin());
}

TEST(Comparison, PoolsRunsThatDifferInTheirSeedAndMarksTheBest) {
  const std::vector<RunFiles> runs{run("psmile", 1, 0.5, 0.2), run("psmile", 2, 0.7, 0.4),
                                   run("sgld", 1, 0.1, 0.1), run("psmile", 3, 0.6, 0.3)};
  const ComparisonTable table = compare(runs);
  ASSERT_EQ(table.groups.size(), 2u);
  EXPECT_EQ(table.groups[0].name, "psmile");
  EXPECT_EQ(table.groups[0].runs, (std::vector<std::size_t>{0, 1, 3}));
  const Entry& lppd = table.groups[0].entries[column(table, "LPPD")];
  EXPECT_NEAR(lppd.mean, 0.6, 1e-15);
  EXPECT_NEAR(lppd.sd, 0.1, 1e-15);
  EXPECT_TRUE(lppd.best);
  EXPECT_FALSE(table.groups[1].entries[column(table, "LPPD")].best);
  EXPECT_TRUE(table.groups[1].entries[column(table, "RMSE")].best) << "lower is better";
  // 0.83 and 0.81 of 0.9: nearer is better.
  EXPECT_TRUE(table.groups[0].entries[column(table, "coverage of 90 % intervals")].best);
  EXPECT_TRUE(std::isnan(table.groups[1].entries[column(table, "LPPD")].sd));
  EXPECT_EQ(column(table, "RMSE (ensemble)"), table.columns.size()) << "no run has it";
  EXPECT_EQ(text_of(lppd), "0.60 ± 0.10");
  EXPECT_EQ(text_of(table.groups[1].entries[column(table, "LPPD")]), "0.1000");
}

TEST(Comparison, NamesGroupsByWhatDistinguishesThemAndKeepsDataApart) {
  const std::vector<RunFiles> runs{run("psmile", 1, 0.5, 0.2), run("psmile", 1, 0.7, 0.4, 0.01),
                                   run("psmile", 1, 2.5, 0.1, 1e-3, "data/energy.data")};
  const ComparisonTable table = compare(runs);
  ASSERT_EQ(table.groups.size(), 3u);
  EXPECT_EQ(table.groups[0].data, "airfoil");
  EXPECT_EQ(table.groups[0].name, "psmile, step_size 0.001");
  EXPECT_EQ(table.groups[1].name, "psmile, step_size 0.01");
  EXPECT_EQ(table.groups[2].data, "energy");
  EXPECT_EQ(table.groups[2].name, "psmile");
  EXPECT_TRUE(table.groups[1].entries[column(table, "LPPD")].best);
  EXPECT_FALSE(table.groups[2].entries[column(table, "LPPD")].best) << "alone on its data";
}

TEST(Comparison, CopiesHoldTheNumbersAndTheBold) {
  const std::vector<RunFiles> runs{run("psmile", 1, 0.5, 0.2), run("psmile", 2, 0.7, 0.4),
                                   run("sgld", 1, 0.1, 0.1)};
  const ComparisonTable table = compare(runs);
  const std::string csv = csv_of(table), latex = latex_of(table);
  EXPECT_EQ(
      csv.substr(0, csv.find('\n')),
      "data,method,runs,\"LPPD (ensemble) mean\",\"LPPD (ensemble) sd\",\"LPPD mean\",\"LPPD sd\",\"RMSE "
      "mean\",\"RMSE sd\",\"coverage of 90 % intervals mean\",\"coverage of 90 % intervals sd\"");
  EXPECT_NE(csv.find("\"airfoil\",\"psmile\",2,-0.1,0,0.6,0.141421356"), std::string::npos) << csv;
  EXPECT_NE(latex.find("$\\mathbf{0.60} \\pm 0.14$"), std::string::npos) << latex;
  EXPECT_NE(latex.find("coverage of 90 \\% intervals"), std::string::npos) << latex;
  EXPECT_NE(latex.find("\\begin{tabular}{lrrrr}"), std::string::npos) << latex;
}

}  // namespace
}  // namespace smile::report

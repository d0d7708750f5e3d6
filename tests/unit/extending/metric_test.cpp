// SPDX-License-Identifier: Apache-2.0
// The metric that CONTRIBUTING adds, from its function and its row: in the tables and files of a run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "extending/narrow_intervals_row.cpp"
#include "smile/config/config.hpp"
#include "smile/experiment/pipeline.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

const bool added = [] {
  add_metric(narrow_intervals_row());
  return true;
}();

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST(ExtendingMetrics, ThePageShowsTheFilesThatAreCompiledHere) {
  const std::string page = text_of(SMILE_SOURCE_DIR "/CONTRIBUTING.md");
  for (const char* file :
       {"examples/extending/narrow_intervals.hpp", "examples/extending/narrow_intervals_row.cpp"})
    EXPECT_NE(page.find("```cpp\n" + text_of(std::filesystem::path(SMILE_SOURCE_DIR) / file) + "```"),
              std::string::npos)
        << file;
}

TEST(ExtendingMetrics, AMetricOfARowIsInTheTableAndTheFilesOfARun) {
  ASSERT_TRUE(added);
  test::TemporaryFolder folder;
  RunOptions options;
  options.out = (folder / "run").string();
  const RunSummary summary =
      run_experiment(parse_config("data: {path: " SMILE_SOURCE_DIR "/data/uci/yacht.data, task: mean_regr}\n"
                                  "model: {hidden_structure: [4, 1]}\n"
                                  "training:\n  warmstart: {max_epochs: 20}\n"
                                  "  sampler: {name: sgld, step_size: 1.0e-6, batch_size: 50, n_chains: 2, "
                                  "warmup_steps: 100, n_samples: 200}\n",
                                  "metric.yaml"),
                     options);
  const auto row = std::find_if(summary.metrics.begin(), summary.metrics.end(),
                                [](const MetricRow& r) { return r.name == "shortfall of intervals"; });
  ASSERT_NE(row, summary.metrics.end());
  EXPECT_TRUE(row->sampling >= 0 && row->sampling < 1) << row->sampling;
  EXPECT_TRUE(std::isnan(row->ensemble)) << "members of mean_regr have no intervals";
  EXPECT_NE(metrics_table(summary).find("shortfall of intervals"), std::string::npos);
  const auto json = nlohmann::json::parse(text_of(folder / "run/eval/sampling.json"));
  EXPECT_EQ(json.at("interval_shortfall").get<double>(), row->sampling);
}

}  // namespace
}  // namespace smile

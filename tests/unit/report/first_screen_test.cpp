// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "report/figures.hpp"

namespace smile::report {
namespace {

/// What the evaluation of a run writes, as far as the tiles need it.
RunFiles run_of(const std::string& task) {
  RunFiles run;
  run.config.data.dataset.task = parse_name<Task>(task).value();
  const auto row = [](const char* name, double value) { return MetricRow{name, value - 0.1, value}; };
  run.metrics.metrics = {row("LPPD", -2.5), row("perplexity", 12.2), row("RMSE", 0.25),
                         row("accuracy", 0.375), row("ECE", 0.0625)};
  return run;
}

TEST(FirstScreen, TextIsJudgedAsClassesAreAndNotByErrorsOfNumbers) {
  const std::string text = tiles(run_of("class_multilabel"));
  EXPECT_EQ(text.find("RMSE"), std::string::npos) << text;
  EXPECT_EQ(text.find("intervals"), std::string::npos) << text;
  EXPECT_NE(text.find("Accuracy of the sampler</div><div class=\"value\">37.5 %"), std::string::npos) << text;
  EXPECT_NE(text.find("Calibration error (ECE)</div><div class=\"value\">6.2 %"), std::string::npos) << text;
  EXPECT_EQ(tiles(run_of("class")), text);
  for (const char* task : {"regr", "mean_regr"}) {
    const std::string numbers = tiles(run_of(task));
    EXPECT_NE(numbers.find("RMSE of the sampler</div><div class=\"value\">0.25"), std::string::npos)
        << numbers;
    EXPECT_NE(numbers.find("90 % intervals hold"), std::string::npos) << numbers;
  }
}

}  // namespace
}  // namespace smile::report

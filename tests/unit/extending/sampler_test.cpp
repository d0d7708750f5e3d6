// SPDX-License-Identifier: Apache-2.0
// The sampler that CONTRIBUTING adds, from its header and its row: known by name everywhere, and right.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "extending/barker_row.cpp"
#include "smile/config/catalogue.hpp"
#include "smile/config/config.hpp"
#include "smile/experiment/estimate.hpp"
#include "smile/experiment/pipeline.hpp"
#include "support/gaussian_target.hpp"
#include "support/stream_normals.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

/// Before the first configuration is read.
const bool added = [] {
  add_sampler(barker_row());
  return true;
}();

std::string text_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(std::string(SMILE_SOURCE_DIR) + "/" + file).rdbuf();
  return text.str();
}

TEST(Extending, ThePageShowsTheFilesThatAreCompiledHere) {
  const std::string page = text_of("CONTRIBUTING.md");
  for (const char* file : {"examples/extending/barker_sampler.hpp", "examples/extending/barker_row.cpp"})
    EXPECT_NE(page.find("```cpp\n" + text_of(file) + "```"), std::string::npos) << file;
}

TEST(Extending, ASamplerOfARowRunsAnExperiment) {
  ASSERT_TRUE(added);
  test::TemporaryFolder folder;
  Config config = parse_config("data: {path: " SMILE_SOURCE_DIR
                               "/data/uci/yacht.data, task: mean_regr}\n"
                               "model: {hidden_structure: [4, 1]}\n"
                               "training:\n  warmstart: {max_epochs: 20}\n"
                               "  sampler: {name: sgbd, temperature: 1.0, step_size: 1.0e-6, batch_size: 50, "
                               "n_chains: 2, warmup_steps: 200, "
                               "n_samples: 400}\n",
                               "sgbd.yaml");
  EXPECT_TRUE(config.warnings.empty()) << config.warnings.front();
  RunOptions options;
  options.out = (folder / "run").string();
  const RunSummary summary = run_experiment(config, options);
  EXPECT_EQ(summary.exit_status(), 0) << summary.reason;
  EXPECT_EQ(summary.draws, 80u);
  EXPECT_TRUE(std::filesystem::exists(folder / "run/samples/chain-01.npy"));
}

TEST(Extending, ItIsListedCountedAndItsKeysAreKnown) {
  const auto samplers = list_samplers();
  EXPECT_TRUE(std::any_of(samplers.begin(), samplers.end(), [](const auto& s) { return s.name == "sgbd"; }));
  // Its dynamics take the temperature, so that the target is not tempered.
  EXPECT_TRUE(sampler_row("sgbd").has_temperature());
  SamplerConfig config;
  config.name = "sgbd";
  EXPECT_EQ(gradients_of(config, 100), 100u);
}

// z² = 2ε and the drift ε g to first order: on a Gaussian the moments are right up to O(ε). 20,000 draws with
// an autocorrelation of some 1/ε steps: a standard error of the variance of about 4 %, a bias below 5 %; a
// false alarm in 10,000 runs with the seed left to chance.
TEST(Extending, TheSamplerOfThePageSamples) {
  test::GaussianTarget<float> target({0, 0}, {1, 0.25}, 0, 1);
  const SamplingPlan plan{1000, 200000};
  GradientStepOptions options;
  options.step_size = 0.05;
  BarkerSampler<HostVector<float>> sampler(options, plan);
  test::StreamNormals<float> normals(1);
  HostVector<float> start(2);
  sampler.start(start, target, normals);
  double sums[2] = {0, 0};
  std::uint64_t draws = 0;
  for (std::uint64_t t = 1; t <= sampler.total_steps(); ++t) {
    sampler.step(target, normals, t);
    if (t <= plan.warmup_steps) continue;
    ++draws;
    for (int i = 0; i < 2; ++i)
      sums[i] += double(sampler.position()[std::size_t(i)]) * double(sampler.position()[std::size_t(i)]);
  }
  EXPECT_NEAR(sums[0] / double(draws), 1.0, 0.15);
  EXPECT_NEAR(sums[1] / double(draws), 4.0, 0.80);
}

}  // namespace
}  // namespace smile

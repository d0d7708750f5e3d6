// SPDX-License-Identifier: Apache-2.0
// Memory and disk: what cannot fit is refused before anything is written, memory does not grow with the
// number of draws, and draws of half precision are evaluated as others are.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "program.hpp"
#include "smile/files/draws.hpp"

namespace smile::test {
namespace {

namespace fs = std::filesystem;

TEST(Resources, RunsThatDoNotFitAreRefusedBeforeAnythingIsWritten) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const Outcome disk =
      smile({"run", config, "--out", folder / "run", "--set", "training.sampler.n_samples=1000000000",
             "--set", "training.sampler.n_thinning=1"});
  EXPECT_EQ(disk.status, 1);
  EXPECT_TRUE(disk.is_one_line_error()) << disk.error;
  EXPECT_NE(disk.error.find("the run needs 7.9 TB on disk (draws 7.9 TB"), std::string::npos) << disk.error;
  EXPECT_FALSE(fs::exists(folder / "run"));
  if (!kMemoryCanBeLimited) return;
  const Outcome memory = smile({"run", config, "--out", folder / "run", "--threads", "3", "--set",
                                "model.hidden_structure=[4000, 4000, 1]"},
                               [] {
                                 const rlimit limit{800'000'000, 800'000'000};
                                 ::setrlimit(RLIMIT_AS, &limit);
                               });
  EXPECT_EQ(memory.status, 1);
  EXPECT_TRUE(memory.is_one_line_error()) << memory.error;
  EXPECT_NE(memory.error.find("the run needs 3.7 GB of memory (3 members: 192.4 MB; 3 chains at once"),
            std::string::npos)
      << memory.error;
  EXPECT_FALSE(fs::exists(folder / "run"));
}

TEST(Resources, MemoryDoesNotGrowWithTheNumberOfDraws) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const auto peak = [&](const char* samples) {
    const Outcome outcome = smile(
        {"run", config, "--out", folder / samples, "--quiet", "--threads", "1", "--set",
         "model.hidden_structure=[400, 400, 1]", "--set", "training.sampler.n_chains=1", "--set",
         "training.warmstart.max_epochs=1", "--set", "training.sampler.warmup_steps=10", "--set",
         "training.sampler.n_thinning=1", "--set", std::string("training.sampler.n_samples=") + samples});
    EXPECT_EQ(outcome.status, 0) << outcome.error;
    return outcome.peak_bytes;
  };
  const double few = peak("10"), many = peak("200");
  const DrawsReader draws(folder / "200/samples/chain-00.npy");
  EXPECT_EQ(draws.rows(), 200U);
  // 190 draws more of 650 kB are 124 MB; the metrics of each draw may take a little.
  EXPECT_LT(many - few, 50e6) << few << " " << many;
}

TEST(Resources, DrawsOfHalfPrecisionAreTheSameDrawsRounded) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const auto metrics = [&](const std::string& type) {
    const Outcome outcome = smile(
        {"run", config, "--out", folder / type, "--quiet", "--set", "training.sampler.draws_dtype=" + type});
    EXPECT_EQ(outcome.status, 0) << outcome.error;
    return nlohmann::json::parse(content_of(folder / type / "eval/metrics.json"));
  };
  const auto whole = metrics("float32");
  const DrawsReader draws(folder / "float32/samples/chain-01.npy");
  std::vector<float> x(draws.columns()), y(draws.columns());
  for (const auto& [type, accuracy] :
       {std::pair<std::string, double>{"float16", 0x1p-11}, {"bfloat16", 0x1p-8}}) {
    const auto rounded = metrics(type);
    const DrawsReader half(folder / type / "samples/chain-01.npy");
    EXPECT_EQ(name_of(half.type()), type);
    ASSERT_EQ(half.rows(), draws.rows());
    EXPECT_NEAR(double(fs::file_size(folder / type / "samples/chain-01.npy") - 128) * 2,
                double(fs::file_size(folder / "float32/samples/chain-01.npy") - 128), 0.5);
    for (std::size_t i = 0; i < draws.rows(); ++i) {
      draws.read(i, x);
      half.read(i, y);
      for (std::size_t k = 0; k < x.size(); ++k)
        ASSERT_NEAR(x[k], y[k], accuracy * std::abs(x[k]) + 1e-7) << type << " " << i << " " << k;
    }
    for (std::size_t k = 0; k < whole["metrics"].size(); ++k) {
      const auto &a = whole["metrics"][k], &b = rounded["metrics"][k];
      if (a["name"] == "LPPD" || a["name"] == "RMSE") {
        EXPECT_NEAR(a["sampling"].get<double>(), b["sampling"].get<double>(), 0.02) << type << a["name"];
      }
    }
    const Outcome predicted = smile({"predict", folder / type, "--data", airfoil()});
    EXPECT_EQ(predicted.status, 0) << predicted.error;
  }
}

}  // namespace
}  // namespace smile::test

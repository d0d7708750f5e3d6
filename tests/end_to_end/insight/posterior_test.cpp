// SPDX-License-Identifier: Apache-2.0
/// Whether the draws are those of the posterior: the temperature of layers and directions without data, on a
/// linear model whose σ version 0.1's default overheats, and on the same with today's.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "end_to_end/pipeline/program.hpp"
#include "smile/random/stream.hpp"

namespace smile::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string linear_table() {
  Stream stream({.seed = 12, .purpose = Purpose::split});
  std::ostringstream table;
  table << "a,b,c,d,same,y\n";
  for (int i = 0; i < 300; ++i) {
    double y = stream.normal();
    for (const double weight : {1.0, -0.5, 0.3, 0.0}) {
      const double x = stream.normal();
      table << x << ',';
      y += weight * x;
    }
    table << "1," << y << '\n';
  }
  return table.str();
}

std::string configuration(const std::string& table) {
  return "data: {path: '" + table +
         "', task: mean_regr}\nmodel: {hidden_structure: [1]}\n"
         "training:\n  warmstart: {max_epochs: 30, batch_size: 32}\n"
         "  sampler: {n_chains: 6, warmup_steps: 5000, n_samples: 10000, n_thinning: 10}\n";
}

double of_layer(const json& diagnostics, const std::string& name, const char* key) {
  for (const json& layer : diagnostics.at("temperature"))
    if (layer.at("layer") == name) return layer.at(key);
  return NAN;
}

bool is_told(const Outcome& outcome, const std::string& words) {
  return (outcome.out + outcome.error).find(words) != std::string::npos;
}

TEST(PosteriorChecks, ToldApart) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", configuration(folder.write("table.csv", linear_table())));
  const fs::path now = folder / "now", before = folder / "before";
  const Outcome right = smile({"run", config, "--out", now});
  ASSERT_EQ(right.status, 0) << right.error;
  const json good = json::parse(content_of(now / "eval/diagnostics.json"));
  // Six chains of some 500 effective draws: a standard error of 0.1, and the sampler's own few per cent.
  EXPECT_NEAR(of_layer(good, "log_sigma", "value"), 1, 0.35);
  EXPECT_NEAR(of_layer(good, "layer0", "value"), 1, 0.1);
  EXPECT_EQ(good["prior_only"]["parameters"], 1);
  EXPECT_GT(good["prior_only"]["spread"].get<double>(), 0.5);
  EXPECT_LT(good["prior_only"]["spread"].get<double>(), 2);
  EXPECT_FALSE(is_told(right, "wider than the posterior")) << right.error;
  EXPECT_FALSE(is_told(right, "have no data")) << right.error;

  const Outcome wrong = smile({"run", config, "--out", before, "--set", "compat=0.1"});
  ASSERT_EQ(wrong.status, 0) << wrong.error;
  const json bad = json::parse(content_of(before / "eval/diagnostics.json"));
  EXPECT_GT(of_layer(bad, "log_sigma", "value"), 3);
  EXPECT_TRUE(is_told(wrong, "wider than the posterior")) << wrong.error;
  EXPECT_TRUE(is_told(wrong, "decoherence_length: auto")) << wrong.error;
  EXPECT_NE(smile({"diagnose", before}).out.find("temperature log_sigma"), std::string::npos);
  EXPECT_NE(content_of(before / "report.html").find("wider than the posterior"), std::string::npos);
  EXPECT_NE(content_of(now / "report.html").find("Temperature of layers"), std::string::npos);
  // By tenths, whose mean is the whole.
  double sum = 0;
  for (const json& layer : good.at("temperature"))
    if (layer.at("layer") == "log_sigma")
      for (const double value : layer.at("windows")) sum += value / 10;
  EXPECT_NEAR(sum, of_layer(good, "log_sigma", "value"), 1e-6);
}

/// Validation LPPD by tenths of the sampling phase, beside the members: chains that lose what the members
/// knew are told of, with the draw from which they do; chains that do not are not.
TEST(PosteriorChecks, ChainsThatWalkAwayAreTold) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config(airfoil(), "psmile-auto"));
  // A prior that allows next to nothing: the posterior predicts worse than the trained networks.
  const std::vector<std::string> tight{"--set", "training.sampler.prior_config.name=Normal", "--set",
                                       "training.sampler.prior_config.parameters.scale=0.02"};
  std::vector<std::string> command{"run", config, "--out", folder / "away"};
  command.insert(command.end(), tight.begin(), tight.end());
  const Outcome away = smile(command), stays = smile({"run", config, "--out", folder / "stays"});
  ASSERT_EQ(away.status, 0) << away.error;
  ASSERT_EQ(stays.status, 0) << stays.error;
  const json lost = json::parse(content_of(folder / "away/eval/diagnostics.json"))["walk"];
  const json kept = json::parse(content_of(folder / "stays/eval/diagnostics.json"))["walk"];
  ASSERT_EQ(lost["windows"].size(), 10u);
  EXPECT_EQ(lost["members_validation_lppd"], kept["members_validation_lppd"]);
  EXPECT_LT(lost["windows"][9]["gain"].get<double>(), -0.05);
  EXPECT_NEAR(
      lost["windows"][9]["gain"].get<double>(),
      lost["windows"][9]["validation_lppd"].get<double>() - lost["members_validation_lppd"].get<double>(),
      1e-9);
  EXPECT_GT(kept["windows"][9]["gain"].get<double>(), 0);
  EXPECT_TRUE(is_told(away, "worse than the members they started from (LPPD")) << away.error;
  EXPECT_FALSE(is_told(stays, "worse than the members they started from (LPPD")) << stays.error;
  EXPECT_NE(content_of(folder / "away/report.html").find("Validation LPPD along the way"), std::string::npos);
}

/// Directions that no data speaks of hardly move without noise of their own.
TEST(PosteriorChecks, FrozenDirectionsAreTold) {
  TemporaryFolder folder;
  std::istringstream rows(content_of(airfoil()));
  std::string table;
  for (std::string line; std::getline(rows, line);) {
    const std::size_t last = line.find_last_of(" \t");
    table += line.substr(0, last) + " 1" + line.substr(last) + "\n";
  }
  const auto config = folder.write("config.yaml", small_config(folder.write("data", table), "psmile-auto"));
  const std::vector<std::string> longer{"--set", "training.sampler.warmup_steps=6000",
                                        "--set", "training.sampler.n_samples=6000",
                                        "--set", "training.sampler.n_thinning=20"};
  const auto spread = [&](const char* name, std::vector<std::string> more, bool told) {
    std::vector<std::string> command{"run", config, "--out", folder / name};
    command.insert(command.end(), longer.begin(), longer.end());
    command.insert(command.end(), more.begin(), more.end());
    const Outcome outcome = smile(command);
    EXPECT_EQ(outcome.status, 0) << outcome.error;
    EXPECT_EQ(is_told(outcome, "parameters that have no data (16)"), told) << outcome.error;
    return json::parse(content_of(folder / name / "eval/diagnostics.json"))["prior_only"]["spread"]
        .get<double>();
  };
  const double now = spread("now", {}, false);
  EXPECT_GT(now, 0.5);
  EXPECT_LT(now, 1.5);
  EXPECT_LT(spread("before", {"--set", "compat=0.1"}, true), 0.2);
}

/// A network with more parameters than rows is remarked on where its prior is N(0, 1); so are many batches.
TEST(PosteriorChecks, CheckRemarksOnWhatIsKnownBeforehand) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  EXPECT_FALSE(is_told(smile({"check", config}), "under the prior N(0, 1)"));
  const std::string wide = "model.hidden_structure=[64, 64, 1]";
  const Outcome told = smile({"check", config, "--set", wide});
  EXPECT_TRUE(is_told(told, "under the prior N(0, 1)")) << told.out << told.error;
  EXPECT_FALSE(is_told(
      smile({"check", config, "--set", wide, "--set", "training.sampler.prior_config.name=WarmStart"}),
      "under the prior N(0, 1)"));
  EXPECT_TRUE(
      is_told(smile({"check", config, "--set", "training.sampler.batch_size=8"}), "batches an epoch"));
}

}  // namespace
}  // namespace smile::test

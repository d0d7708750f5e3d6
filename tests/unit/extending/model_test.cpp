// SPDX-License-Identifier: Apache-2.0
// A model and a prior of one row each: known by name everywhere, and run.
#include <gtest/gtest.h>

#include <algorithm>

#include "smile/config/catalogue.hpp"
#include "smile/config/config.hpp"
#include "smile/error.hpp"
#include "smile/experiment/network_engine.hpp"
#include "smile/experiment/pipeline.hpp"
#include "smile/network/fcn_network.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

/// One dense layer.
std::shared_ptr<const Network> make_linear(const Config& config, const NetworkData& data) {
  const Dataset& table = *data.table;
  FcnSpec spec;
  spec.inputs = table.info.inputs();
  spec.widths = {1};
  spec.bias = config.model.use_bias;
  const auto part = [&](const DataPart& rows) {
    return std::make_shared<const FcnData<float>>(rows.rows, spec.inputs, rows.features, rows.targets);
  };
  return std::make_shared<FcnNetwork>(spec, part(table.train), part(table.valid), part(table.test));
}

/// Before the first configuration is read.
const bool added = [] {
  add_model({.name = "Linear",
             .doc = "a dense layer",
             .kinds = {DataKind::tabular},
             .keys = {"use_bias"},
             .torch = false,
             .make = make_linear});
  add_prior({.name = "Wide",
             .doc = "N(0, width²)",
             .parameters = {{"width", "standard deviation", 3, 0, true}},
             .section = [](const PriorValues& p, const ParameterGroup&) {
               return PriorSection{.scale = p.at("width")};
             }});
  return true;
}();

Config configuration(const std::string& keys) {
  return parse_config("data: {path: " SMILE_SOURCE_DIR
                      "/data/uci/yacht.data, task: mean_regr}\n"
                      "model: {model: Linear" +
                          keys +
                          "}\n"
                          "training:\n  warmstart: {max_epochs: 5}\n"
                          "  sampler: {name: psmile-naive, step_size: 1.0e-4, batch_size: 50, n_chains: 2, "
                          "warmup_steps: 20, n_samples: 40, prior_config: {name: Wide}}\n",
                      "linear.yaml");
}

TEST(ExtendingModels, AModelAndAPriorOfARowRunAnExperiment) {
  ASSERT_TRUE(added);
  const Config config = configuration("");
  EXPECT_TRUE(config.warnings.empty()) << config.warnings.front();
  EXPECT_NE(to_yaml(config).find("width: 3"), std::string::npos);
  test::TemporaryFolder folder;
  RunOptions options;
  options.out = (folder / "run").string();
  const RunSummary summary = run_experiment(config, options);
  EXPECT_EQ(summary.exit_status(), 0) << summary.reason;
  EXPECT_EQ(summary.draws, 8u);
}

TEST(ExtendingModels, TheirKeysGoWithThem) {
  EXPECT_EQ(configuration(", layers: [2]").warnings.size(), 1u);
  EXPECT_THROW(
      parse_config("data: {path: a, data_type: image, task: class, flatten: true}\nmodel: {model: Linear}",
                   "a"),
      Error);
  const auto listed = [](const std::vector<CatalogueEntry>& list, const std::string& name) {
    return std::any_of(list.begin(), list.end(),
                       [&](const auto& entry) { return entry.name == name && entry.available; });
  };
  EXPECT_TRUE(listed(list_models(), "Linear"));
  EXPECT_TRUE(listed(list_priors(), "Wide"));
  for (const KeyEntry& key : list_keys()) {
    if (key.path == "model.use_bias") {
      EXPECT_EQ(key.used_with, "FCN, LeNet, Linear");
    }
    if (key.path == "training.sampler.prior_config.parameters.width") {
      EXPECT_EQ(key.used_with, "Wide");
    }
  }
}

}  // namespace
}  // namespace smile

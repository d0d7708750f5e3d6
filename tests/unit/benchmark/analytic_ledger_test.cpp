// SPDX-License-Identifier: Apache-2.0
// The ledger gives back what was put in, and nothing else.
#include "benchmark/analytic_ledger.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "smile/benchmark/analytic.hpp"
#include "support/temporary_folder.hpp"

namespace smile::analytic {
namespace {

ChainOutcome outcome(double bias) {
  ChainOutcome o;
  o.bias = bias;
  o.authors = bias / 3;
  o.effective = 1e3 * bias;
  o.failed = std::isinf(bias);
  o.refused = 7;
  o.steps = 123456789012;
  return o;
}

class AnalyticLedger : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "new" / "unfinished.jsonl"; }
  std::string content() const {
    std::ostringstream text;
    text << std::ifstream(file()).rdbuf();
    return text.str();
  }
  test::TemporaryFolder folder_;
};

TEST_F(AnalyticLedger, gives_back_what_was_put_in) {
  {
    Ledger ledger(file(), "{\"a\": 1}");
    ledger.add(3, {outcome(0.1), outcome(INFINITY)});
    ledger.add(1, {outcome(1.0 / 3)});
  }
  const Ledger ledger(file(), "{\"a\": 1}");
  EXPECT_EQ(ledger.find(0), nullptr);
  ASSERT_NE(ledger.find(3), nullptr);
  const auto& three = *ledger.find(3);
  ASSERT_EQ(three.size(), 2u);
  EXPECT_EQ(three[0].bias, 0.1);
  EXPECT_EQ(three[0].authors, 0.1 / 3);
  EXPECT_EQ(three[0].steps, 123456789012u);
  EXPECT_EQ(three[0].refused, 7u);
  EXPECT_FALSE(three[0].failed);
  EXPECT_TRUE(std::isinf(three[1].bias));
  EXPECT_TRUE(three[1].failed);
  EXPECT_EQ(ledger.find(1)->at(0).bias, 1.0 / 3);
}

TEST_F(AnalyticLedger, belongs_to_one_benchmark) {
  { Ledger(file(), "{\"a\": 1}").add(3, {outcome(0.1)}); }
  EXPECT_EQ(Ledger(file(), "{\"a\": 2}").find(3), nullptr);
  EXPECT_EQ(content(), "{\"a\": 2}\n");
}

/// Cut anywhere, it keeps the whole lines and goes on behind them.
TEST_F(AnalyticLedger, a_cut_file_keeps_its_whole_lines) {
  {
    Ledger ledger(file(), "{\"a\": 1}");
    ledger.add(3, {outcome(0.1)});
    ledger.add(4, {outcome(0.2)});
  }
  const std::string whole = content();
  const auto third = whole.find('\n', whole.find('\n') + 1) + 1;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    std::ofstream(file(), std::ios::trunc) << whole.substr(0, length);
    Ledger ledger(file(), "{\"a\": 1}");
    EXPECT_EQ(ledger.find(3) != nullptr, length >= third) << length;
    EXPECT_EQ(ledger.find(4), nullptr) << length;
    if (!ledger.find(3)) ledger.add(3, {outcome(0.1)});
    ledger.add(4, {outcome(0.2)});
    EXPECT_EQ(content(), whole) << length;
  }
}

TEST_F(AnalyticLedger, does_not_keep_records) {
  ChainOutcome recorded = outcome(1);
  recorded.recorded = {1.f, 2.f};
  { Ledger(file(), "{}").add(0, {recorded}); }
  EXPECT_EQ(Ledger(file(), "{}").find(0), nullptr);
}

/// What the ledger compares: every key that changes results changes the text.
TEST(AnalyticConfigJson, tells_configurations_apart) {
  AnalyticConfig config;
  config.targets = {AnalyticalKind::icg};
  config.noises = {NoiseStructure::isotropic};
  config.methods.emplace_back();
  config.methods[0].name = config.methods[0].label = "psmile-naive";
  config.methods[0].step_sizes = {0.1};
  config.methods[0].decoherence_lengths = {INFINITY};
  const auto changed = [&](auto change) {
    AnalyticConfig other = config;
    change(other);
    return analytic_config_json(other) != analytic_config_json(config);
  };
  EXPECT_FALSE(changed([](AnalyticConfig& c) { c.saving_dir = "elsewhere"; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { ++c.seed; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { ++c.steps; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { ++c.chains; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { c.exact_start = false; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { c.equal_gradients = true; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { c.targets = {AnalyticalKind::funnel}; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { c.noises = {NoiseStructure::diagonal}; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { c.distributions = {BaseNoise::laplace}; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { c.noise_scale = 8; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { c.noise_rotation = NoiseRotation::independent; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { c.condition_number = 10; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { c.student_t_df = 6; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { c.lognormal_sigma = {0.1, 0.2}; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { c.lognormal_unit_variance = false; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { c.record_modes = true; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { c.methods[0].step_sizes = {0.2}; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { c.methods[0].decoherence_lengths = {3}; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { c.methods[0].integrator = Integrator::three_stage; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { c.methods[0].energy = EnergyMode::fresh; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { c.methods[0].preconditioner.rate = 0.02; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { c.methods[0].preconditioner.centre = Centre::none; }));
  EXPECT_TRUE(changed(
      [](AnalyticConfig& c) { c.methods[0].preconditioner.normalisation = Normalisation::inverse_rms; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { c.methods[0].friction = 0.1; }));
  EXPECT_TRUE(changed([](AnalyticConfig& c) { c.methods[0].cycle_steps = 10; }));
}

}  // namespace
}  // namespace smile::analytic

// SPDX-License-Identifier: Apache-2.0
// Replays tuner: step size, moments and decisions of the energy-error tuner for lists of energy errors.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "smile/adaptation/energy_tuner.hpp"
#include "smile/adaptation/step_size.hpp"
#include "smile/random/stream.hpp"
#include "support/vectors.hpp"

namespace smile {
namespace {

using test::Json;

EnergyTunerOptions options_of(const Json& input) {
  const auto chosen = [&](const char* key, const char* standard, const char* other) {
    const std::string value = input.value(key, std::string(standard));
    if (value != standard && value != other) throw std::runtime_error(std::string(key) + ": " + value);
    return value == other;
  };
  EnergyTunerOptions options;
  options.reset_prob = input.value("reset_prob", options.reset_prob);
  options.adaption_prob = input.value("adaption_prob", options.adaption_prob);
  options.adaption_strength = input.value("adaption_strength", options.adaption_strength);
  options.smoothing_factor = input.value("smoothing_factor", options.smoothing_factor);
  options.outlier_clip = input.value("outlier_clip", options.outlier_clip);
  if (chosen("quantile", "exact", "wilson-hilferty")) options.quantile = QuantileRule::wilson_hilferty;
  if (chosen("variance_floor", "relative", "absolute")) options.variance_floor = VarianceFloor::absolute;
  if (chosen("adaption_balance", "paper", "symmetric")) options.balance = AdaptionBalance::symmetric;
  return options;
}

/// One column of the expected lists: null where the quantity does not apply.
void expect_entry(const Json& expected, const char* name, std::size_t i, bool applies, double actual,
                  test::Tolerance tolerance) {
  if (!expected.contains(name)) return;
  const Json& entry = expected[name].at(i);
  ASSERT_EQ(entry.is_null(), !applies) << name;
  if (applies) {
    EXPECT_EQ(test::mismatch(actual, test::number(entry), tolerance), "") << name;
  }
}

TEST(TunerReplay, every_case) {
  const Json file = test::load_vectors("tuner");
  ASSERT_EQ(test::unknown_keys(file, {"topic", "spec", "description", "tolerance", "cases"}), "");
  ASSERT_FALSE(file.at("cases").empty());
  for (const Json& c : file["cases"]) {
    SCOPED_TRACE("case \"" + c.at("name").get<std::string>() + "\"");
    ASSERT_EQ(test::unknown_keys(c, {"name", "input", "expected", "tolerance", "note", "compat", "reading",
                                     "decision_margin"}),
              "");
    const Json &input = c.at("input"), &expected = c.at("expected");
    ASSERT_EQ(test::unknown_keys(input, {"dE", "eps", "reset_prob", "adaption_prob", "adaption_strength",
                                         "smoothing_factor", "quantile", "variance_floor", "outlier_clip",
                                         "adaption_balance", "adapt_during", "warmup_steps"}),
              "");
    ASSERT_EQ(test::unknown_keys(expected, {"diverged", "eps", "mu", "sigma", "k", "scale", "cdf", "q_reset",
                                            "q_up", "q_low", "refused_steps", "clipped_steps"}),
              "");
    const auto dE = test::numbers(input.at("dE"));
    const std::string during = input.value("adapt_during", std::string("always"));
    ASSERT_TRUE(during == "always" || during == "warmup") << during;
    const std::uint64_t warmup = during == "warmup" ? input.at("warmup_steps").get<std::uint64_t>() : 0;
    const Json& tol = (c.contains("tolerance") ? c["tolerance"] : file.at("tolerance")).at("float64");
    const test::Tolerance standard = test::tolerance(tol);
    const auto of = [&](const char* what) { return test::tolerance(tol.contains(what) ? tol[what] : tol); };

    EnergyTuner tuner(options_of(input));
    EnergyStepSize step_size(input.at("eps"), during == "always", {warmup, dE.size() - warmup});
    const double a = tuner.options().adaption_prob;
    const bool symmetric = tuner.options().balance == AdaptionBalance::symmetric;
    std::vector<double> refused, clipped;
    for (std::size_t i = 0; i < dE.size(); ++i) {
      SCOPED_TRACE("step " + std::to_string(i + 1));
      const std::uint64_t t = i + 1;
      const auto verdict = tuner.observe(dE[i]);
      step_size.observe(t, {std::isfinite(dE[i]), 0, 2, verdict});
      if (t == warmup) step_size.freeze();
      if (verdict.diverged) refused.push_back(double(t));
      if (verdict.clipped) clipped.push_back(double(t));

      // The accuracy asked of the exact quantile enters with the first clipped step.
      const test::Tolerance after{clipped.empty() ? standard.rel : std::fmax(standard.rel, 1e-9),
                                  standard.abs};
      EXPECT_EQ(verdict.diverged, expected.at("diverged").at(i).get<bool>());
      expect_entry(expected, "eps", i, true, step_size.size(t + 1).step_size, standard);
      expect_entry(expected, "mu", i, true, tuner.mean(), after);
      expect_entry(expected, "sigma", i, true, tuner.deviation(), after);
      expect_entry(expected, "k", i, verdict.compared, verdict.shape, after);
      expect_entry(expected, "scale", i, verdict.compared, verdict.scale, after);
      expect_entry(expected, "cdf", i, verdict.compared, verdict.probability, of("cdf"));
      const GammaDistribution fit{verdict.shape, verdict.scale};
      const auto quantile = [&](double p) {
        return tuner.options().quantile == QuantileRule::exact ? gamma_quantile(fit, p)
                                                               : gamma_quantile_wilson_hilferty(fit, p);
      };
      expect_entry(expected, "q_reset", i, verdict.compared, quantile(tuner.options().reset_prob),
                   of("quantiles"));
      expect_entry(expected, "q_up", i, verdict.compared, quantile(1 - (symmetric ? a / 2 : 2 * a / 3)),
                   of("quantiles"));
      expect_entry(expected, "q_low", i, verdict.compared, quantile(symmetric ? a / 2 : a / 3),
                   of("quantiles"));
      if (testing::Test::HasFailure()) return;
    }
    EXPECT_EQ(refused, test::numbers(expected.at("refused_steps")));
    if (expected.contains("clipped_steps")) {
      EXPECT_EQ(clipped, test::numbers(expected["clipped_steps"]));
    }
  }
}

/// A strength of 0 is allowed: comparisons then move nothing, and a step that is not finite halves all the
/// same.
TEST(EnergyTuner, of_strength_0_halves_after_steps_that_are_not_finite_only) {
  EnergyTunerOptions options;
  options.adaption_strength = 0;
  EnergyTuner tuner(options);
  EnergyStepSize step_size(0.3, true, {0, 1000});
  Stream stream({5, 0, Purpose::noise});
  std::uint64_t t = 1;
  for (; t <= 500; ++t) {
    step_size.observe(t, {true, 0, 2, tuner.observe(stream.normal())});
    ASSERT_EQ(step_size.size(t + 1).step_size, 0.3);
  }
  step_size.observe(t, {false, 0, 2, tuner.observe(std::numeric_limits<double>::quiet_NaN())});
  EXPECT_EQ(step_size.size(t + 1).step_size, 0.15);
}

}  // namespace
}  // namespace smile

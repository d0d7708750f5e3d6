// SPDX-License-Identifier: Apache-2.0
// Laws that every prior obeys, and the errors of the factory.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "smile/error.hpp"
#include "smile/targets/priors.hpp"

namespace smile {
namespace {

using Parameters = PriorValues;

ParameterLayout small_layout() {
  ParameterLayout layout;
  layout.add("layer0.weight", {3, 4}, ParameterKind::weight, 4, 3);
  layout.add("layer0.bias", {3}, ParameterKind::other);
  layout.add("layer1.weight", {1, 3}, ParameterKind::weight, 3, 1);
  layout.add("log_sigma", {1}, ParameterKind::other);
  return layout;
}

/// Every prior by name with parameters that are nowhere neutral, the steep and the flat ones included.
std::vector<std::pair<std::string, Parameters>> every_prior() {
  return {{"StandardNormal", {}},
          {"Normal", {{"loc", 0.7}, {"scale", 1.9}}},
          {"Laplace", {{"loc", -0.4}, {"scale", 0.6}}},
          {"ShiftedNormal", {{"loc", 0.3}, {"scale", 0.8}, {"loc_bias", -1.2}}},
          {"Glorot", {{"factor", 1.7}}},
          {"He", {}},
          {"GloLap", {}},
          {"GloUnif", {}},
          {"TruncNormal", {{"loc", 0.2}, {"scale", 0.9}, {"limit", 0.4}}},
          {"TruncNormal", {{"loc", 0.2}, {"scale", 0.01}, {"limit", 1.5}}},
          {"TruncNormal", {{"loc", 0.2}, {"scale", 1.1}, {"limit", 0}}},
          {"BiMixtureNormal", {{"loc", 1.1}, {"scale", 0.5}}},
          {"BiMixtureNormal", {{"loc", -1.1}, {"scale", 0.5}}},
          {"WarmStart", {{"factor", 1.5}}},
          {"EpsStandardNormal", {}}};
}

TEST(Priors, the_list_of_this_test_has_every_name) {
  for (const PriorRow& row : prior_rows()) {
    bool found = false;
    for (const auto& [other, parameters] : every_prior()) found = found || other == row.name;
    EXPECT_TRUE(found) << row.name;
  }
}

TEST(Priors, each_integrates_to_one) {
  // One element of each kind at a time: the density is a product. Trapezium rule; at a jump it is off by half
  // a cell's mass (at most 1e−4 here), at the steepest kink by 1e−5.
  for (const auto& [name, parameters] : every_prior())
    for (const ParameterKind kind : {ParameterKind::weight, ParameterKind::other}) {
      ParameterLayout layout;
      layout.add("x", {1}, kind, 4, 3);
      const auto prior = make_prior(name, parameters, layout, 11);
      constexpr double kFrom = -20, kTo = 20;
      constexpr int kCells = 400000;
      double mass = 0;
      for (int i = 0; i <= kCells; ++i) {
        const double x = kFrom + (kTo - kFrom) * i / kCells;
        mass += std::exp(prior->log_density(std::span<const double>(&x, 1)));
      }
      EXPECT_NEAR(mass * (kTo - kFrom) / kCells, 1, name == "GloUnif" ? 1e-4 : 2e-5) << name;
    }
}

TEST(Priors, gradients_are_the_derivatives) {
  const ParameterLayout layout = small_layout();
  for (const auto& [name, parameters] : every_prior()) {
    const auto prior = make_prior(name, parameters, layout, 3);
    std::vector<double> x(layout.size()), gradient(layout.size(), 0.25);
    prior->sample({.seed = 1, .purpose = Purpose::initialisation}, 0, x);
    const std::vector<double> before = gradient;
    const double value = prior->log_density_and_gradient(x, 3, gradient);
    EXPECT_DOUBLE_EQ(value, prior->log_density(std::span<const double>(x))) << name;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double h = 1e-6, kept = x[i];
      x[i] = kept + h;
      const double up = prior->log_density(std::span<const double>(x));
      x[i] = kept - h;
      const double down = prior->log_density(std::span<const double>(x));
      x[i] = kept;
      const double slope = (up - down) / (2 * h);
      EXPECT_NEAR(gradient[i] - 3 * before[i], slope, 1e-5 * (1 + std::fabs(slope)))
          << name << " entry " << i;
    }
  }
}

TEST(Priors, long_vectors_sum_like_short_ones) {
  // All lengths around the blocks of the vectorised loop.
  for (std::size_t n = 1; n <= 40; ++n) {
    ParameterLayout layout;
    layout.add("w", {n}, ParameterKind::other);
    const auto prior = make_prior("Laplace", {{"loc", 0.1}, {"scale", 0.3}}, layout);
    std::vector<float> x(n), gradient(n, 2.0f);
    prior->sample({.seed = n, .purpose = Purpose::initialisation}, 0, x);
    double sum = 0;
    for (float v : x) sum += -std::fabs(double(v) - 0.1) / 0.3 - std::log(0.6);
    EXPECT_NEAR(prior->log_density_and_gradient(x, 0.5, gradient), sum, 1e-12 * (1 + std::fabs(sum)));
    for (std::size_t i = 0; i < n; ++i)
      EXPECT_FLOAT_EQ(gradient[i], 1.0f + (x[i] > 0.1f ? -1.0f : 1.0f) / 0.3f) << i;
  }
}

TEST(Priors, a_position_that_is_no_number_is_seen) {
  const ParameterLayout layout = small_layout();
  for (const auto& [name, parameters] : every_prior()) {
    const auto prior = make_prior(name, parameters, layout);
    for (std::size_t i = 0; i < layout.size(); ++i) {
      std::vector<double> x(layout.size(), 0.01);
      x[i] = std::numeric_limits<double>::quiet_NaN();
      EXPECT_TRUE(std::isnan(prior->log_density(std::span<const double>(x)))) << name << " entry " << i;
      x[i] = std::numeric_limits<double>::infinity();
      EXPECT_EQ(prior->log_density(std::span<const double>(x)), -x[i]) << name << " entry " << i;
    }
  }
}

TEST(Priors, a_uniform_draw_stays_inside_in_single_precision) {
  ParameterLayout layout;
  layout.add("w", {20000}, ParameterKind::weight, 7, 11);
  const auto prior = make_prior("GloUnif", {}, layout);
  std::vector<float> x(layout.size());
  prior->sample({.seed = 3, .purpose = Purpose::initialisation}, 0, x);
  EXPECT_TRUE(std::isfinite(prior->log_density(std::span<const float>(x))));
}

TEST(Priors, draws_depend_on_key_and_step_alone) {
  const auto prior = make_prior("StandardNormal", {}, small_layout());
  std::vector<double> a(prior->dimension()), b(a), c(a);
  prior->sample({.seed = 3, .chain = 1, .purpose = Purpose::initialisation}, 0, a);
  prior->sample({.seed = 3, .chain = 1, .purpose = Purpose::initialisation}, 0, b);
  prior->sample({.seed = 3, .chain = 2, .purpose = Purpose::initialisation}, 0, c);
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
}

TEST(Priors, fixed_draws_follow_the_seed) {
  const std::vector<double> x(small_layout().size(), 0.3);
  const auto value = [&](std::uint64_t seed) {
    return make_prior("EpsStandardNormal", {}, small_layout(), seed)->log_density(std::span<const double>(x));
  };
  EXPECT_EQ(value(1), value(1));
  EXPECT_NE(value(1), value(2));
}

TEST(Priors, standard_normal_is_one_section) {
  EXPECT_EQ(make_prior("StandardNormal", {}, small_layout())->sections().size(), 1U);
  EXPECT_EQ(make_prior("Glorot", {{"factor", 2}}, small_layout())->sections().size(), 4U);
}

std::string error_of(const std::string& name, const Parameters& parameters,
                     const ParameterLayout& layout = small_layout()) {
  try {
    make_prior(name, parameters, layout);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// One standard deviation a layer, weights and biases together, over all members; log σ keeps N(0, 1), and so
/// does a layer of zeros.
TEST(Priors, warm_start_scales_a_layer_by_what_was_trained) {
  ParameterLayout layout;
  layout.add("layer0.weight", {1, 2}, ParameterKind::weight, 2, 1);
  layout.add("layer0.bias", {1}, ParameterKind::other);
  layout.add("layer1.weight", {1, 1}, ParameterKind::weight, 1, 1);
  layout.add("dead.weight", {1, 1}, ParameterKind::weight, 1, 1);
  layout.add("log_sigma", {1}, ParameterKind::other);
  std::vector<HostVector<float>> members(2, HostVector<float>(6));
  const float values[2][6] = {{3, -1, 2, 0.5f, 0, -3}, {1, 2, -1, -0.5f, 0, -2}};
  for (std::size_t m = 0; m < 2; ++m)
    for (std::size_t i = 0; i < 6; ++i) members[m][i] = values[m][i];
  const LayerScales scales = layer_scales(layout, members);
  ASSERT_EQ(scales.size(), 2u);
  EXPECT_DOUBLE_EQ(scales.at("layer0"), std::sqrt(20.0 / 6));
  EXPECT_DOUBLE_EQ(scales.at("layer1"), 0.5);
  const auto prior = make_prior("WarmStart", {{"factor", 4}}, layout, 0, scales);
  ASSERT_EQ(prior->sections().size(), 3u);  // the layer of zeros and log sigma are one
  EXPECT_DOUBLE_EQ(prior->sections()[0].scale, 4 * std::sqrt(20.0 / 6));
  EXPECT_EQ(prior->sections()[0].size, 3u);
  EXPECT_DOUBLE_EQ(prior->sections()[1].scale, 2);
  EXPECT_EQ(prior->sections()[2].size, 2u);
  EXPECT_DOUBLE_EQ(prior->sections()[2].scale, 1);
}

TEST(Priors, errors_name_place_cause_and_mend) {
  EXPECT_EQ(
      error_of("Gauss", {}),
      "sampler.prior_config.name: there is no prior 'Gauss'; choose one of StandardNormal, Normal, Laplace, "
      "ShiftedNormal, Glorot, He, GloLap, GloUnif, TruncNormal, BiMixtureNormal, WarmStart, "
      "EpsStandardNormal");
  EXPECT_EQ(error_of("Normal", {{"loc", 0}}),
            "sampler.prior_config.parameters: 'scale' is missing; Normal has exactly loc, scale");
  EXPECT_EQ(error_of("He", {{"factor", 1}}),
            "sampler.prior_config.parameters: 'factor' is not a parameter of He; He has no parameters; "
            "remove them");
  EXPECT_NE(error_of("Normal", {{"loc", 0}, {"scale", 0}}).find("parameters.scale: 0.000000 is not positive"),
            std::string::npos);
  EXPECT_NE(error_of("TruncNormal", {{"loc", 0}, {"scale", 1}, {"limit", -1}}).find("is negative"),
            std::string::npos);
  EXPECT_NE(error_of("Normal", {{"loc", std::nan("")}, {"scale", 1}}).find("not finite"), std::string::npos);
  ParameterLayout layout;
  layout.add("embedding", {3}, ParameterKind::weight);
  EXPECT_NE(error_of("Glorot", {{"factor", 1}}, layout).find("needs the fans of 'embedding'"),
            std::string::npos);
}

}  // namespace
}  // namespace smile

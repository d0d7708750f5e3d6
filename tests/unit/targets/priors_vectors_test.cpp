// SPDX-License-Identifier: Apache-2.0
// Replay of priors.json: log-density, gradient, and the moments of the sampler.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "smile/targets/priors.hpp"
#include "support/vectors.hpp"

namespace smile {
namespace {

using test::Json;

struct Case {
  std::shared_ptr<const Prior> prior;
  ParameterLayout layout;
  std::vector<double> position;
};

Case read_case(const Json& input) {
  EXPECT_EQ(test::unknown_keys(input, {"prior", "parameters", "groups"}), "");
  Case c;
  std::vector<double> means, log_scales;
  for (const Json& group : input.at("groups")) {
    EXPECT_EQ(test::unknown_keys(
                  group, {"name", "kind", "fan_in", "fan_out", "values", "mean_offset", "log_scale_offset"}),
              "");
    const auto values = test::numbers(group.at("values"));
    const auto fan = [&](const char* key) {
      return group.at(key).is_null() ? 0 : group.at(key).get<std::size_t>();
    };
    const std::string kind = group.at("kind");
    EXPECT_TRUE(kind == "weight" || kind == "other") << kind;
    c.layout.add(group.at("name"), {values.size()},
                 kind == "weight" ? ParameterKind::weight : ParameterKind::other, fan("fan_in"),
                 fan("fan_out"));
    c.position.insert(c.position.end(), values.begin(), values.end());
    if (group.contains("mean_offset")) {
      for (double v : test::numbers(group.at("mean_offset"))) means.push_back(v);
      for (double v : test::numbers(group.at("log_scale_offset"))) log_scales.push_back(v);
    }
  }
  PriorValues parameters;
  for (const auto& [key, value] : input.at("parameters").items()) parameters[key] = test::number(value);
  c.prior = make_prior(input.at("prior").get<std::string>(), parameters, c.layout);
  // The fixed draws of the vector in place of ours.
  if (!means.empty()) c.prior = std::make_shared<Prior>(c.prior->sections(), means, log_scales);
  return c;
}

template <class T>
void compare(const Case& c, const Json& expected, test::Tolerance tolerance) {
  const std::vector<T> position(c.position.begin(), c.position.end());
  EXPECT_EQ(test::mismatch(c.prior->log_density(std::span<const T>(position)),
                           test::number(expected.at("log_density")), tolerance),
            "");
  std::vector<T> gradient(position.size(), T{7});
  EXPECT_EQ(test::mismatch(c.prior->log_density_and_gradient(position, 0, std::span<T>(gradient)),
                           test::number(expected.at("log_density")), tolerance),
            "");
  if (!expected.contains("gradient")) return;
  EXPECT_EQ(test::mismatch(std::vector<double>(gradient.begin(), gradient.end()),
                           test::numbers(expected.at("gradient")), tolerance),
            "");
}

/// Mean and variance of each group's first element over many draws, within five standard errors.
void compare_moments(const Case& c, const Json& moments) {
  constexpr std::size_t kDraws = 20000;
  std::vector<std::vector<double>> draws(c.layout.groups.size());
  std::vector<double> position(c.position.size());
  for (std::size_t k = 0; k < kDraws; ++k) {
    c.prior->sample({.seed = 5, .purpose = Purpose::initialisation}, k, position);
    for (std::size_t g = 0; g < draws.size(); ++g) draws[g].push_back(position[c.layout.groups[g].offset]);
  }
  for (const Json& moment : moments) {
    EXPECT_EQ(test::unknown_keys(moment, {"group", "mean", "variance"}), "");
    const std::string name = moment.at("group");
    std::size_t g = 0;
    while (g < draws.size() && c.layout.groups[g].name != name) ++g;
    ASSERT_LT(g, draws.size()) << name;
    const double mean = test::number(moment.at("mean")), variance = test::number(moment.at("variance"));
    double sum = 0, squares = 0, fourths = 0;
    for (double x : draws[g]) {
      const double z = (x - mean) * (x - mean);
      sum += x - mean, squares += z, fourths += z * z;
    }
    const double n = kDraws, second = squares / n, spread = std::sqrt(fourths / n - second * second);
    EXPECT_LT(std::fabs(sum / n), 5 * std::sqrt(variance / n)) << name;
    EXPECT_LT(std::fabs(second - variance), 5 * spread / std::sqrt(n)) << name;
  }
}

TEST(PriorsVectors, log_densities_gradients_and_moments_agree_with_the_file) {
  const Json file = test::load_vectors("priors");
  EXPECT_EQ(test::unknown_keys(file, {"topic", "spec", "description", "tolerance", "cases"}), "");
  const auto double_tolerance = test::tolerance(file.at("tolerance").at("float64"));
  const auto float_tolerance = test::tolerance(file.at("tolerance").at("float32"));
  ASSERT_FALSE(file.at("cases").empty());
  for (const Json& entry : file.at("cases")) {
    SCOPED_TRACE(entry.at("name").get<std::string>());
    EXPECT_EQ(test::unknown_keys(entry, {"name", "input", "expected", "note", "reading"}), "");
    const Json& expected = entry.at("expected");
    EXPECT_EQ(test::unknown_keys(expected, {"log_density", "gradient", "moments"}), "");
    const Case c = read_case(entry.at("input"));
    compare<double>(c, expected, double_tolerance);
    compare<float>(c, expected, float_tolerance);
    if (expected.contains("moments")) compare_moments(c, expected.at("moments"));
  }
}

}  // namespace
}  // namespace smile

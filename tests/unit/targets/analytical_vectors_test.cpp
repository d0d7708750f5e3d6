// SPDX-License-Identifier: Apache-2.0
// Replays analytical.json: densities, gradients, moments, injected noise and the bias measure.
#include <gtest/gtest.h>

#include <map>

#include "smile/targets/analytical_target.hpp"
#include "support/vectors.hpp"

namespace smile {
namespace {

using test::Json;
using Vector = HostVector<double>;

Vector host(const std::vector<double>& values) {
  Vector vector(values.size());
  std::copy(values.begin(), values.end(), vector.data());
  return vector;
}
std::vector<double> plain(const Vector& vector) {
  return {vector.data(), vector.data() + vector.size()};
}

class AnalyticalVectors : public testing::Test {
 protected:
  void SetUp() override {
    file_ = test::load_vectors("analytical");
    ASSERT_EQ(test::unknown_keys(file_, {"topic", "spec", "description", "tolerance", "Q", "c", "noise",
                                         "base_noise", "b2", "cases"}),
              "");
    for (const auto& row : test::matrix(file_.at("Q")))
      scales_.rotation.insert(scales_.rotation.end(), row.begin(), row.end());
    scales_.scales = test::numbers(file_.at("c"));
    tolerance_ = test::tolerance(file_.at("tolerance").at("float64"));
  }
  test::Tolerance tolerance_of(const Json& test_case) const {
    return test_case.contains("tolerance") ? test::tolerance(test_case["tolerance"].at("float64"))
                                           : tolerance_;
  }
  static void check_keys(const Json& test_case, std::initializer_list<std::string_view> input,
                         std::initializer_list<std::string_view> expected) {
    ASSERT_EQ(test::unknown_keys(test_case, {"name", "input", "expected", "tolerance", "note"}), "");
    ASSERT_EQ(test::unknown_keys(test_case.at("input"), input), "");
    ASSERT_EQ(test::unknown_keys(test_case.at("expected"), expected), "");
  }
  AnalyticalDensity density_named(const std::string& name) const {
    if (name.starts_with("icg")) return AnalyticalDensity(scales_);
    if (name.starts_with("rosenbrock")) return AnalyticalDensity(AnalyticalKind::rosenbrock);
    if (name.starts_with("funnel")) return AnalyticalDensity(AnalyticalKind::funnel);
    if (name.starts_with("gmm")) return AnalyticalDensity(AnalyticalKind::gmm);
    throw std::runtime_error("unknown density " + name);
  }
  Json file_;
  OrthogonalScales scales_;
  test::Tolerance tolerance_;
};

TEST_F(AnalyticalVectors, densities_gradients_and_moments) {
  ASSERT_FALSE(file_.at("cases").empty());
  for (const Json& test_case : file_["cases"]) {
    const std::string name = test_case.at("name");
    SCOPED_TRACE(name);
    check_keys(test_case, {"theta"}, {"log_density", "gradient", "second_moment", "variance_of_square"});
    const auto tol = tolerance_of(test_case);
    const AnalyticalDensity density = density_named(name);
    const auto thetas = test::matrix(test_case["input"].at("theta"));
    const auto gradients = test::matrix(test_case["expected"].at("gradient"));
    std::vector<double> values;
    for (std::size_t i = 0; i < thetas.size(); ++i) {
      Vector gradient(density.dimension());
      values.push_back(evaluate(density, host(thetas[i]), gradient));
      EXPECT_EQ(test::mismatch(plain(gradient), gradients.at(i), tol), "") << "point " << i;
    }
    std::vector<double> expected = test::numbers(test_case["expected"].at("log_density"));
    EXPECT_EQ(test::mismatch(values, expected, tol), "");
    if (test_case["expected"].contains("second_moment")) {
      EXPECT_EQ(
          test::mismatch(density.second_moment(), test::numbers(test_case["expected"]["second_moment"]), tol),
          "");
      EXPECT_EQ(test::mismatch(density.variance_of_square(),
                               test::numbers(test_case["expected"]["variance_of_square"]), tol),
                "");
    }
  }
}

TEST_F(AnalyticalVectors, injected_noise) {
  const std::map<std::string, NoiseStructure> structures{
      {"isotropic", NoiseStructure::isotropic},
      {"diagonal", NoiseStructure::diagonal},
      {"correlated", NoiseStructure::correlated},
      {"spatially-varied", NoiseStructure::spatially_varied}};
  ASSERT_FALSE(file_.at("noise").empty());
  for (const Json& test_case : file_["noise"]) {
    SCOPED_TRACE(test_case.at("name").get<std::string>());
    check_keys(test_case, {"kind", "base_noise", "theta", "w"},
               {"xi", "added_log_density", "added_gradient"});
    const auto tol = tolerance_of(test_case);
    const Json& input = test_case["input"];
    InjectedNoise noise;
    noise.structure = structures.at(input.at("kind"));
    noise.scales = scales_;
    if (!input.at("w").is_null()) noise.width = input["w"];
    const Vector base = host(test::numbers(input.at("base_noise"))),
                 theta = host(test::numbers(input.at("theta")));
    Vector xi(base.size()), gradient(base.size());
    shape_noise(noise, base, xi);
    const double value = add_noise(noise, xi, theta, gradient);
    const Json& expected = test_case["expected"];
    EXPECT_EQ(test::mismatch(plain(xi), test::numbers(expected.at("xi")), tol), "");
    EXPECT_EQ(test::mismatch(value, expected.at("added_log_density"), tol), "");
    EXPECT_EQ(test::mismatch(plain(gradient), test::numbers(expected.at("added_gradient")), tol), "");
  }
}

TEST_F(AnalyticalVectors, base_noise) {
  const std::map<std::string, BaseNoise> kinds{{"gaussian", BaseNoise::gaussian},
                                               {"laplace", BaseNoise::laplace},
                                               {"student-t", BaseNoise::student_t},
                                               {"lognormal", BaseNoise::lognormal}};
  ASSERT_FALSE(file_.at("base_noise").empty());
  for (const Json& test_case : file_["base_noise"]) {
    SCOPED_TRACE(test_case.at("name").get<std::string>());
    check_keys(test_case, {"kind", "parameter", "raw"}, {"noise"});
    const Json& input = test_case["input"];
    const double parameter = input.at("parameter").is_null() ? 0 : input["parameter"].get<double>();
    std::vector<double> noise;
    for (double raw : test::numbers(input.at("raw")))
      noise.push_back(standardise(kinds.at(input.at("kind")), parameter, raw));
    EXPECT_EQ(
        test::mismatch(noise, test::numbers(test_case["expected"].at("noise")), tolerance_of(test_case)), "");
  }
}

TEST_F(AnalyticalVectors, bias_measure) {
  ASSERT_FALSE(file_.at("b2").empty());
  for (const Json& test_case : file_["b2"]) {
    SCOPED_TRACE(test_case.at("name").get<std::string>());
    check_keys(test_case, {"theta", "second_moment", "variance_of_square"}, {"b2"});
    const auto draws = test::matrix(test_case["input"].at("theta"));
    std::vector<double> mean(draws.at(0).size(), 0.0);
    for (const auto& draw : draws)
      for (std::size_t j = 0; j < mean.size(); ++j) mean[j] += draw[j] * draw[j] / double(draws.size());
    EXPECT_EQ(test::mismatch(bias_squared(mean, test::numbers(test_case["input"].at("second_moment")),
                                          test::numbers(test_case["input"].at("variance_of_square"))),
                             test_case["expected"].at("b2"), tolerance_of(test_case)),
              "");
  }
}

}  // namespace
}  // namespace smile

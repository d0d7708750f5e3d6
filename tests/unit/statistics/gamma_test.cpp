// SPDX-License-Identifier: Apache-2.0
#include "smile/statistics/gamma.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "smile/statistics/normal.hpp"
#include "support/vectors.hpp"

namespace smile {
namespace {

using test::Json;
using test::mismatch;
using test::number;
using test::numbers;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

GammaDistribution gamma_of(const Json& input) {
  return {number(input.at("k")), number(input.at("scale"))};
}

double quantile_by_name(const GammaDistribution& gamma, double p, const std::string& name) {
  if (name == "exact") return gamma_quantile(gamma, p);
  if (name == "wilson-hilferty") return gamma_quantile_wilson_hilferty(gamma, p);
  throw std::runtime_error("unknown quantile " + name);
}

VarianceFloor floor_by_name(const std::string& name) {
  if (name == "relative") return VarianceFloor::relative;
  if (name == "absolute") return VarianceFloor::absolute;
  throw std::runtime_error("unknown variance floor " + name);
}

void expect_known(const Json& object, std::initializer_list<std::string_view> keys) {
  EXPECT_EQ(test::unknown_keys(object, keys), "");
}

void expect_known_case(const Json& test_case) {
  expect_known(test_case, {"name", "input", "expected", "note", "compat"});
}

TEST(GammaVectors, quantiles_distribution_and_fits_replay) {
  const Json file = test::load_vectors("gamma_quantile");
  expect_known(file, {"topic", "spec", "description", "tolerance", "distribution", "ends", "fit", "cases"});
  const Json& tolerances = file.at("tolerance").at("float64");
  expect_known(tolerances, {"wilson_hilferty", "exact", "cdf", "fit"});
  const auto exact = test::tolerance(tolerances.at("exact"));
  const auto cdf = test::tolerance(tolerances.at("cdf"));
  const auto fit = test::tolerance(tolerances.at("fit"));

  for (const Json& c : file.at("cases")) {
    SCOPED_TRACE(c.at("name").get<std::string>());
    expect_known_case(c);
    expect_known(c.at("input"), {"k", "scale", "p"});
    expect_known(c.at("expected"), {"wilson_hilferty", "exact"});
    const auto gamma = gamma_of(c.at("input"));
    const auto p = numbers(c.at("input").at("p"));
    ASSERT_EQ(c.at("expected").at("exact").size(), p.size());
    ASSERT_EQ(c.at("expected").at("wilson_hilferty").size(), p.size());
    auto bracket = test::tolerance(tolerances.at("wilson_hilferty"));
    bracket.abs = std::max(bracket.abs, 1e-12 * gamma.scale * gamma.shape);  // as the file's note says
    for (std::size_t i = 0; i < p.size(); ++i) {
      const Json& q = c.at("expected").at("exact").at(i);
      if (q.is_null())
        EXPECT_LT(gamma_quantile(gamma, p[i]), 1e-280);
      else
        EXPECT_EQ(mismatch(gamma_quantile(gamma, p[i]), number(q), exact), "");
      EXPECT_EQ(mismatch(gamma_quantile_wilson_hilferty(gamma, p[i]),
                         number(c.at("expected").at("wilson_hilferty").at(i)), bracket),
                "");
    }
  }
  for (const Json& c : file.at("distribution")) {
    SCOPED_TRACE(c.at("name").get<std::string>());
    expect_known_case(c);
    expect_known(c.at("input"), {"k", "scale", "x"});
    expect_known(c.at("expected"), {"cdf"});
    const auto x = numbers(c.at("input").at("x")), expected = numbers(c.at("expected").at("cdf"));
    ASSERT_EQ(x.size(), expected.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(mismatch(gamma_cdf(gamma_of(c.at("input")), x[i]), expected[i], cdf), "") << "x = " << x[i];
  }
  for (const Json& c : file.at("ends")) {
    SCOPED_TRACE(c.at("name").get<std::string>());
    expect_known_case(c);
    expect_known(c.at("input"), {"k", "scale", "p", "quantile"});
    expect_known(c.at("expected"), {"q"});
    const double q = quantile_by_name(gamma_of(c.at("input")), number(c.at("input").at("p")),
                                      c.at("input").at("quantile").get<std::string>());
    EXPECT_EQ(mismatch(q, number(c.at("expected").at("q")), exact), "");
  }
  for (const Json& c : file.at("fit")) {
    SCOPED_TRACE(c.at("name").get<std::string>());
    expect_known_case(c);
    expect_known(c.at("input"), {"mu", "sigma", "variance_floor"});
    expect_known(c.at("expected"), {"k", "scale"});
    const auto gamma = fit_gamma(number(c.at("input").at("mu")), number(c.at("input").at("sigma")),
                                 floor_by_name(c.at("input").at("variance_floor").get<std::string>()));
    EXPECT_EQ(mismatch(gamma.shape, number(c.at("expected").at("k")), fit), "");
    EXPECT_EQ(mismatch(gamma.scale, number(c.at("expected").at("scale")), fit), "");
  }
}

TEST(Gamma, shape_one_is_the_exponential_distribution) {
  const GammaDistribution gamma{1, 3};
  for (double x : {1e-9, 0.1, 1.0, 7.0, 60.0}) EXPECT_NEAR(gamma_cdf(gamma, x), -std::expm1(-x / 3), 1e-14);
  for (double p : {1e-12, 0.1, 0.5, 0.98, 0.9999})
    EXPECT_NEAR(gamma_quantile(gamma, p) / (-3 * std::log1p(-p)), 1, 1e-12);
}

TEST(Gamma, quantile_and_distribution_invert_each_other_for_all_shapes) {
  for (double k = 1e-3; k < 5e9; k *= 3.7)
    for (double p : {0.001, 1.0 / 30, 0.05, 0.5, 14.0 / 15, 0.98, 0.9999}) {
      const GammaDistribution gamma{k, 0.7};
      const double q = gamma_quantile(gamma, p);
      ASSERT_TRUE(std::isfinite(q) && q >= 0) << k << " " << p;
      if (q > 1e-290) {
        EXPECT_NEAR(gamma_cdf(gamma, q), p, 2e-9 * std::max(1.0, k / 1e7)) << k << " " << p;
      }
    }
}

TEST(Gamma, distribution_is_monotone_and_in_range_from_zero_to_infinity) {
  for (double k : {1e-26, 1e-3, 0.01, 0.1, 1.0, 30.0, 1e4, 1e6, 2.5e9}) {
    double last = 0;
    EXPECT_EQ(gamma_cdf({k, 1}, 0), 0);
    EXPECT_EQ(gamma_cdf({k, 1}, -1), 0);
    EXPECT_EQ(gamma_cdf({k, 1}, kInfinity), 1);
    for (double x = 5e-324; x < 1e308; x *= 10) {
      const double f = gamma_cdf({k, 1}, x);
      ASSERT_TRUE(f >= 0 && f <= 1) << k << " " << x;
      ASSERT_GE(f, last - 1e-14) << k << " " << x;
      last = f;
    }
    EXPECT_EQ(last, 1);
  }
}

TEST(Gamma, wrong_arguments_give_nan_and_never_throw) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(gamma_cdf({2, 1}, nan)));
  EXPECT_TRUE(std::isnan(gamma_cdf({nan, 1}, 1)));
  EXPECT_TRUE(std::isnan(gamma_cdf({-1, 1}, 1)));
  EXPECT_TRUE(std::isnan(gamma_quantile({2, 1}, 1.5)));
  EXPECT_TRUE(std::isnan(gamma_quantile({2, 1}, nan)));
  EXPECT_TRUE(std::isnan(gamma_quantile_wilson_hilferty({2, 1}, -0.1)));
}

TEST(Normal, quantile_inverts_the_distribution_function) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-15);
  EXPECT_EQ(normal_quantile(0.5), 0);
  for (double p : {1e-300, 1e-12, 0.01, 0.3, 0.7, 0.999})
    EXPECT_NEAR(normal_cdf(normal_quantile(p)) / p, 1, 1e-12) << p;
  for (double p : {1e-6, 0.01, 0.25}) EXPECT_NEAR(normal_quantile(p), -normal_quantile(1 - p), 1e-9);
  EXPECT_EQ(normal_quantile(0), -kInfinity);
  EXPECT_EQ(normal_quantile(1), kInfinity);
}

}  // namespace
}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
// Replays momentum_scalars, momentum_update and refreshment: the update from scalars alone, whole vectors
// through the passes, composition and inverse, a long vector given by a formula, partial refreshment.
#include <gtest/gtest.h>

#include <cmath>

#include "smile/dynamics/momentum_update.hpp"
#include "smile/dynamics/refreshment.hpp"
#include "smile/kernels/passes.hpp"
#include "support/quadratic_target.hpp"

namespace smile {
namespace {

using test::Json;

TEST(MomentumScalarsReplay, every_case) {
  const Json file = test::load_vectors("momentum_scalars");
  ASSERT_EQ(test::unknown_keys(file, {"topic", "spec", "description", "tolerance", "cases"}), "");
  ASSERT_FALSE(file.at("cases").empty());
  for (const Json& c : file["cases"]) {
    SCOPED_TRACE("case \"" + c.at("name").get<std::string>() + "\"");
    ASSERT_EQ(test::unknown_keys(c, {"name", "input", "expected", "tolerance", "note", "reading"}), "");
    const Json &input = c.at("input"), &expected = c.at("expected");
    ASSERT_EQ(test::unknown_keys(input, {"n", "p", "d", "eps"}), "");
    ASSERT_EQ(test::unknown_keys(expected, {"delta", "dK", "p_new", "coef_e", "coef_u", "dK_abs_tolerance"}),
              "");
    const double p = input.at("p");
    const auto update =
        momentum_update<double>(input.at("n"), p, 1.0, input.at("d"), input.at("eps").get<double>());

    const Json& tol = (c.contains("tolerance") ? c["tolerance"] : file.at("tolerance")).at("float64");
    // Near p = −1 and for δ > 1 the new direction depends on δ with the condition number of about 1 + δ.
    const double ill = update.delta > 1 && p < -0.9 ? 1 + update.delta : 1;
    const auto widened = [&](const Json& entry) {
      auto t = test::tolerance(entry);
      return test::Tolerance{t.rel * ill, t.abs * ill};
    };
    EXPECT_EQ(test::mismatch(update.delta, expected.at("delta"), test::tolerance(tol.at("delta"))), "");
    EXPECT_EQ(test::mismatch(update.kinetic_change, expected.at("dK"), {0, expected.at("dK_abs_tolerance")}),
              "");
    EXPECT_EQ(test::mismatch(update.projection, expected.at("p_new"), widened(tol.at("p_new"))), "");
    if (expected.at("coef_e").is_null()) {  // the update leaves u = −e as it is
      EXPECT_EQ(applied(update).along_gradient, 0.0);
      EXPECT_EQ(applied(update).along_velocity, 1.0);
    } else {
      EXPECT_EQ(test::mismatch(update.along_gradient, expected["coef_e"], widened(tol.at("coefficients"))),
                "");
      EXPECT_EQ(test::mismatch(update.along_velocity, expected.at("coef_u"), widened(tol.at("coefficients"))),
                "");
    }
  }
}

/// B_h on a whole vector, as the samplers do it. Returns ΔK.
template <class T>
double turn(HostVector<T>& u, const HostVector<T>& g, const Metric<HostVector<T>>& metric, double h,
            RestEnergy rest) {
  const MomentumSums sums = kernels::reduce(g, u, metric);
  const double d = double(u.size()), n = std::sqrt(sums.gradient_norm2);
  const auto update = applied(sums.velocity_norm2 > 0 ? momentum_update(n, n > 0 ? sums.projection / n : 0.0,
                                                                        sums.velocity_norm2, d, h)
                                                      : momentum_update_from_rest(n, d, h, rest));
  kernels::kick(u, g, metric, {n > 0 ? update.along_gradient / n : 0, update.along_velocity});
  return update.kinetic_change;
}

struct UpdateTolerance {
  test::Tolerance u, kinetic;
};
UpdateTolerance update_tolerance(const Json& file, const Json& c, bool single) {
  const char* precision = single ? "float32" : "float64";
  const Json& own =
      c.contains("tolerance") && c["tolerance"].contains(precision) ? c["tolerance"] : file.at("tolerance");
  return {test::tolerance(own.at(precision).at("u")), test::tolerance(own.at(precision).at("dK"))};
}

template <class T>
class MomentumUpdateReplay : public testing::Test {
 protected:
  Json file_ = test::load_vectors("momentum_update");
};
using Precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(MomentumUpdateReplay, Precisions);

TYPED_TEST(MomentumUpdateReplay, every_case) {
  const Json& file = this->file_;
  ASSERT_EQ(test::unknown_keys(file, {"topic", "spec", "description", "tolerance", "flow", "large", "cases"}),
            "");
  ASSERT_FALSE(file.at("cases").empty());
  for (const Json& c : file["cases"]) {
    SCOPED_TRACE("case \"" + c.at("name").get<std::string>() + "\"");
    ASSERT_EQ(test::unknown_keys(c, {"name", "input", "expected", "tolerance", "note", "compat", "reading"}),
              "");
    const Json &input = c.at("input"), &expected = c.at("expected");
    ASSERT_EQ(test::unknown_keys(input, {"u", "g", "eps", "shat", "reset_velocity"}), "");
    ASSERT_EQ(test::unknown_keys(expected, {"u", "dK"}), "");
    auto u = test::host<TypeParam>(test::numbers(input.at("u")));
    const auto g = test::host<TypeParam>(test::numbers(input.at("g")));
    HostVector<TypeParam> variance;
    Metric<HostVector<TypeParam>> metric;
    if (input.contains("shat") && !input["shat"].is_null()) {
      auto scale = test::numbers(input["shat"]);
      for (double& s : scale) s *= s;
      variance = test::host<TypeParam>(scale);
      metric.variance = &variance;
    }
    const std::string reset = input.value("reset_velocity", std::string("keep"));
    const double kinetic = turn(u, g, metric, input.at("eps"),
                                reset == "authors" ? RestEnergy::authors : RestEnergy::along_gradient);
    const auto tol = update_tolerance(file, c, sizeof(TypeParam) == 4);
    EXPECT_EQ(test::mismatch(test::plain(u), test::numbers(expected.at("u")), tol.u), "");
    EXPECT_EQ(test::mismatch(kinetic, expected.at("dK"), tol.kinetic), "");
  }
}

TYPED_TEST(MomentumUpdateReplay, composition_and_inverse) {
  const Json& file = this->file_;
  for (const Json& c : file.at("flow")) {
    SCOPED_TRACE("case \"" + c.at("name").get<std::string>() + "\"");
    ASSERT_EQ(test::unknown_keys(c, {"name", "input", "expected", "tolerance", "note"}), "");
    const Json &input = c.at("input"), &expected = c.at("expected");
    ASSERT_EQ(test::unknown_keys(input, {"u", "g", "a", "b"}), "");
    ASSERT_EQ(test::unknown_keys(expected, {"u_after_a", "dK_a", "u_after_b", "dK_b", "u_back", "dK_back"}),
              "");
    const auto tol = update_tolerance(file, c, sizeof(TypeParam) == 4);
    auto u = test::host<TypeParam>(test::numbers(input.at("u")));
    auto g = test::host<TypeParam>(test::numbers(input.at("g")));
    const double a = input.at("a"), b = input.at("b");
    auto whole = u;
    const double first = turn(u, g, {}, a, RestEnergy::along_gradient);
    EXPECT_EQ(test::mismatch(test::plain(u), test::numbers(expected.at("u_after_a")), tol.u), "");
    EXPECT_EQ(test::mismatch(first, expected.at("dK_a"), tol.kinetic), "");
    const double second = turn(u, g, {}, b, RestEnergy::along_gradient);
    EXPECT_EQ(test::mismatch(test::plain(u), test::numbers(expected.at("u_after_b")), tol.u), "");
    EXPECT_EQ(test::mismatch(second, expected.at("dK_b"), tol.kinetic), "");
    const double at_once = turn(whole, g, {}, a + b, RestEnergy::along_gradient);
    EXPECT_EQ(test::mismatch(test::plain(whole), test::plain(u), tol.u), "");
    // The two parts are added up, and may cancel.
    EXPECT_NEAR(at_once, first + second,
                tol.kinetic.abs + tol.kinetic.rel * (std::fabs(first) + std::fabs(second)));
    for (std::size_t i = 0; i < g.size(); ++i) g[i] = -g[i];
    const double back = turn(u, g, {}, a + b, RestEnergy::along_gradient);
    EXPECT_EQ(test::mismatch(test::plain(u), test::numbers(expected.at("u_back")), tol.u), "");
    EXPECT_EQ(test::mismatch(back, expected.at("dK_back"), tol.kinetic), "");
  }
}

TYPED_TEST(MomentumUpdateReplay, long_vectors_given_by_a_formula) {
  const Json& file = this->file_;
  for (const Json& c : file.at("large")) {
    SCOPED_TRACE("case \"" + c.at("name").get<std::string>() + "\"");
    ASSERT_EQ(test::unknown_keys(c, {"name", "input", "expected", "tolerance", "note"}), "");
    const Json &input = c.at("input"), &expected = c.at("expected");
    ASSERT_EQ(test::unknown_keys(input, {"d", "eps", "g", "u", "ag", "bg", "au"}), "");
    ASSERT_EQ(test::unknown_keys(expected, {"n", "p", "dK", "index", "u_at_index"}), "");
    // The formulas are text: g_i = sin(ag i + bg), u = v/|v|, v_i = cos(au i) + 0.05 g_i.
    ASSERT_TRUE(input.at("g").get<std::string>().starts_with("g_i = sin(")) << input["g"];
    ASSERT_EQ(input.at("u").get<std::string>().substr(0, 20), "u = v/|v|, v_i = cos") << input["u"];
    ASSERT_TRUE(input["u"].get<std::string>().ends_with("+ 0.05 g_i")) << input["u"];
    const std::size_t d = input.at("d");
    const double ag = input.at("ag"), bg = input.at("bg"), au = input.at("au");
    std::vector<double> exact_u(d), exact_g(d);
    double norm2 = 0;
    for (std::size_t i = 0; i < d; ++i) {
      exact_g[i] = std::sin(ag * double(i) + bg);
      exact_u[i] = std::cos(au * double(i)) + 0.05 * exact_g[i];
      norm2 += exact_u[i] * exact_u[i];
    }
    for (double& v : exact_u) v /= std::sqrt(norm2);
    auto u = test::host<TypeParam>(exact_u);
    const auto g = test::host<TypeParam>(exact_g);
    const MomentumSums sums = kernels::reduce(g, u, {});
    const double n = std::sqrt(sums.gradient_norm2), p = sums.projection / n;
    const double kinetic = turn(u, g, {}, input.at("eps"), RestEnergy::along_gradient);
    std::vector<double> at_index;
    for (const Json& i : expected.at("index")) at_index.push_back(u[i.get<std::size_t>()]);

    const Json& tol = (c.contains("tolerance") ? c["tolerance"] : file.at("tolerance"))
                          .at(sizeof(TypeParam) == 4 ? "float32" : "float64");
    const auto of = [&](const char* what) { return test::tolerance(tol.contains(what) ? tol[what] : tol); };
    EXPECT_EQ(test::mismatch(n, expected.at("n"), of("n")), "");
    EXPECT_EQ(test::mismatch(p, expected.at("p"), of("p")), "");
    EXPECT_EQ(test::mismatch(kinetic, expected.at("dK"), of("dK")), "");
    EXPECT_EQ(test::mismatch(at_index, test::numbers(expected.at("u_at_index")), of("u")), "");
  }
}

template <class T>
class RefreshmentReplay : public testing::Test {};
TYPED_TEST_SUITE(RefreshmentReplay, Precisions);
TYPED_TEST(RefreshmentReplay, every_case) {
  const Json file = test::load_vectors("refreshment");
  ASSERT_EQ(test::unknown_keys(file, {"topic", "spec", "description", "tolerance", "cases"}), "");
  ASSERT_FALSE(file.at("cases").empty());
  for (const Json& c : file["cases"]) {
    SCOPED_TRACE("case \"" + c.at("name").get<std::string>() + "\"");
    ASSERT_EQ(test::unknown_keys(c, {"name", "input", "expected", "tolerance", "note"}), "");
    const Json &input = c.at("input"), &expected = c.at("expected");
    ASSERT_EQ(test::unknown_keys(input, {"u", "z", "h", "ell"}), "");
    ASSERT_EQ(test::unknown_keys(expected, {"u", "nu"}), "");
    auto u = test::host<TypeParam>(test::numbers(input.at("u")));
    const auto z = test::host<TypeParam>(test::numbers(input.at("z")));
    const double nu = refreshment_strength(input.at("h"), test::number(input.at("ell")), double(u.size()));
    kernels::refresh(u, z, nu);
    const Json& tol = c.contains("tolerance") ? c["tolerance"] : file.at("tolerance");
    EXPECT_EQ(test::mismatch(nu, expected.at("nu"),
                             test::tolerance(tol.at("float64").value("nu", tol.at("float64")))),
              "");
    EXPECT_EQ(test::mismatch(test::plain(u), test::numbers(expected.at("u")),
                             test::tolerance(tol.at(sizeof(TypeParam) == 4 ? "float32" : "float64"))),
              "");
  }
}

}  // namespace
}  // namespace smile

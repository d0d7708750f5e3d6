// SPDX-License-Identifier: Apache-2.0
// Replays integrators: one step of each splitting from a given state, its energy error against the step size,
// and the coefficients.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "smile/samplers/microcanonical.hpp"
#include "support/named_options.hpp"
#include "support/quadratic_target.hpp"

namespace smile {
namespace {

using test::Json;

MicrocanonicalOptions one_step(const std::string& integrator, double step_size, bool fresh, bool guardrail) {
  MicrocanonicalOptions options;
  options.integrator = test::integrator_named(integrator);
  options.energy = fresh ? EnergyMode::fresh : EnergyMode::carried;
  options.step_size = step_size;
  options.rule = StepSizeRule::fixed;
  options.guardrail = guardrail;  // without it position-verlet doesn't look at the energy
  options.tuner.reset_prob = 1;
  options.tuner.adaption_prob = 0;
  return options;
}

template <class T>
struct Step {
  StepReport report;
  std::vector<double> position, velocity, gradient;
  double log_density;
};

template <class T>
Step<T> step(const MicrocanonicalOptions& options, test::QuadraticTarget<T>& target,
             const std::vector<double>& position, const std::vector<double>& velocity,
             const std::vector<double>* scale) {
  MicrocanonicalSampler<HostVector<T>> sampler(options, {0, 1});
  test::GivenNormals<T> normals;
  sampler.start(test::host<T>(position), target, normals);
  sampler.state().set_velocity(test::host<T>(velocity));
  if (scale) {
    std::vector<double> squares(*scale);
    for (double& s : squares) s *= s;
    sampler.state().set_fixed_metric(test::host<T>(squares));
  }
  Step<T> result{sampler.step(target, normals, 1), {}, {}, {}, 0};
  result.position = test::plain(sampler.position());
  result.velocity = test::plain(sampler.state().velocity());
  result.gradient = test::plain(sampler.state().carried_gradient());
  result.log_density = sampler.log_density();
  return result;
}

template <class T>
class IntegratorsReplay : public testing::Test {
 protected:
  test::Tolerance tolerance(const Json& c) const {
    const Json& tol = c.contains("tolerance") ? c["tolerance"] : file_.at("tolerance");
    return test::tolerance(tol.at(sizeof(T) == 4 ? "float32" : "float64"));
  }
  Json file_ = test::load_vectors("integrators");
};
using Precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(IntegratorsReplay, Precisions);

TYPED_TEST(IntegratorsReplay, every_case) {
  const Json& file = this->file_;
  ASSERT_EQ(test::unknown_keys(file, {"topic", "spec", "description", "tolerance", "A", "b", "xi",
                                      "coefficients", "order", "cases"}),
            "");
  ASSERT_FALSE(file.at("cases").empty());
  for (const Json& c : file["cases"]) {
    SCOPED_TRACE("case \"" + c.at("name").get<std::string>() + "\"");
    ASSERT_EQ(test::unknown_keys(c, {"name", "input", "expected", "tolerance", "note", "compat", "reading"}),
              "");
    const Json &input = c.at("input"), &expected = c.at("expected");
    ASSERT_EQ(test::unknown_keys(input, {"integrator", "energy", "eps", "theta", "u", "shat", "L_old",
                                         "g_old", "reset_velocity"}),
              "");
    ASSERT_EQ(test::unknown_keys(expected, {"theta", "u", "L_new", "g_last", "dK", "dE", "gradients"}), "");
    const std::string energy = input.value("energy", std::string("carried"));
    ASSERT_TRUE(energy == "carried" || energy == "fresh") << energy;
    const bool looks_at_energy = !expected.at("dE").is_null();
    auto options = one_step(input.at("integrator"), input.at("eps"), energy == "fresh", looks_at_energy);
    const std::string reset = input.value("reset_velocity", std::string("keep"));
    ASSERT_TRUE(reset == "keep" || reset == "authors") << reset;
    if (reset == "authors") options.reset_velocity = ResetVelocity::authors;

    // What the step before left is what the target says at step 0.
    std::vector<test::Planted> carried;
    if (energy == "carried") {
      if (!input.at("L_old").is_null()) carried.push_back({0, 0, false, 0, input["L_old"].get<double>()});
      const auto g_old = input.at("g_old").is_null() ? std::vector<double>() : test::numbers(input["g_old"]);
      for (std::size_t i = 0; i < g_old.size(); ++i) carried.push_back({0, 0, true, i, g_old[i]});
    }
    test::QuadraticTarget<TypeParam> target(test::matrix(file.at("A")), test::numbers(file.at("b")),
                                            test::matrix(file.at("xi")), carried);
    std::vector<double> scale;
    if (input.contains("shat") && !input["shat"].is_null()) scale = test::numbers(input["shat"]);
    const auto got = step<TypeParam>(options, target, test::numbers(input.at("theta")),
                                     test::numbers(input.at("u")), scale.empty() ? nullptr : &scale);

    const auto tol = this->tolerance(c);
    EXPECT_TRUE(got.report.accepted());
    EXPECT_EQ(test::mismatch(got.position, test::numbers(expected.at("theta")), tol), "") << "theta";
    EXPECT_EQ(test::mismatch(got.velocity, test::numbers(expected.at("u")), tol), "") << "u";
    EXPECT_EQ(test::mismatch(got.gradient, test::numbers(expected.at("g_last")), tol), "") << "g_last";
    EXPECT_EQ(test::mismatch(got.report.kinetic_change, expected.at("dK"), tol), "") << "dK";
    EXPECT_EQ(got.report.gradients, expected.at("gradients").get<int>());
    if (looks_at_energy) {
      EXPECT_EQ(test::mismatch(got.report.energy_change, expected["dE"], tol), "") << "dE";
      EXPECT_EQ(test::mismatch(got.log_density, expected.at("L_new"), tol), "") << "L_new";
    } else {
      EXPECT_TRUE(std::isnan(got.report.energy_change));
      EXPECT_TRUE(expected.at("L_new").is_null());
    }
  }
}

TEST(IntegratorsReplay, coefficients) {
  const Json file = test::load_vectors("integrators");
  const auto tol = test::tolerance(file.at("tolerance").at("float64"));
  ASSERT_FALSE(file.at("coefficients").empty());
  for (const auto& [name, sequence] : file["coefficients"].items()) {
    SCOPED_TRACE(name);
    const auto& ours = splitting(test::integrator_named(name));
    ASSERT_EQ(ours.size(), sequence.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
      EXPECT_EQ(ours[i].kind == Substep::momentum ? "B" : "A", sequence[i].at(0).get<std::string>());
      EXPECT_EQ(test::mismatch(ours[i].fraction, sequence[i].at(1), tol), "");
    }
  }
}

TEST(IntegratorsReplay, energy_error_against_step_size) {
  const Json file = test::load_vectors("integrators");
  const Json& tol = file.at("tolerance").at("float64");
  for (const Json& c : file.at("order")) {
    SCOPED_TRACE("case \"" + c.at("name").get<std::string>() + "\"");
    ASSERT_EQ(test::unknown_keys(c, {"name", "input", "expected", "tolerance", "note"}), "");
    ASSERT_EQ(test::unknown_keys(c.at("input"), {"integrator", "theta", "u", "eps"}), "");
    ASSERT_EQ(test::unknown_keys(c.at("expected"), {"dE", "slope"}), "");
    test::QuadraticTarget<double> target(test::matrix(file.at("A")), test::numbers(file.at("b")),
                                         test::matrix(file.at("xi")));
    const auto eps = test::numbers(c["input"].at("eps")), expected = test::numbers(c["expected"].at("dE"));
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (std::size_t i = 0; i < eps.size(); ++i) {
      const auto got =
          step<double>(one_step(c["input"].at("integrator"), eps[i], true, true), target,
                       test::numbers(c["input"].at("theta")), test::numbers(c["input"].at("u")), nullptr);
      EXPECT_EQ(test::mismatch(got.report.energy_change, expected.at(i), test::tolerance(tol)), "");
      const double x = std::log(eps[i]), y = std::log(std::fabs(got.report.energy_change));
      n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    EXPECT_EQ(test::mismatch((n * sxy - sx * sy) / (n * sxx - sx * sx), c["expected"].at("slope"),
                             test::tolerance(tol.at("slope"))),
              "");
  }
}

}  // namespace
}  // namespace smile

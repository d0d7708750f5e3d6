// SPDX-License-Identifier: Apache-2.0
// Replays preconditioner: the moving estimates over lists of gradients, the normalisation for given s, the
// floor of s.
#include <gtest/gtest.h>

#include <cmath>

#include "smile/adaptation/preconditioner.hpp"
#include "support/quadratic_target.hpp"

namespace smile {
namespace {

using test::Json;

/// s and ŝ count entry by entry, so that small entries are compared, too.
std::string mismatch_by_entry(const std::vector<double>& actual, const std::vector<double>& expected,
                              test::Tolerance tolerance) {
  if (actual.size() != expected.size()) return "another number of entries";
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const std::string message = test::mismatch(actual[i], expected[i], tolerance);
    if (!message.empty()) return "entry " + std::to_string(i) + ": " + message;
  }
  return "";
}

PreconditionerOptions options_of(const Json& input) {
  PreconditionerOptions options;
  options.rate = input.value("alpha", options.rate);
  const std::string init = input.value("preconditioner_init", std::string("zero"));
  if (init != "zero" && init != "first-gradient") throw std::runtime_error("preconditioner_init: " + init);
  options.start_at_first_gradient = init == "first-gradient";
  const std::string centre = input.value("preconditioner_centre", std::string("mean"));
  if (centre == "none")
    options.centre = Centre::none;
  else if (centre == "authors")
    options.centre = Centre::authors;
  else if (centre != "mean")
    throw std::runtime_error("preconditioner_centre: " + centre);
  const std::string scale = input.value("preconditioner_scale", std::string("rms"));
  if (scale != "rms" && scale != "inverse-rms") throw std::runtime_error("preconditioner_scale: " + scale);
  if (input.contains("preconditioner_floor")) {
    if (input["preconditioner_floor"] == "absolute")
      options.normalisation = Normalisation::rms_absolute;
    else
      options.relative_floor = input["preconditioner_floor"].get<double>();
  }
  if (scale == "inverse-rms") options.normalisation = Normalisation::inverse_rms;  // the floor has no part
  return options;
}

template <class T>
std::vector<double> roots(const HostVector<T>& squares) {
  std::vector<double> out = test::plain(squares);
  for (double& v : out) v = std::sqrt(v);
  return out;
}

/// ŝ as the passes use it.
template <class T>
std::vector<double> applied_scale(const HostVector<T>& variance, const Scaling& scaling) {
  std::vector<double> scale;
  for (std::size_t i = 0; i < variance.size(); ++i) {
    // u ⊘ ŝ of a unit vector, through the drift itself.
    HostVector<T> unit(variance.size()), from(variance.size()), to(variance.size());
    unit[i] = 1;
    kernels::drift(unit, {&variance, scaling}, from, to, 1.0);
    scale.push_back(1 / double(to[i]));
  }
  return scale;
}

template <class T>
class PreconditionerReplay : public testing::Test {
 protected:
  test::Tolerance tolerance(const Json& c, const char* quantity = nullptr) const {
    const Json& tol = (c.contains("tolerance") ? c["tolerance"] : file_.at("tolerance"))
                          .at(sizeof(T) == 4 ? "float32" : "float64");
    return test::tolerance(quantity && tol.contains(quantity) ? tol[quantity] : tol);
  }
  Json file_ = test::load_vectors("preconditioner");
};
using Precisions = testing::Types<double, float>;
TYPED_TEST_SUITE(PreconditionerReplay, Precisions);

TYPED_TEST(PreconditionerReplay, every_case) {
  using Vector = HostVector<TypeParam>;
  const Json& file = this->file_;
  ASSERT_EQ(test::unknown_keys(file, {"topic", "spec", "description", "tolerance", "gradients", "normalise",
                                      "floor", "cases"}),
            "");
  ASSERT_FALSE(file.at("cases").empty());
  for (const Json& c : file["cases"]) {
    SCOPED_TRACE("case \"" + c.at("name").get<std::string>() + "\"");
    ASSERT_EQ(test::unknown_keys(c, {"name", "input", "expected", "tolerance", "note", "compat", "reading"}),
              "");
    const Json &input = c.at("input"), &expected = c.at("expected");
    ASSERT_EQ(
        test::unknown_keys(input, {"preconditioner_init", "preconditioner_scale", "preconditioner_centre",
                                   "preconditioner_floor", "alpha", "gradients"}),
        "");
    ASSERT_EQ(test::unknown_keys(expected, {"m", "s", "shat"}), "");
    const auto gradients = test::matrix(input.contains("gradients") ? input["gradients"] : file["gradients"]);
    const auto s = test::matrix(expected.at("s")), shat = test::matrix(expected.at("shat"));
    Preconditioner<Vector> preconditioner(options_of(input), gradients.at(0).size());
    preconditioner.start(test::host<TypeParam>(gradients[0]));
    const auto tol = this->tolerance(c);
    const auto compare_scale = [&](std::size_t row) {
      EXPECT_EQ(mismatch_by_entry(applied_scale(preconditioner.variance(), preconditioner.scaling()),
                                  shat.at(row), tol),
                "")
          << "shat, row " << row;
    };
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      compare_scale(i);
      preconditioner.absorb(test::host<TypeParam>(gradients[i]));
      EXPECT_EQ(mismatch_by_entry(roots(preconditioner.variance()), s.at(i), tol), "") << "s, row " << i;
      if (expected.contains("m") && !expected["m"].is_null()) {
        ASSERT_NE(preconditioner.mean(), nullptr);
        EXPECT_EQ(test::mismatch(test::plain(*preconditioner.mean()), test::numbers(expected["m"].at(i)),
                                 this->tolerance(c, "m")),
                  "")
            << "m, row " << i;
      }
    }
    compare_scale(gradients.size());
  }
}

TYPED_TEST(PreconditionerReplay, normalisation_of_given_scales) {
  for (const Json& c : this->file_.at("normalise")) {
    SCOPED_TRACE("case \"" + c.at("name").get<std::string>() + "\"");
    ASSERT_EQ(test::unknown_keys(c, {"name", "input", "expected", "tolerance", "note", "compat"}), "");
    const Json& input = c.at("input");
    ASSERT_EQ(test::unknown_keys(input, {"s", "preconditioner_scale", "preconditioner_floor"}), "");
    ASSERT_EQ(test::unknown_keys(c.at("expected"), {"shat"}), "");
    auto squares = test::numbers(input.at("s"));
    for (double& s : squares) s *= s;
    const auto variance = test::host<TypeParam>(squares);
    const PreconditionerOptions options = options_of(input);
    const Scaling scaling = kernels::normalise(variance, options.normalisation, options.relative_floor);
    EXPECT_EQ(mismatch_by_entry(applied_scale(variance, scaling), test::numbers(c["expected"].at("shat")),
                                this->tolerance(c)),
              "");
  }
}

TYPED_TEST(PreconditionerReplay, floor_of_the_scale) {
  const Json& c = this->file_.at("floor");
  ASSERT_EQ(test::unknown_keys(c, {"input", "expected", "tolerance", "note"}), "");
  ASSERT_EQ(test::unknown_keys(c.at("input"), {"alpha", "zero_gradients"}), "");
  ASSERT_EQ(test::unknown_keys(c.at("expected"), {"s"}), "");
  const auto expected = test::numbers(c["expected"].at("s"));
  PreconditionerOptions options;
  options.rate = c["input"].at("alpha");
  Preconditioner<HostVector<TypeParam>> preconditioner(options, expected.size());
  const HostVector<TypeParam> zero(expected.size());
  for (int i = 0; i < c["input"].at("zero_gradients").get<int>(); ++i) preconditioner.absorb(zero);
  EXPECT_EQ(mismatch_by_entry(roots(preconditioner.variance()), expected, this->tolerance(c)), "");
  EXPECT_EQ(kernels::norm2(*preconditioner.mean()), 0);
}

}  // namespace
}  // namespace smile

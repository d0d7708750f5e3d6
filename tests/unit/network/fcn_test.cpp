// SPDX-License-Identifier: Apache-2.0
// Layout, checks, initialisation and the derivative itself.
#include "smile/network/fcn.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "smile/error.hpp"
#include "unit/network/fcn_problem.hpp"

namespace smile {
namespace {

using test::fcn_spec;
using test::FcnProblem;

TEST(Fcn, gradient_is_the_derivative_of_the_value) {
  for (const Activation activation : test::kAllActivations)
    for (const Task task : test::kAllTasks)
      for (const bool bias : {true, false}) {
        SCOPED_TRACE(static_cast<int>(activation) * 100 + static_cast<int>(task) * 10 + bias);
        const FcnProblem p(fcn_spec(3, {5, 4}, activation, task, bias), 9, 21);
        Fcn<double> network(p.spec, p.data<double>(9));
        HostVector<double> theta = p.position<double>(), gradient(theta.size());
        network.log_likelihood_and_gradient({}, theta, gradient);
        for (std::size_t i = 0; i < theta.size(); ++i) {
          constexpr double kStep = 1e-6;
          const double centre = theta[i];
          theta[i] = centre + kStep;
          const double above = network.log_likelihood({}, theta);
          theta[i] = centre - kStep;
          const double below = network.log_likelihood({}, theta);
          theta[i] = centre;
          EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep), 1e-6 * (1 + std::fabs(gradient[i]))) << i;
        }
      }
}

TEST(Fcn, layout_names_shapes_offsets_and_fans) {
  FcnSpec spec = fcn_spec(5, {16, 3}, Activation::relu, Task::mean_regression);
  const ParameterLayout layout = spec.layout();
  ASSERT_EQ(7U, layout.groups.size());
  const auto expect = [&](std::size_t i, const char* name, std::vector<std::size_t> shape, std::size_t offset,
                          ParameterKind kind, std::size_t fan_in, std::size_t fan_out) {
    const ParameterGroup& group = layout.groups[i];
    EXPECT_EQ(name, group.name);
    EXPECT_EQ(shape, group.shape);
    EXPECT_EQ(offset, group.offset);
    EXPECT_EQ(kind, group.kind);
    EXPECT_EQ(fan_in, group.fan_in);
    EXPECT_EQ(fan_out, group.fan_out);
  };
  expect(0, "layer0.weight", {16, 5}, 0, ParameterKind::weight, 5, 16);
  expect(1, "layer0.bias", {16}, 80, ParameterKind::other, 0, 0);
  expect(2, "layer1.weight", {3, 16}, 96, ParameterKind::weight, 16, 3);
  expect(3, "layer1.bias", {3}, 144, ParameterKind::other, 0, 0);
  expect(4, "layer2.weight", {1, 3}, 147, ParameterKind::weight, 3, 1);
  expect(5, "layer2.bias", {1}, 150, ParameterKind::other, 0, 0);
  expect(6, "log_sigma", {1}, 151, ParameterKind::other, 0, 0);
  EXPECT_EQ(152U, layout.size());

  spec.bias = false;
  spec.task = Task::regression;
  spec.widths.back() = 2;
  const ParameterLayout bare = spec.layout();
  ASSERT_EQ(3U, bare.groups.size());
  EXPECT_EQ("layer2.weight", bare.groups[2].name);
  EXPECT_EQ(5U * 16 + 16 * 3 + 3 * 2, bare.size());
}

TEST(Fcn, impossible_networks_are_refused) {
  const auto refused = [](std::size_t inputs, std::vector<std::size_t> widths, Task task) {
    FcnSpec spec;
    spec.inputs = inputs;
    spec.widths = std::move(widths);
    spec.task = task;
    EXPECT_THROW(spec.validate(), Error);
  };
  refused(0, {1}, Task::mean_regression);
  refused(3, {}, Task::mean_regression);
  refused(3, {0, 1}, Task::mean_regression);
  refused(3, {4, 2}, Task::mean_regression);
  refused(3, {4, 1}, Task::regression);
  refused(3, {4, 1}, Task::classification);
  refused(3, {4, 5}, Task::multilabel);
}

TEST(Fcn, data_that_do_not_fit_are_refused) {
  const std::vector<double> one = {1}, two = {1, 2}, label = {3}, half = {0.5};
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_THROW((FcnData<float>(1, 2, one, one)), Error);
  EXPECT_THROW((FcnData<float>(1, 1, std::vector<double>{inf}, one)), Error);
  EXPECT_THROW((FcnData<float>(1, 1, std::vector<double>{1e300}, one)), Error);
  EXPECT_NO_THROW((FcnData<double>(1, 1, std::vector<double>{1e300}, one)));
  const auto data = [&](const std::vector<double>& y) {
    return std::make_shared<const FcnData<float>>(1, 2, two, y);
  };
  EXPECT_THROW(Fcn<float>(fcn_spec(3, {4}, Activation::relu, Task::regression), data(one)), Error);
  EXPECT_THROW(Fcn<float>(fcn_spec(2, {4}, Activation::relu, Task::classification), data(label)), Error);
  EXPECT_THROW(Fcn<float>(fcn_spec(2, {4}, Activation::relu, Task::classification), data(half)), Error);
  Fcn<float> network(fcn_spec(2, {4}, Activation::relu, Task::classification), data(two.size() ? one : two));
  std::vector<float> short_of_room(2);
  EXPECT_THROW(network.predict(*data(one), HostVector<float>(network.layout().size()), short_of_room), Error);
}

TEST(Fcn, sigma_is_clipped_and_then_has_no_derivative) {
  const std::vector<double> x = {1}, y = {1};
  const FcnSpec spec = fcn_spec(1, {1}, Activation::identity, Task::mean_regression);
  Fcn<float> network(spec, std::make_shared<const FcnData<float>>(1, 1, x, y));
  HostVector<float> theta(5), gradient(5);
  for (const float log_sigma : {-90.0F, -14.0F, 14.0F, 90.0F}) {
    theta[4] = log_sigma;
    const double value = network.log_likelihood_and_gradient({}, theta, gradient);
    const double sigma = log_sigma > 0 ? 1e6 : 1e-6;
    const double expected = -0.5 / (sigma * sigma) - std::log(sigma) - 0.9189385332046727;
    EXPECT_NEAR(value, expected, 1e-9 * std::fabs(expected));
    EXPECT_EQ(0.0F, gradient[4]);
  }
}

TEST(LecunInitialise, weights_have_variance_one_over_fan_in_and_all_else_is_zero) {
  FcnSpec spec = fcn_spec(20, {400, 50}, Activation::relu, Task::mean_regression);
  const ParameterLayout layout = spec.layout();
  HostVector<double> theta, again, other;
  lecun_initialise(layout, {.seed = 5, .chain = 3, .purpose = Purpose::initialisation}, theta);
  lecun_initialise(layout, {.seed = 5, .chain = 3, .purpose = Purpose::initialisation}, again);
  lecun_initialise(layout, {.seed = 5, .chain = 4, .purpose = Purpose::initialisation}, other);
  ASSERT_EQ(layout.size(), theta.size());
  EXPECT_TRUE(std::equal(theta.data(), theta.data() + theta.size(), again.data()));
  EXPECT_NE(theta[0], other[0]);
  for (const ParameterGroup& group : layout.groups) {
    SCOPED_TRACE(group.name);
    const double n = static_cast<double>(group.size());
    double mean = 0, square = 0;
    for (std::size_t i = 0; i < group.size(); ++i) {
      mean += theta[group.offset + i] / n;
      square += theta[group.offset + i] * theta[group.offset + i] / n;
    }
    if (group.kind == ParameterKind::other) {
      EXPECT_EQ(0.0, square);
      continue;
    }
    // Five standard errors: sd of a mean is sqrt(variance/n), of a mean square variance·sqrt(2/n).
    const double variance = 1.0 / static_cast<double>(group.fan_in);
    EXPECT_NEAR(mean, 0, 5 * std::sqrt(variance / n));
    EXPECT_NEAR(square, variance, 5 * variance * std::sqrt(2 / n));
  }
  // Single precision starts from the same numbers.
  HostVector<float> narrow;
  lecun_initialise(layout, {.seed = 5, .chain = 3, .purpose = Purpose::initialisation}, narrow);
  for (std::size_t i = 0; i < theta.size(); ++i) ASSERT_EQ(static_cast<float>(theta[i]), narrow[i]);
}

}  // namespace
}  // namespace smile

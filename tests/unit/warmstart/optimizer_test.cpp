// SPDX-License-Identifier: Apache-2.0
// Updates against values that follow from the definitions by hand.
#include "smile/warmstart/optimizer.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "smile/error.hpp"

namespace smile {
namespace {

constexpr double kRate = 0.1;

HostVector<double> filled(std::initializer_list<double> values) {
  HostVector<double> x(values.size());
  std::copy(values.begin(), values.end(), x.data());
  return x;
}

TEST(Optimizer, sgd_without_momentum_goes_down_the_gradient) {
  Optimizer<double> sgd({.kind = OptimizerKind::sgd, .weight_decay = 0.5}, 2);
  HostVector<double> x = filled({1, -2});
  sgd.update(x, filled({3, 0.5}), kRate);
  EXPECT_DOUBLE_EQ(x[0], 0.7);
  EXPECT_DOUBLE_EQ(x[1], -2.05);
}

TEST(Optimizer, momentum_sums_a_geometric_series) {
  // v_t = g (1 − μᵗ)/(1 − μ), so θ_n = θ_0 − η g Σ_t (1 − μᵗ)/(1 − μ).
  const double momentum = 0.8, g = 1.5;
  Optimizer<double> sgd({.kind = OptimizerKind::sgd, .momentum = momentum}, 1);
  HostVector<double> x = filled({4});
  double expected = 4;
  for (int t = 1; t <= 12; ++t) {
    sgd.update(x, filled({g}), kRate);
    expected -= kRate * g * (1 - std::pow(momentum, t)) / (1 - momentum);
    ASSERT_NEAR(x[0], expected, 1e-13) << t;
  }
}

TEST(Optimizer, nesterov_looks_ahead) {
  // v: 2, then 0.9·2 + 1 = 2.8; directions g + 0.9 v: 3.8, 3.52.
  Optimizer<double> sgd({.kind = OptimizerKind::sgd, .momentum = 0.9, .nesterov = true}, 1);
  HostVector<double> x = filled({0});
  sgd.update(x, filled({2}), kRate);
  EXPECT_NEAR(x[0], -0.38, 1e-15);
  sgd.update(x, filled({1}), kRate);
  EXPECT_NEAR(x[0], -0.732, 1e-15);
}

TEST(Optimizer, adam_divides_a_constant_gradient_by_its_size) {
  // The corrected moments of a constant gradient are g and g², whatever t and the decays are.
  const double epsilon = 0.25;
  Optimizer<double> adam(
      {.kind = OptimizerKind::adam, .weight_decay = 3, .b1 = 0.7, .b2 = 0.95, .epsilon = epsilon}, 2);
  HostVector<double> x = filled({1, 1});
  for (int t = 1; t <= 20; ++t) {
    adam.update(x, filled({4, -0.01}), kRate);
    ASSERT_NEAR(x[0], 1 - t * kRate * 4 / (4 + epsilon), 1e-12);
    ASSERT_NEAR(x[1], 1 + t * kRate * 0.01 / (0.01 + epsilon), 1e-12);
  }
  EXPECT_EQ(adam.updates(), 20u);
}

TEST(Optimizer, adam_follows_two_different_gradients) {
  // t = 1: m = 0.2·1, s = 0.1·1; corrected 1 and 1: θ = −η.
  // t = 2: m = 0.8·0.2 + 0.2·(−3) = −0.44, s = 0.9·0.1 + 0.1·9 = 0.99; corrected by 0.36 and 0.19.
  Optimizer<double> adam({.kind = OptimizerKind::adam, .b1 = 0.8, .b2 = 0.9, .epsilon = 1e-8}, 1);
  HostVector<double> x = filled({0});
  adam.update(x, filled({1}), kRate);
  EXPECT_NEAR(x[0], -0.1, 1e-8);
  adam.update(x, filled({-3}), kRate);
  EXPECT_NEAR(x[0], -0.1 + kRate * (0.44 / 0.36) / std::sqrt(0.99 / 0.19), 1e-8);
}

TEST(Optimizer, adamw_decays_every_parameter_apart_from_the_moments) {
  Optimizer<double> adamw({.kind = OptimizerKind::adamw, .weight_decay = 0.3, .epsilon = 0.5}, 2);
  HostVector<double> x = filled({2, 1});
  double first = 2, second = 1;
  for (int t = 1; t <= 5; ++t) {
    adamw.update(x, filled({0, 1.5}), kRate);
    first *= 1 - kRate * 0.3;
    second -= kRate * (1.5 / 2.0 + 0.3 * second);
    ASSERT_NEAR(x[0], first, 1e-14) << t;
    ASSERT_NEAR(x[1], second, 1e-13) << t;
  }
}

TEST(Optimizer, a_parameter_at_zero_without_gradient_stays_there) {
  for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw}) {
    Optimizer<float> optimizer({.kind = kind, .weight_decay = 0.1, .momentum = 0.9}, 2);
    HostVector<float> x(2), g(2);
    g[0] = 1;
    for (int t = 0; t < 10; ++t) optimizer.update(x, g, kRate);
    EXPECT_LT(x[0], -0.1f);
    EXPECT_EQ(x[1], 0.0f);
  }
}

TEST(Optimizer, reset_forgets_moments_and_count) {
  for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adamw}) {
    Optimizer<double> used({.kind = kind, .momentum = 0.9}, 1), fresh({.kind = kind, .momentum = 0.9}, 1);
    HostVector<double> x = filled({1}), y = filled({1});
    used.update(x, filled({7}), kRate);
    used.reset();
    EXPECT_EQ(used.updates(), 0u);
    x = filled({1});
    for (const double g : {0.5, -2.0}) {
      used.update(x, filled({g}), kRate);
      fresh.update(y, filled({g}), kRate);
    }
    EXPECT_EQ(x[0], y[0]);
  }
}

TEST(Optimizer, float_follows_double) {
  for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw}) {
    const OptimizerOptions options{.kind = kind, .momentum = 0.9};
    Optimizer<double> in_double(options, 1);
    Optimizer<float> in_float(options, 1);
    HostVector<double> x(1, 1.0), gx(1);
    HostVector<float> y(1, 1.0f), gy(1);
    for (int t = 0; t < 100; ++t) {
      gx[0] = std::sin(t) + 0.3;
      gy[0] = static_cast<float>(gx[0]);
      in_double.update(x, gx, 0.003);
      in_float.update(y, gy, 0.003);
    }
    EXPECT_NEAR(static_cast<double>(y[0]), x[0], 1e-5 * std::abs(x[0] - 1)) << static_cast<int>(kind);
  }
}

TEST(Optimizer, all_reach_the_minimum_of_a_quadratic) {
  // f = ½ Σ a_i (x_i − c_i)² with condition number 25.
  const double a[] = {1, 5, 25}, c[] = {0.5, -1, 2};
  for (const OptimizerOptions& options :
       {OptimizerOptions{.kind = OptimizerKind::sgd},
        OptimizerOptions{.kind = OptimizerKind::sgd, .momentum = 0.7},
        OptimizerOptions{.kind = OptimizerKind::sgd, .momentum = 0.7, .nesterov = true},
        OptimizerOptions{.kind = OptimizerKind::adam},
        OptimizerOptions{.kind = OptimizerKind::adamw, .weight_decay = 0}}) {
    Optimizer<double> optimizer(options, 3);
    HostVector<double> x(3), g(3);
    for (int t = 0; t < 4000; ++t) {
      for (int i = 0; i < 3; ++i) g[i] = a[i] * (x[i] - c[i]);
      optimizer.update(x, g, 0.03 / (1 + 0.002 * t));
    }
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(x[i], c[i], 1e-6) << static_cast<int>(options.kind);
  }
}

TEST(Optimizer, options_out_of_range_are_refused) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const OptimizerOptions& options :
       {OptimizerOptions{.weight_decay = -0.1}, OptimizerOptions{.momentum = 1}, OptimizerOptions{.b1 = 1},
        OptimizerOptions{.b2 = -0.5}, OptimizerOptions{.epsilon = 0}, OptimizerOptions{.b2 = nan}})
    EXPECT_THROW(Optimizer<float>(options, 1), Error);
  EXPECT_EQ(parse_name<OptimizerKind>("adam"), OptimizerKind::adam);
  EXPECT_FALSE(parse_name<OptimizerKind>("adamax"));
}

}  // namespace
}  // namespace smile

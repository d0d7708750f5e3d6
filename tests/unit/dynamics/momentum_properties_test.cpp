// SPDX-License-Identifier: Apache-2.0
// The momentum update as mathematics: a flow, reversible, of unit norm, exact in its energy; at parameters
// that are not those of the vectors.
#include <gtest/gtest.h>

#include <cmath>

#include "smile/dynamics/momentum_update.hpp"
#include "smile/dynamics/splitting.hpp"
#include "smile/kernels/passes.hpp"
#include "smile/random/stream.hpp"

namespace smile {
namespace {

struct Setting {
  double n, p, d, a, b;
};
std::vector<Setting> settings() {
  std::vector<Setting> all;
  Stream stream({.seed = 41, .purpose = Purpose::diagnostics});
  for (double d : {2.0, 3.0, 40.0, 1e5})
    for (int i = 0; i < 50; ++i) {
      const double delta = std::pow(10.0, -6 + 7 * stream.uniform());
      all.push_back({3.7, 2 * stream.uniform() - 1, d, delta * (d - 1) / 3.7, 0.37 * delta * (d - 1) / 3.7});
    }
  return all;
}

TEST(MomentumUpdate, is_a_flow) {
  for (const Setting& s : settings()) {
    const auto first = momentum_update(s.n, s.p, 1.0, s.d, s.a);
    const auto second = momentum_update(s.n, first.projection, 1.0, s.d, s.b);
    const auto whole = momentum_update(s.n, s.p, 1.0, s.d, s.a + s.b);
    // The energies are logarithms of numbers of order cosh δ: their rounding grows with δ.
    EXPECT_NEAR(first.kinetic_change + second.kinetic_change, whole.kinetic_change,
                4e-15 * (s.d - 1) * (1 + whole.delta) * (1 + 1 / (1 + s.p)) * std::fmin(1, 10 * whole.delta));
    EXPECT_NEAR(second.projection, whole.projection, 1e-13 / (1 + s.p));
  }
}

TEST(MomentumUpdate, is_undone_by_the_opposite_length) {
  for (const Setting& s : settings()) {
    const auto there = momentum_update(s.n, s.p, 1.0, s.d, s.a);
    if (std::fabs(there.delta) > 3) continue;  // p' is 1 to rounding
    const auto back = momentum_update(s.n, there.projection, 1.0, s.d, -s.a);
    EXPECT_NEAR(back.projection, s.p, 1e-10);
    EXPECT_NEAR(back.kinetic_change, -there.kinetic_change, 1e-10 * (s.d - 1) * (1e-4 + there.delta));
    // The coefficients undo each other, too: u = b'(a e + b u) + a' e.
    EXPECT_NEAR(back.along_velocity * there.along_velocity, 1, 1e-10);
    EXPECT_NEAR(back.along_velocity * there.along_gradient + back.along_gradient, 0, 1e-10);
  }
}

TEST(MomentumUpdate, energy_is_the_logarithm_it_should_be) {
  for (const Setting& s : settings()) {
    const auto update = momentum_update(s.n, s.p, 1.0, s.d, s.a);
    const long double delta = (long double)(s.a) * s.n / (s.d - 1);
    const long double exact = (s.d - 1) * std::log(std::cosh(delta) + s.p * std::sinh(delta));
    const double magnitude = double((s.d - 1) * delta);
    EXPECT_NEAR(update.kinetic_change, double(exact), 1e-10 * magnitude);
  }
}

TEST(MomentumUpdate, renormalises_whatever_length_the_velocity_has) {
  for (double length : {1.0, 1 + 1e-7, 1 - 3e-4, 1 + 1e-3}) {
    for (const Setting& s : settings()) {
      const auto update = momentum_update(s.n, s.p * length, length * length, s.d, s.a);
      const double a = update.along_gradient, b = update.along_velocity * length;
      EXPECT_NEAR(a * a + 2 * a * b * s.p + b * b, 1, 1e-11 / ((1 + s.p) * (1 + s.p)));
    }
  }
}

template <class T>
void turn_against_the_gradient(double delta) {
  HostVector<T> g(3), u(3);
  g[0] = T(-3), g[1] = T(1.7), g[2] = T(0.4);
  const double norm = std::sqrt(kernels::norm2(g));
  for (std::size_t i = 0; i < 3; ++i) u[i] = T(-double(g[i]) / norm);
  const HostVector<T> before = u;
  const MomentumSums sums = kernels::reduce(g, u, {});
  const double n = std::sqrt(sums.gradient_norm2);
  const auto update = applied(momentum_update(n, sums.projection / n, sums.velocity_norm2, 3, 2 * delta / n));
  kernels::kick(u, g, {}, {update.along_gradient / n, update.along_velocity});
  EXPECT_TRUE(std::isfinite(update.kinetic_change));
  // A kick in single precision rounds terms of up to 1e6.
  EXPECT_NEAR(kernels::norm2(u), 1, sizeof(T) == 4 ? 0.2 : 1e-3) << "delta = " << delta;
}
// u = −e up to rounding is where a long update magnifies rounding without bound.
TEST(MomentumUpdate, stays_of_unit_norm_against_the_gradient) {
  for (double delta = 0.5; delta < 2000; delta *= 1.3) {
    turn_against_the_gradient<double>(delta);
    turn_against_the_gradient<float>(delta);
  }
}

TEST(Splitting, is_palindromic_and_consistent) {
  for (Integrator integrator : {Integrator::mclachlan, Integrator::velocity_verlet,
                                Integrator::position_verlet, Integrator::three_stage}) {
    const auto& substeps = splitting(integrator);
    double sums[2] = {};
    int gradients = 0;
    for (std::size_t i = 0; i < substeps.size(); ++i) {
      EXPECT_EQ(substeps[i].kind, substeps[substeps.size() - 1 - i].kind);
      EXPECT_EQ(substeps[i].fraction, substeps[substeps.size() - 1 - i].fraction);
      sums[substeps[i].kind] += substeps[i].fraction;
      gradients += substeps[i].kind == Substep::momentum && i > 0;
    }
    EXPECT_NEAR(sums[0], 1, 1e-14);
    EXPECT_NEAR(sums[1], 1, 1e-14);
    EXPECT_EQ(gradients, gradients_per_step(integrator));
  }
}

}  // namespace
}  // namespace smile

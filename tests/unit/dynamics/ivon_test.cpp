// SPDX-License-Identifier: Apache-2.0
// IVON's update against the formulas written out for one number.
#include "smile/dynamics/ivon.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "smile/random/stream.hpp"

namespace smile {
namespace {

using Vector = HostVector<double>;

Vector one(double x) {
  return Vector(1, x);
}

TEST(Ivon, UpdatesAsThePaperHasIt) {
  IvonOptions options;
  options.beta1 = 0.8, options.beta2 = 0.9, options.hessian_start = 0.5, options.effective_size = 20;
  options.weight_decay = 0.1;
  Ivon<double> ivon(options, 1);
  Vector mean = one(0.3), position = one(0);
  double m = 0.3, g = 0, h = 0.5;
  for (int t = 1; t <= 5; ++t) {
    // Two gradients an update.
    double gradient = 0, hessian = 0;
    for (const double n : {0.4 * t, -1.1}) {
      const double sd = 1 / std::sqrt(20 * (h + 0.1));
      ivon.draw(mean, one(n), position);
      EXPECT_NEAR(position[0], m + sd * n, 1e-14);
      const double seen = 2 * position[0] - 1 + 0.1 * t;
      ivon.observe(one(seen), one(n));
      gradient += seen / 2;
      hessian += seen * (position[0] - m) / (sd * sd) / 2;
    }
    ivon.update(mean, 0.2);
    g = 0.8 * g + 0.2 * gradient;
    h = 0.9 * h + 0.1 * hessian + 0.5 * 0.01 * (h - hessian) * (h - hessian) / (h + 0.1);
    m -= 0.2 * (0.5 + 0.1) * (g / (1 - std::pow(0.8, t)) + 0.1 * m) / (h + 0.1);
    EXPECT_NEAR(ivon.hessian()[0], h, 1e-12);
    EXPECT_NEAR(mean[0], m, 1e-12);
  }
}

TEST(Ivon, ClipsWhatItMovesByAndNeedNotRescaleTheRate) {
  IvonOptions options;
  options.clip_radius = 0.5, options.rescale = false, options.hessian_start = 3;
  Ivon<double> ivon(options, 1);
  Vector mean = one(1);
  ivon.observe(one(1e6), one(0));
  ivon.update(mean, 0.1);
  EXPECT_NEAR(mean[0], 1 - 0.1 * 0.5, 1e-14);
}

/// The square in the update of h is what keeps it positive, whatever the gradients.
TEST(Ivon, KeepsItsVariancesPositive) {
  IvonOptions options;
  options.beta2 = 0.5, options.effective_size = 10;
  Ivon<double> ivon(options, 1);
  Stream stream({.seed = 4, .purpose = Purpose::noise});
  Vector mean = one(0);
  for (int t = 0; t < 5000; ++t) {
    ivon.observe(one(-std::exp(4 * stream.normal())), one(stream.normal()));
    ivon.update(mean, 0);
    ASSERT_GT(ivon.hessian()[0], 0) << t;
    ASSERT_TRUE(std::isfinite(ivon.sd(0))) << t;
  }
}

}  // namespace
}  // namespace smile

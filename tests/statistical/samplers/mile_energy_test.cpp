// SPDX-License-Identifier: Apache-2.0
// The energy variance that MILE's tuner comes to: per dimension, or of the whole.
#include <gtest/gtest.h>

#include <vector>

#include "smile/samplers/mclmc.hpp"
#include "support/gaussian_target.hpp"
#include "support/stream_normals.hpp"

namespace smile {
namespace {

using Vector = HostVector<double>;
constexpr std::size_t kDimension = 400;

/// Mean of ΔE² over the sampling phase, after a warm-up that aims at 0.1.
double energy_variance(EnergyVarianceScale scale) {
  MclmcOptions options;
  options.tuner.scale = scale;
  MclmcSampler<Vector> sampler(options, {4000, 2000});
  test::GaussianTarget<double> target(std::vector<double>(kDimension), std::vector<double>(kDimension, 1), 0,
                                      1);
  test::StreamNormals<double> normals(5);
  sampler.start(Vector(kDimension, 0.5), target, normals);
  double sum = 0;
  for (std::uint64_t t = 1; t <= sampler.total_steps(); ++t) {
    const StepReport report = sampler.step(target, normals, t);
    if (t > sampler.warmup_steps()) sum += report.energy_change * report.energy_change / 2000;
  }
  return sum;
}

// The tuner's weights leave it within a factor of five of its aim; the two are a factor of 400 apart.
TEST(MileEnergy, is_of_a_dimension_or_of_the_whole) {
  const double of_dimension = energy_variance(EnergyVarianceScale::dimension);
  EXPECT_GT(of_dimension, 0.1 * kDimension / 8);
  EXPECT_LT(of_dimension, 0.1 * kDimension * 8);
  const double total = energy_variance(EnergyVarianceScale::total);
  EXPECT_GT(total, 0.1 / 8);
  EXPECT_LT(total, 0.1 * 8);
}

}  // namespace
}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
// What hmc, nuts and mams do at the borders: trajectories' lengths, divergences, densities that end.
#include <gtest/gtest.h>

#include <cmath>

#include "smile/samplers/hmc.hpp"
#include "smile/samplers/mams.hpp"
#include "smile/samplers/nuts.hpp"
#include "support/stream_normals.hpp"

namespace smile {
namespace {

using Vector = HostVector<double>;

/// A standard Gaussian that ends at a wall, behind which it is not a number.
class Walled final : public Target<Vector> {
 public:
  Walled(std::size_t d, double wall, double precision = 1) : d_(d), wall_(wall), precision_(precision) {}
  std::size_t dimension() const override { return d_; }
  double log_density_and_gradient(const Vector& x, Vector& g, std::uint64_t) override {
    ++evaluations;
    double value = 0;
    for (std::size_t i = 0; i < d_; ++i) g[i] = -precision_ * x[i], value += 0.5 * x[i] * g[i];
    return x[0] > wall_ ? std::nan("") : value;
  }
  int evaluations = 0;

 private:
  std::size_t d_;
  double wall_, precision_;
};

AdjustedOptions with_step(double step_size) {
  AdjustedOptions options;
  options.step_size = step_size;
  return options;
}

TEST(MamsSteps, have_the_mean_of_the_trajectory) {
  for (const double mean : {1.0, 1.3, 2.0, 2.5, 7.9, 100.25}) {
    double sum = 0;
    constexpr std::uint64_t kAll = 1 << 16;  // a whole round of the sequence
    for (std::uint64_t t = 0; t < kAll; ++t) sum += double(MamsSampler<Vector>::steps_of(t, mean));
    EXPECT_NEAR(sum / double(kAll), mean, 2e-3 * mean) << mean;
  }
  EXPECT_EQ(MamsSampler<Vector>::steps_of(5, 0.2), 1u);
  EXPECT_EQ(MamsSampler<Vector>::steps_of(5, std::nan("")), 1u);
}

TEST(Hmc, takes_the_steps_of_its_length_and_keeps_the_energy) {
  Walled target(3, 1e9);
  test::StreamNormals<double> normals(1);
  HmcSampler<Vector> sampler(with_step(0.01), {0, 10});
  sampler.start(Vector(3, 0.5), target, normals);
  for (std::uint64_t t = 1; t <= 10; ++t) {
    const StepReport report = sampler.step(target, normals, t);
    EXPECT_EQ(report.gradients, 157);  // round(π/2 / 0.01)
    EXPECT_TRUE(report.accepted());
    EXPECT_LT(std::fabs(report.energy_change), 1e-3);
    EXPECT_EQ(report.step_size, 0.01);
  }
}

TEST(Nuts, stops_where_the_trajectory_turns_back_or_at_the_depth) {
  Walled target(3, 1e9);
  test::StreamNormals<double> normals(1);
  NutsSampler<Vector> whole(with_step(0.1), {0, 200});
  whole.start(Vector(3, 0.5), target, normals);
  int sum = 0;
  for (std::uint64_t t = 1; t <= 200; ++t) {
    const StepReport report = whole.step(target, normals, t);
    EXPECT_LE(report.gradients, 127);
    sum += report.gradients;
  }
  // A half turn is 31 steps.
  EXPECT_GT(sum / 200, 15);
  EXPECT_LT(sum / 200, 64);
  AdjustedOptions shallow = with_step(1e-5);
  shallow.max_tree_depth = 4;
  NutsSampler<Vector> cut(shallow, {0, 5});
  cut.start(Vector(3, 0.5), target, normals);
  for (std::uint64_t t = 1; t <= 5; ++t) EXPECT_EQ(cut.step(target, normals, t).gradients, 15);
}

template <class Sampler>
void diverges_and_stays() {
  Walled steep(3, 1e9, 1e6);
  test::StreamNormals<double> normals(1);
  Sampler sampler(with_step(1), {0, 20});
  const Vector start(3, 0.01);
  sampler.start(start, steep, normals);
  for (std::uint64_t t = 1; t <= 20; ++t) {
    const StepReport report = sampler.step(steep, normals, t);
    EXPECT_EQ(report.refusal, Refusal::divergence);
    EXPECT_EQ(sampler.position()[0], start[0]);
  }
  ASSERT_EQ(sampler.findings().size(), 1u);
  EXPECT_NE(sampler.findings()[0].find("20 of 20 transitions diverged"), std::string::npos);
}
TEST(Adjusted, too_long_steps_diverge_and_are_told) {
  diverges_and_stays<HmcSampler<Vector>>();
  diverges_and_stays<NutsSampler<Vector>>();
  diverges_and_stays<MamsSampler<Vector>>();
}

template <class Sampler>
void stays_within_walls() {
  Walled target(2, 0.3);
  test::StreamNormals<double> normals(1);
  Sampler sampler({}, {300, 700});
  sampler.start(Vector(2, 0.0), target, normals);
  std::uint64_t moved = 0;
  for (std::uint64_t t = 1; t <= 1000; ++t) {
    moved += sampler.step(target, normals, t).accepted();
    ASSERT_LE(sampler.position()[0], 0.3);
  }
  EXPECT_GT(moved, 300u);
}
TEST(Adjusted, where_the_density_is_no_number_no_chain_goes) {
  stays_within_walls<HmcSampler<Vector>>();
  stays_within_walls<NutsSampler<Vector>>();
  stays_within_walls<MamsSampler<Vector>>();
}

TEST(Adjusted, a_start_without_a_density_is_a_refusal_of_every_step) {
  Walled target(2, -1);
  test::StreamNormals<double> normals(1);
  NutsSampler<Vector> sampler({}, {10, 10});
  sampler.start(Vector(2, 0.0), target, normals);
  for (std::uint64_t t = 1; t <= 20; ++t)
    EXPECT_EQ(sampler.step(target, normals, t).refusal, Refusal::log_density);
}

TEST(Adjusted, gradients_told_are_those_evaluated) {
  Walled target(5, 1e9);
  test::StreamNormals<double> normals(1);
  NutsSampler<Vector> sampler({}, {100, 20});
  sampler.start(Vector(5, 0.5), target, normals);
  EXPECT_EQ(target.evaluations, 1);
  int told = 1;
  for (std::uint64_t t = 1; t <= 120; ++t) told += sampler.step(target, normals, t).gradients;
  EXPECT_EQ(target.evaluations, told);
}

}  // namespace
}  // namespace smile

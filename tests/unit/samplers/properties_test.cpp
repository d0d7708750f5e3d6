// SPDX-License-Identifier: Apache-2.0
// Properties of the microcanonical samplers that hold at any parameters: reversal, order of convergence, unit
// norm, merged sweeps, the turning-angle rule.
#include <gtest/gtest.h>

#include <cmath>

#include "smile/samplers/mclmc.hpp"
#include "smile/samplers/microcanonical.hpp"
#include "support/gaussian_target.hpp"
#include "support/quadratic_target.hpp"
#include "support/stream_normals.hpp"

namespace smile {
namespace {

/// log p = −¼ Σ (x_i² − a_i)² − ½ k Σ (x_i − x_{i+1})²: neither quadratic nor independent.
class Quartic final : public Target<HostVector<double>> {
 public:
  std::size_t dimension() const override { return 6; }
  double log_density_and_gradient(const HostVector<double>& x, HostVector<double>& g,
                                  std::uint64_t) override {
    double value = 0;
    for (std::size_t i = 0; i < 6; ++i) g[i] = 0;
    for (std::size_t i = 0; i < 6; ++i) {
      const double a = 0.5 + 0.3 * double(i), well = x[i] * x[i] - a;
      value -= 0.25 * well * well;
      g[i] -= well * x[i];
      if (i + 1 == 6) break;
      const double gap = x[i] - x[i + 1];
      value -= 0.35 * gap * gap;
      g[i] -= 0.7 * gap;
      g[i + 1] += 0.7 * gap;
    }
    return value;
  }
};

MicrocanonicalOptions deterministic(Integrator integrator, double step_size) {
  MicrocanonicalOptions options;
  options.integrator = integrator;
  options.energy = EnergyMode::fresh;
  options.step_size = step_size;
  options.rule = StepSizeRule::fixed;
  options.tuner.reset_prob = 1;
  options.tuner.adaption_prob = 0;
  return options;
}

HostVector<double> somewhere() {
  return test::host<double>({0.3, -1.1, 0.8, 1.4, -0.2, 0.6});
}
HostVector<double> direction(std::size_t d) {
  HostVector<double> z(d), u(d);
  fill_normals({77, 0, Purpose::direction}, 5, z.span());
  kernels::unit_direction(u, z);
  return u;
}

class EachIntegrator : public testing::TestWithParam<Integrator> {};
INSTANTIATE_TEST_SUITE_P(Splittings, EachIntegrator,
                         testing::Values(Integrator::mclachlan, Integrator::velocity_verlet,
                                         Integrator::position_verlet, Integrator::three_stage));

TEST_P(EachIntegrator, step_is_undone_by_a_step_with_the_opposite_velocity) {
  Quartic target;
  test::StreamNormals<double> normals(1);
  MicrocanonicalSampler<HostVector<double>> sampler(deterministic(GetParam(), 0.37), {0, 10});
  sampler.start(somewhere(), target, normals);
  sampler.state().set_velocity(direction(6));
  const auto there = sampler.step(target, normals, 1);
  HostVector<double> opposite = sampler.state().velocity();
  for (std::size_t i = 0; i < 6; ++i) opposite[i] = -opposite[i];
  sampler.state().set_velocity(opposite);
  const auto back = sampler.step(target, normals, 2);
  const auto u = sampler.state().velocity();
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_NEAR(sampler.position()[i], somewhere()[i], 1e-13);
    EXPECT_NEAR(u[i], -direction(6)[i], 1e-13);
  }
  EXPECT_NEAR(there.energy_change, -back.energy_change, 1e-12);
}

TEST_P(EachIntegrator, energy_error_is_of_third_order) {
  Quartic target;
  test::StreamNormals<double> normals(1);
  std::vector<double> errors;
  for (double eps : {0.04, 0.02, 0.01}) {
    MicrocanonicalSampler<HostVector<double>> sampler(deterministic(GetParam(), eps), {0, 10});
    sampler.start(somewhere(), target, normals);
    sampler.state().set_velocity(direction(6));
    errors.push_back(sampler.step(target, normals, 1).energy_change);
  }
  // Halving the step divides the error by 8, up to the next order.
  for (int i : {0, 1}) EXPECT_NEAR(std::log2(errors[i] / errors[i + 1]), 3, 0.3);
}

/// Position error after a fixed time halves twice per halving of the step: second order.
TEST_P(EachIntegrator, trajectory_is_of_second_order) {
  Quartic target;
  test::StreamNormals<double> normals(1);
  const auto end = [&](int steps) {
    MicrocanonicalSampler<HostVector<double>> sampler(deterministic(GetParam(), 1.0 / steps), {0, 1000});
    sampler.start(somewhere(), target, normals);
    sampler.state().set_velocity(direction(6));
    for (int t = 1; t <= steps; ++t) sampler.step(target, normals, std::uint64_t(t));
    return sampler.position();
  };
  const auto exact = end(800);
  double error[2];
  for (int k : {0, 1}) {
    auto x = end(20 << k);
    for (std::size_t i = 0; i < 6; ++i) x[i] -= exact[i];
    error[k] = std::sqrt(kernels::norm2(x));
  }
  EXPECT_NEAR(std::log2(error[0] / error[1]), 2, 0.2);
}

template <class T>
test::GaussianTarget<T> noisy(std::size_t d, double noise) {
  std::vector<double> mean(d), precision(d);
  for (std::size_t i = 0; i < d; ++i) mean[i] = 0.1 * double(i % 5), precision[i] = 0.5 + double(i % 4);
  return {mean, precision, noise, 3};
}

MicrocanonicalOptions tuned_psmile(Normalisation normalisation) {
  MicrocanonicalOptions options;
  options.preconditioner.emplace();
  options.preconditioner->normalisation = normalisation;
  options.preconditioner->rate = 0.05;
  options.step_size = 0.08;
  return options;
}

template <class T>
void keep_unit_norm(double tolerance) {
  for (Integrator integrator : {Integrator::mclachlan, Integrator::position_verlet}) {
    auto options = tuned_psmile(Normalisation::rms_floor);
    options.integrator = integrator;
    MicrocanonicalSampler<HostVector<T>> sampler(options, {500, 500});
    auto target = noisy<T>(70, 4);
    test::StreamNormals<T> normals(2);
    sampler.start(HostVector<T>(70, T(0.4)), target, normals);
    for (std::uint64_t t = 1; t <= 1000; ++t) {
      sampler.step(target, normals, t);
      ASSERT_NEAR(std::sqrt(kernels::norm2(sampler.state().velocity())), 1, tolerance) << "step " << t;
    }
  }
}
TEST(Microcanonical, velocity_keeps_unit_norm_in_double) {
  keep_unit_norm<double>(1e-12);
}
TEST(Microcanonical, velocity_keeps_unit_norm_in_float) {
  keep_unit_norm<float>(2e-6);
}

/// The end of one step and the opening of the next in one sweep must do what the separate sweeps do.
TEST(Microcanonical, merged_sweeps_equal_separate_ones) {
  for (Integrator integrator :
       {Integrator::mclachlan, Integrator::velocity_verlet, Integrator::three_stage}) {
    for (int kind = 0; kind < 5; ++kind) {
      SCOPED_TRACE("kind " + std::to_string(kind));
      MicrocanonicalOptions options = tuned_psmile(kind == 1   ? Normalisation::rms_absolute
                                                   : kind == 2 ? Normalisation::inverse_rms
                                                               : Normalisation::rms_floor);
      options.integrator = integrator;
      options.tuner.reset_prob = 0.9;  // plenty of refused steps
      if (kind == 0) options.preconditioner.reset();
      if (kind == 3) options.preconditioner->centre = Centre::none;
      if (kind == 4) options.preconditioner->relative_floor = 0.7;
      const SamplingPlan plan{150, 150};
      MicrocanonicalSampler<HostVector<double>> merged(options, plan), separate(options, plan);
      auto target = noisy<double>(33, 6), same = noisy<double>(33, 6);
      test::StreamNormals<double> normals(5);
      merged.start(HostVector<double>(33, 0.2), target, normals);
      separate.start(HostVector<double>(33, 0.2), same, normals);
      int refused = 0;
      for (std::uint64_t t = 1; t <= 300; ++t) {
        const auto a = merged.step(target, normals, t), b = separate.step(same, normals, t);
        separate.state().set_velocity(separate.state().velocity());  // carries out what was deferred
        ASSERT_EQ(a.refusal, b.refusal) << "step " << t;
        refused += !a.accepted();
        for (std::size_t i = 0; i < 33; ++i)
          ASSERT_NEAR(merged.position()[i], separate.position()[i], 1e-8) << "step " << t;
      }
      EXPECT_GT(refused, 5);
    }
  }
}

TEST(TurningAngle, follows_the_gradient_norm_in_warmup_and_freezes_at_the_geometric_mean) {
  MicrocanonicalOptions options;
  options.preconditioner.emplace();
  options.rule = StepSizeRule::turn;
  options.turn_angle = 0.05;
  options.step_size = 0.3;
  options.tuner.reset_prob = 0.999;
  options.tuner.adaption_prob = 0;
  const std::size_t d = 12;
  auto target = noisy<double>(d, 5);
  test::StreamNormals<double> normals(9);
  MicrocanonicalSampler<HostVector<double>> sampler(options, {41, 20});
  HostVector<double> start(d, 0.7), g(d);
  target.log_density_and_gradient(start, g, 0);
  double q = kernels::norm2(g), log_sum = 0, frozen = 0;
  sampler.start(start, target, normals);
  for (std::uint64_t t = 1; t <= 61; ++t) {
    const auto report = sampler.step(target, normals, t);
    if (t == 1) {
      EXPECT_EQ(report.step_size, 0.3);
    }
    if (t > 20 && t <= 41) log_sum += std::log(report.step_size);
    q = 0.99 * q + 0.01 * report.gradient_norm * report.gradient_norm;
    if (t < 41) {
      ASSERT_NEAR(report.next_step_size, 0.05 * double(d - 1) / std::sqrt(q), 1e-12) << "step " << t;
    } else {
      if (t == 41) frozen = std::exp(log_sum / 21);
      ASSERT_NEAR(report.next_step_size, frozen, 1e-14) << "step " << t;
    }
    EXPECT_NEAR(report.turn_angle, report.step_size * report.gradient_norm / double(d - 1), 1e-15);
  }
}

TEST(TurningAngle, ends_at_the_same_step_size_from_any_start) {
  std::vector<double> ends;
  for (double start : {1e-5, 1e-3, 1e-1}) {
    MicrocanonicalOptions options;
    options.preconditioner.emplace();
    options.rule = StepSizeRule::turn;
    options.step_size = start;
    options.tuner.reset_prob = 0.999;
    options.tuner.adaption_prob = 0;
    auto target = noisy<double>(30, 20);
    test::StreamNormals<double> normals(4);
    MicrocanonicalSampler<HostVector<double>> sampler(options, {2000, 10});
    sampler.start(HostVector<double>(30, 0.2), target, normals);
    StepReport report;
    for (std::uint64_t t = 1; t <= 2000; ++t) report = sampler.step(target, normals, t);
    ends.push_back(report.next_step_size);
  }
  for (double end : ends) EXPECT_NEAR(end / ends[0], 1, 0.2);
}

TEST(TurningAngle, halves_the_step_after_one_that_is_not_finite) {
  MicrocanonicalOptions options;
  options.rule = StepSizeRule::turn;
  options.tuner.reset_prob = 0.999;
  options.tuner.adaption_prob = 0;
  const double nan = std::nan("");
  test::QuadraticTarget<double> target({{1, 0.2}, {0.2, 2}}, {0.3, -0.1}, {},
                                       {{5, 1, false, 0, nan}, {6, 0, true, 1, nan}, {15, 0, false, 0, nan}});
  test::StreamNormals<double> normals(1);
  MicrocanonicalSampler<HostVector<double>> sampler(options, {10, 10});
  sampler.start(test::host<double>({0.5, 0.5}), target, normals);
  std::vector<StepReport> reports(1);
  for (std::uint64_t t = 1; t <= 20; ++t) reports.push_back(sampler.step(target, normals, t));
  EXPECT_EQ(reports[5].refusal, Refusal::log_density);
  EXPECT_EQ(reports[5].next_step_size, reports[5].step_size / 2);
  EXPECT_EQ(reports[6].refusal, Refusal::gradient);
  EXPECT_EQ(reports[6].next_step_size, reports[6].step_size / 2);
  EXPECT_GT(reports[8].step_size, 2 * reports[7].step_size);
  EXPECT_EQ(reports[16].step_size, reports[15].step_size / 2);  // the frozen one, for one step
  EXPECT_EQ(reports[17].step_size, reports[15].step_size);
}

}  // namespace
}  // namespace smile

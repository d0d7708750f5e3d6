// SPDX-License-Identifier: Apache-2.0
// Numerical trouble inside a chain: densities that are not finite everywhere, and what must never be stored.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sampler_kinds.hpp"
#include "smile/statistics/convergence.hpp"
#include "support/quadratic_target.hpp"
#include "support/stream_normals.hpp"

namespace smile {
namespace {

/// Standard normal whose log-density is NaN where `forbidden` says so; the gradient is finite everywhere.
template <class T, class Forbidden>
class Holed final : public Target<HostVector<T>> {
 public:
  Holed(std::size_t dimension, Forbidden forbidden) : dimension_(dimension), forbidden_(forbidden) {}
  std::size_t dimension() const override { return dimension_; }
  double log_density_and_gradient(const HostVector<T>& x, HostVector<T>& g, std::uint64_t) override {
    for (std::size_t i = 0; i < x.size(); ++i) g[i] = -x[i];
    return forbidden_(x) ? std::nan("") : -0.5 * kernels::norm2(x);
  }

 private:
  std::size_t dimension_;
  Forbidden forbidden_;
};

constexpr double kWall = 2.5;
const auto outside_the_box = [](const HostVector<double>& x) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (std::fabs(x[i]) > kWall) return true;
  return false;
};

/// Runs a sampler whose first step is ten times the width of the box, and compares with the truncated normal.
void stays_in_the_box(Sampler<HostVector<double>>& sampler, double first_step) {
  const std::size_t d = 4;
  Holed<double, decltype(outside_the_box)> target(d, outside_the_box);
  test::StreamNormals<double> normals(12);
  sampler.start(HostVector<double>(d, 0.1), target, normals);
  std::size_t refused = 0;
  StepReport report;
  std::vector<std::vector<double>> draws(d), squares(d);
  for (std::uint64_t t = 1; t <= sampler.total_steps(); ++t) {
    report = sampler.step(target, normals, t);
    refused += report.refusal == Refusal::log_density;
    ASSERT_FALSE(outside_the_box(sampler.position())) << "step " << t;
    ASSERT_TRUE(std::isfinite(report.log_density)) << "step " << t;
    if (t > sampler.warmup_steps())
      for (std::size_t i = 0; i < d; ++i) {
        draws[i].push_back(sampler.position()[i]);
        squares[i].push_back(sampler.position()[i] * sampler.position()[i]);
      }
  }
  EXPECT_GT(refused, 3u);
  EXPECT_LT(report.next_step_size, first_step / 5);
  const double density = std::exp(-0.5 * kWall * kWall) / std::sqrt(2 * std::numbers::pi);
  const double variance = 1 - 2 * kWall * density / std::erf(kWall / std::numbers::sqrt2);
  const auto z = [](const std::vector<double>& values, double truth) {
    double mean = 0, square = 0;
    for (double v : values) mean += v, square += v * v;
    const double n = double(values.size());
    mean /= n;
    const double ess = convergence(values, 1).ess_mean;
    return (mean - truth) / std::sqrt((square / n - mean * mean) / ess);
  };
  for (std::size_t i = 0; i < d; ++i) {
    EXPECT_LT(std::fabs(z(draws[i], 0)), 5);
    EXPECT_LT(std::fabs(z(squares[i], variance)), 5);
  }
}

TEST(BoundedDensity, smile_shrinks_its_step) {
  MicrocanonicalOptions options;
  options.step_size = 10;
  options.decoherence_length = 2;
  options.adapt_in_sampling = false;
  MicrocanonicalSampler<HostVector<double>> sampler(options, {2000, 30000});
  stays_in_the_box(sampler, options.step_size);
}

TEST(BoundedDensity, mclmc_shrinks_its_step) {
  MclmcOptions options;
  options.tuner.step_size_init = 10;
  options.tuner.desired_energy_var_start = 1e-2;
  options.tuner.desired_energy_var_end = 1e-3;
  MclmcSampler<HostVector<double>> sampler(options, {2000, 30000});
  stays_in_the_box(sampler, options.tuner.step_size_init);
}

class ValueNotFinite : public testing::TestWithParam<test::Kind> {};
INSTANTIATE_TEST_SUITE_P(Samplers, ValueNotFinite, testing::ValuesIn(test::kinds()),
                         [](const auto& kind) { return std::string(kind.param.name); });

TEST_P(ValueNotFinite, is_refused_and_never_stored) {
  using F = test::F;
  // A thin wall: trajectories jump across it, and land in it at times.
  const auto in_the_wall = [](const F& x) { return x[0] > 0.3f && x[0] < 0.6f; };
  Holed<float, decltype(in_the_wall)> target(4, in_the_wall);
  test::StreamNormals<float> normals(3);
  auto sampler = GetParam().make();
  sampler->start(test::host<float>({0.29, 0.2, -0.4, 1.1}), target, normals);
  std::size_t refused = 0;
  bool accepted = false;
  F before = sampler->position();
  for (std::uint64_t t = 1; t <= 400; ++t) {
    const StepReport report = sampler->step(target, normals, t);
    accepted = accepted || report.accepted();
    const F& after = sampler->position();
    ASSERT_TRUE(kernels::all_finite(after));
    if (accepted) {
      ASSERT_TRUE(std::isfinite(report.log_density));
    }
    if (!report.accepted()) {
      ++refused;
      ASSERT_EQ(test::plain(before), test::plain(after)) << "a refused step moved the chain";
    }
    if (const auto* chain = dynamic_cast<const MicrocanonicalSampler<F>*>(sampler.get())) {
      ASSERT_TRUE(kernels::all_finite(chain->state().velocity()));
      ASSERT_TRUE(kernels::all_finite(chain->state().carried_gradient()));
    }
    before = after;
  }
  EXPECT_GT(refused, 0u);
}

/// position-verlet carries a value only; one that is not finite at the start must not stop the chain for
/// good.
TEST(ValueAtTheStart, that_is_not_finite_does_not_stop_the_chain) {
  for (Integrator integrator : {Integrator::mclachlan, Integrator::position_verlet}) {
    MicrocanonicalOptions options;
    options.integrator = integrator;
    options.step_size = 0.2;
    test::QuadraticTarget<double> target({{1, 0.2}, {0.2, 2}}, {0.3, -0.1}, {},
                                         {{0, 0, false, 0, std::nan("")}});
    test::StreamNormals<double> normals(1);
    MicrocanonicalSampler<HostVector<double>> sampler(options, {10, 10});
    sampler.start(test::host<double>({0.5, 0.5}), target, normals);
    EXPECT_TRUE(sampler.step(target, normals, 1).accepted());
    EXPECT_NE(sampler.position()[0], 0.5);
  }
}

TEST(OneParameter, is_refused_where_the_dynamics_divide_by_d_minus_1) {
  const auto anywhere = [](const HostVector<float>&) { return false; };
  Holed<float, decltype(anywhere)> target(1, anywhere);
  test::StreamNormals<float> normals(3);
  for (const auto& kind : test::kinds()) {
    auto sampler = kind.make();
    const std::string name = kind.name;
    if (name.find("smile") == std::string::npos && name.find("mclmc") == std::string::npos &&
        name != "mams") {
      sampler->start(HostVector<float>(1, 0.2f), target, normals);
      EXPECT_TRUE(is_finite_step(sampler->step(target, normals, 1).refusal)) << name;
      continue;
    }
    try {
      sampler->start(HostVector<float>(1, 0.2f), target, normals);
      ADD_FAILURE() << name << " accepted a density of one parameter";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("one parameter"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
// Replays default_sampler: the reference scale `half` of the preconditioner and the strength of the noise
// that is tied to the turning angle. And what an isokinetic sampler does with them: noise once a step, an ŝ
// that freezes.
#include <gtest/gtest.h>

#include <cmath>

#include "smile/dynamics/refreshment.hpp"
#include "smile/random/stream.hpp"
#include "smile/samplers/microcanonical.hpp"
#include "support/quadratic_target.hpp"
#include "support/stream_normals.hpp"

namespace smile {
namespace {

using test::Json;

template <class T>
void replay_reference_scale(const Json& file, const char* precision) {
  const test::Tolerance tolerance = test::tolerance(file.at("tolerance").at(precision));
  ASSERT_FALSE(file.at("cases").empty());
  for (const Json& c : file["cases"]) {
    SCOPED_TRACE(c.at("name").get<std::string>());
    const Json& input = c.at("input");
    ASSERT_EQ(test::unknown_keys(input, {"s", "lower", "upper"}), "");
    ASSERT_EQ(input.at("lower").get<double>(), 0.1);
    ASSERT_EQ(input.at("upper").get<double>(), 10);
    std::vector<double> squares = test::numbers(input.at("s"));
    for (double& s : squares) s *= s;
    const auto variance = test::host<T>(squares);
    const Scaling scaling = kernels::normalise(variance, Normalisation::half_reference, 0.03);
    EXPECT_EQ(test::mismatch(10 * std::sqrt(scaling.lower), c.at("expected").at("m"), tolerance), "");
    EXPECT_EQ(test::mismatch(std::sqrt(scaling.upper) / 10, c.at("expected").at("m"), tolerance), "");
    std::vector<double> clipped, scale;
    for (std::size_t i = 0; i < variance.size(); ++i) {
      clipped.push_back(std::sqrt(std::min(std::max(double(variance[i]), scaling.lower), scaling.upper)));
      scale.push_back(clipped.back() / scaling.factor);
    }
    EXPECT_EQ(test::mismatch(clipped, test::numbers(c["expected"].at("c")), tolerance), "");
    EXPECT_EQ(test::mismatch(scale, test::numbers(c["expected"].at("shat")), tolerance), "");
  }
}

TEST(DefaultSampler, reference_scale_that_heavy_tails_do_not_move) {
  const Json file = test::load_vectors("default_sampler");
  ASSERT_EQ(test::unknown_keys(file, {"topic", "spec", "description", "tolerance", "cases", "noise"}), "");
  replay_reference_scale<double>(file, "float64");
  replay_reference_scale<float>(file, "float32");
}

TEST(DefaultSampler, noise_is_tied_to_the_turning_angle) {
  const Json file = test::load_vectors("default_sampler");
  const test::Tolerance tolerance = test::tolerance(file.at("tolerance").at("float64"));
  ASSERT_FALSE(file.at("noise").empty());
  for (const Json& c : file["noise"]) {
    const Json &input = c.at("input"), &expected = c.at("expected");
    ASSERT_EQ(test::unknown_keys(input, {"batches_per_epoch", "step_size", "dimension", "turn_angle"}), "");
    const TurningNoise noise{turning_noise_share(input.at("batches_per_epoch").get<std::size_t>()),
                             input.at("turn_angle")};
    const double step = input.at("step_size"), d = input.at("dimension");
    EXPECT_EQ(test::mismatch(noise.share, expected.at("lambda"), tolerance), "");
    EXPECT_EQ(test::mismatch(noise.decoherence_length(step), expected.at("decoherence_length"), tolerance),
              "");
    EXPECT_EQ(test::mismatch(noise.strength(d), expected.at("nu_small_angle"), tolerance), "");
    // The form of spec 1.6 with that length, over a whole step.
    EXPECT_EQ(test::mismatch(refreshment_strength(step, noise.decoherence_length(step), d),
                             expected.at("nu_exact"), tolerance),
              "");
  }
}

/// Σ of noise that is a function of the step, on −½ Σ i θ_i².
class Noisy final : public Target<HostVector<double>> {
 public:
  explicit Noisy(double noise = 0.5) : noise_(noise) {}
  std::size_t dimension() const override { return 6; }
  double log_density_and_gradient(const HostVector<double>& x, HostVector<double>& g,
                                  std::uint64_t step) override {
    Stream stream({7, 0, Purpose::gradient_noise}, step);
    double value = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double noise = noise_ * double(i + 1) * stream.normal();
      value += x[i] * (noise - 0.5 * x[i]);
      g[i] = noise - x[i];
    }
    return value;
  }

 private:
  double noise_;
};

const std::vector<double> kStart{0.3, -0.2, 0.5, 0.1, 0.7, -0.4};

/// Without a gradient nothing but the noise turns the velocity: u ← (u + ν z)/‖u + ν z‖ once a step.
TEST(TurningNoise, comes_once_a_step_at_its_start) {
  class Flat final : public Target<HostVector<double>> {
   public:
    std::size_t dimension() const override { return 6; }
    double log_density_and_gradient(const HostVector<double>&, HostVector<double>& g,
                                    std::uint64_t) override {
      for (std::size_t i = 0; i < 6; ++i) g[i] = 0;
      return 0;
    }
  } target;
  for (const Integrator integrator : {Integrator::position_verlet, Integrator::mclachlan}) {
    MicrocanonicalOptions options;
    options.integrator = integrator;
    options.rule = StepSizeRule::fixed;
    options.guardrail = false;
    options.step_size = 0.25;
    options.decoherence_length.reset();
    options.noise_share = 2.35;
    options.turn_angle = 0.6;
    MicrocanonicalSampler<HostVector<double>> sampler(options, {0, 10});
    test::GivenNormals<double> normals;
    const std::vector<double> z{1, -2, 0.5, 0.25, -1, 3};
    normals.give(Purpose::opening_refreshment, 1, z);
    sampler.start(test::host<double>(kStart), target, normals);
    const std::vector<double> u{0.5, 0.5, -0.5, 0, 0.5, 0};
    sampler.state().set_velocity(test::host<double>(u));
    ASSERT_TRUE(sampler.step(target, normals, 1).accepted());
    const double nu = std::sqrt(2.35 / 6) * 0.6;
    std::vector<double> turned(6);
    double norm2 = 0;
    for (std::size_t i = 0; i < 6; ++i) turned[i] = u[i] + nu * z[i], norm2 += turned[i] * turned[i];
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_NEAR(sampler.state().velocity()[i], turned[i] / std::sqrt(norm2), 1e-14);
      EXPECT_NEAR(sampler.position()[i], kStart[i] + 0.25 * turned[i] / std::sqrt(norm2), 1e-14);
    }
  }
  MicrocanonicalOptions unknown;
  unknown.decoherence_length.reset();
  EXPECT_THROW(MicrocanonicalSampler<HostVector<double>>(unknown, {0, 10}), Error);
}

/// At step ⌊0.9 W⌋ ŝ becomes that of the mean of s² over (0.6 W, 0.9 W], and stays; ε is the geometric mean
/// over the last two thirds of (0.9 W, W].
TEST(PreconditionerFreeze, takes_the_mean_of_late_warmup_and_stays) {
  MicrocanonicalOptions options;
  options.preconditioner.emplace();
  options.preconditioner->rate = 0.1;
  options.integrator = Integrator::position_verlet;
  options.rule = StepSizeRule::turn;
  options.tuner.adaption_prob = 0;
  options.tuner.reset_prob = 0.999;
  constexpr SamplingPlan plan{100, 50};
  MicrocanonicalSampler<HostVector<double>> moving(options, plan);
  options.preconditioner_freeze = 0.9;
  MicrocanonicalSampler<HostVector<double>> frozen(options, plan);
  const auto freeze = freeze_plan_of(options, plan);
  ASSERT_TRUE(freeze);
  EXPECT_EQ(freeze->after, 60u);
  EXPECT_EQ(freeze->last, 90u);
  EXPECT_EQ(freeze->step_size_after, 94u);
  Noisy target;
  test::StreamNormals<double> normals(3);
  moving.start(test::host<double>(kStart), target, normals);
  frozen.start(test::host<double>(kStart), target, normals);
  std::vector<double> mean(6);
  double log_sum = 0;
  for (std::uint64_t t = 1; t <= 150; ++t) {
    if (t <= 90) {
      moving.step(target, normals, t);
      const auto seen = moving.state().preconditioner();
      for (std::size_t i = 0; t > 60 && i < 6; ++i) mean[i] += seen.variance()[i] / 30;
    }
    const StepReport report = frozen.step(target, normals, t);
    if (t < 90) {
      ASSERT_EQ(test::plain(frozen.position()), test::plain(moving.position())) << "step " << t;
    } else {
      const auto kept = frozen.state().preconditioner();
      EXPECT_TRUE(kept.frozen());
      for (std::size_t i = 0; i < 6; ++i)
        ASSERT_NEAR(kept.variance()[i], mean[i], 1e-12 * mean[i]) << "step " << t;
    }
    if (t > 94 && t <= 100) log_sum += std::log(report.step_size);
    if (t > 100) {
      ASSERT_NEAR(report.step_size, std::exp(log_sum / 6), 1e-14) << "step " << t;
    }
  }
  options.preconditioner_freeze = 1;
  EXPECT_EQ(freeze_plan_of(options, plan)->last, 100u);
  EXPECT_FALSE(freeze_plan_of(options, {0, 50}));
  options.preconditioner.reset();
  EXPECT_FALSE(freeze_plan_of(options, plan));
}

/// An ŝ that has frozen is out of reach of a refused step, too.
TEST(PreconditionerFreeze, holds_in_the_paper_s_samplers) {
  MicrocanonicalOptions options;
  options.step_size = 0.3;
  options.preconditioner.emplace();
  options.preconditioner_freeze = 0.5;
  options.tuner.reset_prob = 0.8;
  MicrocanonicalSampler<HostVector<float>> sampler(options, {40, 200});
  class Single final : public Target<HostVector<float>> {
   public:
    std::size_t dimension() const override { return 6; }
    double log_density_and_gradient(const HostVector<float>& x, HostVector<float>& g,
                                    std::uint64_t step) override {
      Stream stream({7, 0, Purpose::gradient_noise}, step);
      double value = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double noise = 0.5 * stream.normal();
        value += double(x[i]) * (noise - 0.5 * double(x[i]));
        g[i] = float(noise - double(x[i]));
      }
      return value;
    }
  } target;
  test::StreamNormals<float> normals(3);
  sampler.start(test::host<float>(kStart), target, normals);
  std::vector<double> kept;
  std::size_t refused = 0;
  for (std::uint64_t t = 1; t <= 240; ++t) {
    refused += !sampler.step(target, normals, t).accepted() && t > 20;
    if (t == 20) kept = test::plain(sampler.state().preconditioner().variance());
    if (t > 20) {
      ASSERT_EQ(test::plain(sampler.state().preconditioner().variance()), kept) << "step " << t;
    }
  }
  EXPECT_GT(refused, 5u);
}

/// position-verlet is velocity-verlet seen half a step earlier: between its midpoints it has the same
/// positions and the same ΔE, without an evaluation of its own.
TEST(MidpointEnergy, is_that_of_velocity_verlet_half_a_step_earlier) {
  MicrocanonicalOptions options;
  options.rule = StepSizeRule::fixed;
  options.step_size = 0.4;
  options.tuner.reset_prob = 1 - 1e-12;  // judged, not refused
  options.tuner.adaption_prob = 0;
  options.integrator = Integrator::position_verlet;
  options.energy = EnergyMode::midpoint;
  MicrocanonicalSampler<HostVector<double>> midpoint(options, {0, 100});
  options.integrator = Integrator::velocity_verlet;
  options.energy = EnergyMode::carried;
  MicrocanonicalSampler<HostVector<double>> velocity(options, {0, 100});
  Noisy target(0);  // one batch
  test::StreamNormals<double> normals(3);
  const std::vector<double> u{0.5, 0.5, -0.5, 0, 0.5, 0};
  midpoint.start(test::host<double>(kStart), target, normals);
  midpoint.state().set_velocity(test::host<double>(u));
  const StepReport first = midpoint.step(target, normals, 1);
  EXPECT_TRUE(first.accepted());
  EXPECT_TRUE(std::isnan(first.energy_change));
  EXPECT_EQ(first.gradients, 1);
  // The point of that step's gradient, and the velocity in the middle of its kick.
  std::vector<double> middle(6);
  for (std::size_t i = 0; i < 6; ++i) middle[i] = kStart[i] + 0.2 * u[i];
  velocity.start(test::host<double>(middle), target, normals);
  const auto gradient = velocity.state().carried_gradient();
  double n2 = 0, p = 0;
  for (std::size_t i = 0; i < 6; ++i) n2 += gradient[i] * gradient[i], p += gradient[i] * u[i];
  const auto half = momentum_update(std::sqrt(n2), p / std::sqrt(n2), 1.0, 6, 0.2);
  HostVector<double> turned(6);
  for (std::size_t i = 0; i < 6; ++i)
    turned[i] = half.along_gradient * gradient[i] / std::sqrt(n2) + half.along_velocity * u[i];
  velocity.state().set_velocity(turned);
  for (std::uint64_t t = 2; t <= 50; ++t) {
    const StepReport a = midpoint.step(target, normals, t), b = velocity.step(target, normals, t);
    ASSERT_TRUE(a.accepted() && b.accepted());
    EXPECT_EQ(a.gradients, 1);
    EXPECT_NEAR(a.energy_change, b.energy_change, 1e-9) << "step " << t;
    EXPECT_NEAR(a.log_density, b.log_density, 1e-9) << "step " << t;
  }
}

/// After a refused step ΔE is measured from the last accepted midpoint.
TEST(MidpointEnergy, starts_again_from_the_accepted_state) {
  MicrocanonicalOptions options;
  options.rule = StepSizeRule::fixed;
  options.step_size = 0.4;
  options.tuner.reset_prob = 1 - 1e-12;
  options.tuner.adaption_prob = 0;
  options.integrator = Integrator::position_verlet;
  options.energy = EnergyMode::midpoint;
  class Broken final : public Target<HostVector<double>> {
   public:
    std::size_t dimension() const override { return 6; }
    double log_density_and_gradient(const HostVector<double>& x, HostVector<double>& g,
                                    std::uint64_t step) override {
      const double value = clean.log_density_and_gradient(x, g, 0);
      return step == 4 ? std::nan("") : value;
    }
    Noisy clean{0};
  } target;
  MicrocanonicalSampler<HostVector<double>> sampler(options, {0, 100}), without(options, {0, 100});
  test::StreamNormals<double> normals(3);
  sampler.start(test::host<double>(kStart), target, normals);
  without.start(test::host<double>(kStart), target, normals);
  for (std::uint64_t t = 1; t <= 3; ++t) sampler.step(target, normals, t), without.step(target, normals, t);
  EXPECT_FALSE(sampler.step(target, normals, 4).accepted());
  // The velocity is redrawn after a step that was not finite; ΔE counts from it.
  without.state().set_velocity(sampler.state().velocity());
  for (std::uint64_t t = 5; t <= 8; ++t) {
    const StepReport a = sampler.step(target, normals, t), b = without.step(target, normals, t);
    EXPECT_EQ(a.energy_change, b.energy_change) << "step " << t;
    EXPECT_TRUE(std::isfinite(a.energy_change));
  }
}

}  // namespace
}  // namespace smile

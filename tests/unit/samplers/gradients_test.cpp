// SPDX-License-Identifier: Apache-2.0
// How many gradients a step takes: what a sampler's definition says, what its reports say, and what the
// target is asked for.
#include <gtest/gtest.h>

#include "sampler_kinds.hpp"
#include "support/quadratic_target.hpp"
#include "support/stream_normals.hpp"

namespace smile {
namespace {

using test::F;

/// A standard normal that counts what it is asked for.
class Counted final : public Target<F> {
 public:
  std::size_t dimension() const override { return 4; }
  double log_density_and_gradient(const F& x, F& gradient, std::uint64_t) override {
    ++gradients;
    for (std::size_t i = 0; i < x.size(); ++i) gradient[i] = -x[i];
    return -0.5 * kernels::norm2(x);
  }
  double log_density(const F& x, std::uint64_t) override { return -0.5 * kernels::norm2(x); }
  std::uint64_t gradients = 0;
};

constexpr std::uint64_t kSteps = 120;
constexpr SamplingPlan kPhases{70, 50};

template <class S, class Options>
void expect_as_defined(const Options& options, const char* what) {
  SCOPED_TRACE(what);
  S sampler(options, kPhases);
  Counted target;
  test::StreamNormals<float> normals(5);
  sampler.start(test::host<float>({0.3, -0.2, 0.5, 0.1}), target, normals);
  target.gradients = 0;
  std::uint64_t reported = 0;
  for (std::uint64_t t = 1; t <= kSteps; ++t) {
    const std::uint64_t before = target.gradients;
    const StepReport report = sampler.step(target, normals, t);
    reported += std::uint64_t(report.gradients);
    ASSERT_TRUE(is_finite_step(report.refusal));
    ASSERT_EQ(target.gradients - before, std::uint64_t(report.gradients)) << "step " << t;
    ASSERT_EQ(target.gradients, gradients_of(options, t)) << "step " << t;
  }
  EXPECT_EQ(reported, gradients_of(options, kSteps));
}

TEST(Gradients, are_those_of_the_samplers_definition) {
  for (const Integrator integrator : {Integrator::mclachlan, Integrator::velocity_verlet,
                                      Integrator::position_verlet, Integrator::three_stage}) {
    MclmcOptions full_batch;
    full_batch.integrator = integrator;
    expect_as_defined<MclmcSampler<F>>(full_batch, "mclmc");
    for (const EnergyMode energy : {EnergyMode::carried, EnergyMode::fresh})
      for (const StepSizeRule rule : {StepSizeRule::fixed, StepSizeRule::energy, StepSizeRule::turn})
        for (const bool guardrail : {true, false}) {
          MicrocanonicalOptions options;
          options.integrator = integrator;
          options.energy = energy;
          options.rule = rule;
          options.guardrail = guardrail;
          expect_as_defined<MicrocanonicalSampler<F>>(options, "microcanonical");
        }
  }
  expect_as_defined<LangevinSampler<F>>(LangevinOptions{}, "sgld");
  expect_as_defined<SghmcSampler<F>>(SghmcOptions{}, "sghmc");
  expect_as_defined<SgnhtSampler<F>>(SgnhtOptions{}, "sgnht");
  // Its averages take the gradient kept from the step before: warm-up costs no second one.
  expect_as_defined<ScaleAdaptedSampler<F>>(ScaleAdaptedOptions{}, "adasghmc");
}

/// With carried gradients, the step that has one more is the one that an audit interval announces.
TEST(Gradients, of_an_audit_are_one_more) {
  MicrocanonicalOptions options;
  options.rule = StepSizeRule::turn;
  MicrocanonicalSampler<F> sampler(options, kPhases);
  ASSERT_EQ(sampler.audit_interval(), kAuditInterval);
  Counted target;
  test::StreamNormals<float> normals(5);
  sampler.start(test::host<float>({0.3, -0.2, 0.5, 0.1}), target, normals);
  for (std::uint64_t t = 1; t <= kSteps; ++t)
    ASSERT_EQ(sampler.step(target, normals, t).gradients, t % kAuditInterval == 0 ? 3 : 2) << t;
  options.rule = StepSizeRule::energy;
  EXPECT_EQ(MicrocanonicalSampler<F>(options, kPhases).audit_interval(), 0u);
}

}  // namespace
}  // namespace smile

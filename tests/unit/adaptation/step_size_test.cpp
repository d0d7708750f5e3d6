// SPDX-License-Identifier: Apache-2.0
// The rules for the step size as values: what they say, when they freeze, and that a restored one goes on.
#include "smile/adaptation/step_size.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace smile {
namespace {

constexpr SamplingPlan kPlan{10, 20};

StepSeen<double> seen(double gradient_norm, bool finite = true, EnergyTuner::Verdict verdict = {}) {
  return {finite, gradient_norm, 101, verdict};
}
EnergyTuner::Verdict moved_by(double factor) {
  EnergyTuner::Verdict verdict;
  verdict.moves = true;
  verdict.factor = factor;
  return verdict;
}
/// Carries `rule` to its end, both as it is and saved and restored on the way.
void expect_to_go_on_restored(StepSize rule, StepSize fresh, std::uint64_t at) {
  const auto observe = [](StepSize& of, std::uint64_t t) {
    of.observe(t, seen(double(100 + t), t % 7 != 3, moved_by(t % 3 == 0 ? 0.9 : 1.1)));
    if (t == kPlan.warmup_steps) of.freeze();
  };
  std::uint64_t t = 1;
  for (; t <= at; ++t) observe(rule, t);
  Archive out;
  rule.serialise(out);
  Archive in(out.take_bytes());
  fresh.serialise(in);
  EXPECT_TRUE(in.exhausted());
  for (; t <= 30; ++t) {
    EXPECT_EQ(fresh.size(t).step_size, rule.size(t).step_size) << "step " << t;
    observe(rule, t);
    observe(fresh, t);
  }
  EXPECT_EQ(fresh.tuned(0.1, 30), rule.tuned(0.1, 30));
}

TEST(ScheduledStepSize, takes_the_schedule_of_the_phase) {
  const Schedule cosine{ScheduleKind::cosine, 0.4, 0.1, 2, 0.3};
  const ScheduledStepSize<double> rule({}, cosine, kPlan, 0.25);
  for (std::uint64_t t = 1; t <= 10; ++t) EXPECT_EQ(rule.size(t).step_size, 0.25);
  for (std::uint64_t t = 11; t <= 30; ++t) {
    EXPECT_EQ(rule.size(t).step_size, cosine.at(t - 11, 20).step_size);
    EXPECT_EQ(rule.size(t).exploring, (t - 11) % 10 < 3);
  }
}

TEST(EnergyStepSize, follows_the_verdicts_and_freezes_where_it_is_asked_to) {
  EnergyStepSize always(0.5, true, kPlan), warmup(0.5, false, kPlan);
  double log_sum = 0, now = 0.5;
  for (std::uint64_t t = 1; t <= 10; ++t) {
    if (t > 5) log_sum += std::log(now);
    always.observe(t, seen(1, true, moved_by(0.5)));
    warmup.observe(t, seen(1, true, moved_by(0.5)));
    now *= 0.5;
    EXPECT_EQ(always.size(t + 1).step_size, now);
  }
  always.freeze(), warmup.freeze();
  always.observe(11, seen(1, true, moved_by(4)));
  warmup.observe(11, seen(1, true, moved_by(4)));
  EXPECT_EQ(always.size(12).step_size, 4 * now);
  EXPECT_EQ(warmup.size(12).step_size, std::exp(log_sum / 5));
  always.observe(12, seen(1));
  EXPECT_EQ(always.size(13).step_size, 4 * now) << "a verdict that moves nothing";
  for (std::uint64_t t = 13; t < 60; ++t) always.observe(t, seen(1, true, moved_by(4)));
  EXPECT_EQ(always.size(60).step_size, 10) << "its upper end";
}

TEST(TurningStepSize, halves_after_each_step_that_is_not_finite) {
  TurningStepSize rule(0.01, 0.06, 0.01, kPlan);
  EXPECT_EQ(rule.size(1).step_size, 0.01);
  rule.start(300, 101);
  EXPECT_EQ(rule.size(1).step_size, 0.01) << "the first step is as asked for";
  rule.observe(1, seen(300));
  const double settled = rule.size(2).step_size;
  EXPECT_DOUBLE_EQ(settled, 0.06 * 100 / 300);
  rule.observe(2, seen(1, false));
  EXPECT_EQ(rule.size(3).step_size, settled / 2);
  rule.observe(3, seen(1, false));
  EXPECT_EQ(rule.size(4).step_size, settled / 4);
  for (std::uint64_t t = 4; t <= 10; ++t) rule.observe(t, seen(300));
  rule.freeze();
  const double frozen = rule.size(11).step_size;
  for (std::uint64_t t = 11; t <= 30; ++t) {
    EXPECT_EQ(rule.size(t).step_size, frozen);
    rule.observe(t, seen(3000));
  }
}

TEST(StepSize, goes_on_after_it_was_restored) {
  for (const std::uint64_t at : {0, 4, 10, 17}) {
    const auto energy = [](bool always) { return StepSize(EnergyStepSize(0.1, always, kPlan)); };
    expect_to_go_on_restored(energy(true), energy(true), at);
    expect_to_go_on_restored(energy(false), energy(false), at);
    const StepSize turning(TurningStepSize(0.1, 0.06, 0.01, kPlan));
    expect_to_go_on_restored(turning, turning, at);
    const StepSize scheduled(ScheduledStepSize<double>({}, {}, kPlan, 0.1));
    expect_to_go_on_restored(scheduled, scheduled, at);
  }
}

}  // namespace
}  // namespace smile

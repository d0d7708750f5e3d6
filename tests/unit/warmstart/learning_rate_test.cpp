// SPDX-License-Identifier: Apache-2.0
#include "smile/warmstart/learning_rate.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "smile/error.hpp"

namespace smile {
namespace {

TEST(LearningRate, constant_is_constant) {
  const LearningRateSchedule schedule{.learning_rate = 0.02};
  for (std::uint64_t t : {0u, 1u, 100000u}) EXPECT_EQ(schedule.at(t), 0.02);
}

TEST(LearningRate, linear_goes_from_one_value_to_the_other_and_stays) {
  const LearningRateSchedule schedule{
      .kind = LearningRateKind::linear, .init_value = 0.2, .end_value = 0.1, .transition_steps = 4};
  const double expected[] = {0.2, 0.175, 0.15, 0.125, 0.1, 0.1, 0.1};
  for (std::uint64_t t = 0; t < 7; ++t) EXPECT_NEAR(schedule.at(t), expected[t], 1e-15) << t;
}

TEST(LearningRate, cosine_warms_up_and_decays_over_what_is_left) {
  const LearningRateSchedule schedule{.kind = LearningRateKind::cosine_decay,
                                      .init_value = 0.1,
                                      .peak_value = 0.5,
                                      .end_value = 0.2,
                                      .warmup_steps = 2,
                                      .decay_steps = 8};
  // Six updates of decay: (1 + cos 0, 60°, 90°, 180°)/2 = 1, 0.75, 0.5, 0.
  EXPECT_NEAR(schedule.at(0), 0.1, 1e-15);
  EXPECT_NEAR(schedule.at(1), 0.3, 1e-15);
  EXPECT_NEAR(schedule.at(2), 0.5, 1e-15);
  EXPECT_NEAR(schedule.at(4), 0.2 + 0.3 * 0.75, 1e-15);
  EXPECT_NEAR(schedule.at(5), 0.2 + 0.3 * 0.5, 1e-15);
  EXPECT_NEAR(schedule.at(8), 0.2, 1e-15);
  EXPECT_NEAR(schedule.at(1000), 0.2, 1e-15);
}

TEST(LearningRate, exponent_bends_the_cosine) {
  const LearningRateSchedule schedule{.kind = LearningRateKind::cosine_decay,
                                      .peak_value = 0.5,
                                      .end_value = 0.1,
                                      .exponent = 3,
                                      .decay_steps = 6};
  EXPECT_EQ(schedule.at(0), 0.5) << "without a warm-up the first update has the peak";
  EXPECT_NEAR(schedule.at(2), 0.1 + 0.4 * std::pow(0.75, 3), 1e-15);
  EXPECT_NEAR(schedule.at(3), 0.1 + 0.4 * 0.125, 1e-15);
}

TEST(LearningRate, values_out_of_range_are_refused) {
  using Kind = LearningRateKind;
  for (const LearningRateSchedule& schedule :
       {LearningRateSchedule{.learning_rate = 0}, LearningRateSchedule{.learning_rate = NAN},
        LearningRateSchedule{.kind = Kind::linear},
        LearningRateSchedule{.kind = Kind::linear, .init_value = 1, .transition_steps = 0},
        LearningRateSchedule{.kind = Kind::linear, .init_value = 1, .end_value = -1},
        LearningRateSchedule{.kind = Kind::cosine_decay, .peak_value = 0, .decay_steps = 5},
        LearningRateSchedule{.kind = Kind::cosine_decay, .peak_value = 1, .exponent = 0},
        LearningRateSchedule{
            .kind = Kind::cosine_decay, .peak_value = 1, .warmup_steps = 5, .decay_steps = 5}})
    EXPECT_THROW(schedule.validate(), Error);
  LearningRateSchedule{.kind = Kind::cosine_decay, .peak_value = 1, .warmup_steps = 4, .decay_steps = 5}
      .validate();
  EXPECT_EQ(parse_name<LearningRateKind>("cosine_decay"), Kind::cosine_decay);
  EXPECT_FALSE(parse_name<LearningRateKind>("cosine"));
}

}  // namespace
}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include "smile/warmstart/early_stopping.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "smile/error.hpp"

namespace smile {
namespace {

/// Epochs run until the rule stops, or all.
std::size_t epochs_run(EarlyStopping& rule, const std::vector<double>& losses) {
  std::size_t epoch = 0;
  while (epoch < losses.size() && !rule.exhausted()) rule.observe(losses[epoch++]);
  return epoch;
}

TEST(EarlyStopping, stops_after_patience_epochs_without_a_better_loss) {
  EarlyStopping rule(3);
  // Best in epoch 2; 3, 4, 5 are not below it, though 5 is below 4.
  EXPECT_EQ(epochs_run(rule, {5, 4, 2, 3, 3.5, 2.5, 1}), 6u);
  EXPECT_EQ(rule.best_epoch(), 2u);
  EXPECT_EQ(rule.best_loss(), 2);
}

TEST(EarlyStopping, an_improvement_in_time_starts_the_count_again) {
  EarlyStopping rule(3);
  EXPECT_EQ(epochs_run(rule, {5, 6, 7, 4, 6, 6, 3.9, 5, 5, 5, 0}), 10u);
  EXPECT_EQ(rule.best_epoch(), 6u);
}

TEST(EarlyStopping, an_equal_loss_is_no_improvement) {
  EarlyStopping rule(2);
  EXPECT_EQ(epochs_run(rule, {1, 1, 1, 0.5}), 3u);
  EXPECT_EQ(rule.best_epoch(), 0u);
}

TEST(EarlyStopping, a_nan_is_no_improvement) {
  EarlyStopping rule(2);
  EXPECT_EQ(epochs_run(rule, {1, NAN, NAN, 0.5}), 3u);
  EXPECT_EQ(rule.best_loss(), 1);
}

TEST(EarlyStopping, observe_tells_which_epochs_are_best) {
  EarlyStopping rule(10);
  std::vector<bool> best;
  for (double loss : {3.0, 2.0, 2.0, 4.0, -1.0}) best.push_back(rule.observe(loss));
  EXPECT_EQ(best, (std::vector<bool>{true, true, false, false, true}));
}

TEST(EarlyStopping, without_patience_it_never_stops) {
  EarlyStopping rule(std::nullopt);
  EXPECT_EQ(epochs_run(rule, std::vector<double>(500, 1.0)), 500u);
}

TEST(EarlyStopping, patience_zero_is_refused) {
  EXPECT_THROW(EarlyStopping(0), Error);
}

}  // namespace
}  // namespace smile

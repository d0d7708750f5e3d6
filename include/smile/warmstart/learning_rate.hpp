// SPDX-License-Identifier: Apache-2.0
/// Learning rates by number of the update.
/// @source spec 2.5; the definitions are those of optax's constant_schedule, linear_schedule and
///         warmup_cosine_decay_schedule
#pragma once

#include <cstdint>

#include "smile/named.hpp"

namespace smile {

enum class LearningRateKind { constant, linear, cosine_decay };
template <>
struct Named<LearningRateKind> {
  static constexpr Alternative<LearningRateKind> all[] = {{LearningRateKind::constant, "constant"},
                                                          {LearningRateKind::linear, "linear"},
                                                          {LearningRateKind::cosine_decay, "cosine_decay"}};
};

/// η(t) for the updates t = 0, 1, …
///
///     constant      learning_rate
///     linear        init_value + (end_value − init_value) · min(t, n)/n,   n = transition_steps
///     cosine_decay  t < w:  init_value + (peak_value − init_value) · t/w,  w = warmup_steps
///                   else:   end_value + (peak_value − end_value) · (½ + ½ cos(π min(t−w, n)/n))^exponent,
///                           n = decay_steps − w: decay_steps counts the warm-up
///
/// After its last step a schedule stays at end_value. The first update of a schedule that starts at
/// init_value = 0 moves nothing.
struct LearningRateSchedule {
  LearningRateKind kind = LearningRateKind::constant;
  double learning_rate = 0.01;                              ///< > 0; constant
  double init_value = 0, peak_value = 0.01, end_value = 0;  ///< ≥ 0, peak_value > 0; linear, cosine_decay
  double exponent = 1;                                      ///< > 0; cosine_decay
  std::uint64_t warmup_steps = 0, decay_steps = 1;          ///< warmup_steps < decay_steps; cosine_decay
  std::uint64_t transition_steps = 1;                       ///< ≥ 1; linear

  /// @throws Error for a value out of its range
  void validate() const;
  /// η(t)
  double at(std::uint64_t update) const;
};

}  // namespace smile

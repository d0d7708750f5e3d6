// SPDX-License-Identifier: Apache-2.0
#include "smile/warmstart/learning_rate.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "smile/error.hpp"

namespace smile {
namespace {

void check(bool allowed, const char* name, double value, const std::string& mend) {
  if (allowed) return;
  std::ostringstream what;
  what << "the value is " << value;
  throw Error(std::string("learning rate: ") + name, what.str(), mend);
}

bool is_rate(double x) {
  return x >= 0 && std::isfinite(x);
}

/// update/steps, at most 1, and 1 where there are no steps.
double progress(std::uint64_t update, std::uint64_t steps) {
  return update >= steps ? 1 : static_cast<double>(update) / static_cast<double>(steps);
}

}  // namespace

void LearningRateSchedule::validate() const {
  if (kind == LearningRateKind::constant) {
    check(learning_rate > 0 && std::isfinite(learning_rate), "learning_rate", learning_rate,
          "give a number above 0");
    return;
  }
  check(is_rate(init_value), "init_value", init_value, "give a number of at least 0");
  check(is_rate(end_value), "end_value", end_value, "give a number of at least 0");
  if (kind == LearningRateKind::linear) {
    check(transition_steps >= 1, "transition_steps", static_cast<double>(transition_steps),
          "give at least 1 update");
    check(init_value > 0 || end_value > 0, "init_value and end_value", 0, "give one of them above 0");
    return;
  }
  check(peak_value > 0 && std::isfinite(peak_value), "peak_value", peak_value, "give a number above 0");
  check(exponent > 0 && std::isfinite(exponent), "exponent", exponent, "give a number above 0");
  check(warmup_steps < decay_steps, "decay_steps", static_cast<double>(decay_steps),
        "give more than warmup_steps = " + std::to_string(warmup_steps) + ", which it counts");
}

double LearningRateSchedule::at(std::uint64_t update) const {
  switch (kind) {
    case LearningRateKind::constant:
      break;
    case LearningRateKind::linear:
      return init_value + (end_value - init_value) * progress(update, transition_steps);
    case LearningRateKind::cosine_decay: {
      if (update < warmup_steps)
        return init_value + (peak_value - init_value) * progress(update, warmup_steps);
      const double done = progress(update - warmup_steps, decay_steps - warmup_steps);
      const double cosine = 0.5 + 0.5 * std::cos(std::numbers::pi * done);
      return end_value + (peak_value - end_value) * std::pow(cosine, exponent);
    }
  }
  return learning_rate;
}

}  // namespace smile

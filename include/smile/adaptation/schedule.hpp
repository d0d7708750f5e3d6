// SPDX-License-Identifier: Apache-2.0
/// Step sizes that follow a schedule, and the phases of a chain.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "smile/named.hpp"

namespace smile {

/// Steps of the two phases; steps are numbered 1 … warmup + sampling.
struct SamplingPlan {
  std::uint64_t warmup_steps = 0;
  std::uint64_t sampling_steps = 0;
};

enum class ScheduleKind { constant, linear, cosine };
template <>
struct Named<ScheduleKind> {
  static constexpr Alternative<ScheduleKind> all[] = {
      {ScheduleKind::constant, "none", "step_size and its rule", "constant"},
      {ScheduleKind::linear, "linear"},
      {ScheduleKind::cosine, "cosine"}};
};

/// ε_t for t = 0 … n−1 of one phase (spec 1.9).
struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  double initial = 1e-3;  ///< ε at t = 0, > 0
  double target = 0;      ///< ε that the schedule tends to
  std::uint64_t cycles = 4;
  double exploration = 0.25;  ///< fraction of the phase (linear) or of each cycle (cosine) that explores

  struct Point {
    double step_size;
    bool exploring;  ///< no draws are stored
  };

  /// linear: init + (target − init)·t/n, exploring while t/n < f.
  /// cosine: target + ½(init − target)(cos(π r) + 1), r = (t mod C)/C, C = ⌊n/cycles⌋, exploring while r < f.
  Point at(std::uint64_t t, std::uint64_t n) const {
    switch (kind) {
      case ScheduleKind::linear: {
        const double r = double(t) / double(n);
        return {initial + (target - initial) * r, r < exploration};
      }
      case ScheduleKind::cosine: {
        const std::uint64_t length = std::max<std::uint64_t>(1, n / std::max<std::uint64_t>(1, cycles));
        const double r = double(t % length) / double(length);
        return {target + 0.5 * (initial - target) * (std::cos(std::numbers::pi * r) + 1), r < exploration};
      }
      case ScheduleKind::constant:
        break;
    }
    return {initial, false};
  }
};

/// Whether the state after step t (from 0) of the sampling phase is stored: never inside exploration.
inline bool is_stored(std::uint64_t t, std::uint64_t thinning, bool exploring) {
  return !exploring && t % thinning == 0;
}

/// Geometric mean of the step sizes used in warm-up steps after + 1 … last, at which a step size freezes.
class StepSizeAverage {
 public:
  /// @param t  number of the step, from 1
  void add(std::uint64_t t, std::uint64_t after, std::uint64_t last, double step_size) {
    if (t > after && t <= last) {
      log_sum_ += std::log(step_size);
      ++count_;
    }
  }
  bool empty() const { return count_ == 0; }
  double value() const { return std::exp(log_sum_ / double(count_)); }

  template <class Archive>
  void serialise(Archive& archive) {
    archive.value(log_sum_), archive.value(count_);
  }

 private:
  double log_sum_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace smile

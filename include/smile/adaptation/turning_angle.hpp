// SPDX-License-Identifier: Apache-2.0
/// Turning-angle rule: a step size that nobody has to choose (spec 1.13).
#pragma once

#include <cmath>

#include "smile/archive.hpp"

namespace smile {

/// Holds the angle δ = ε‖g̃‖/(d−1) by which gradient noise turns the velocity in one step:
///     q ← (1−α) q + α n_t²,   ε = δ* (d−1)/√q,   q₀ = ‖g(θ₀) ⊘ ŝ₀‖²
/// δ* = 0.06 by default; 0.03–0.1 is useful. Needs mini-batch noise.
class TurningAngleRule {
 public:
  TurningAngleRule() = default;
  /// @param turn_angle  δ*   @param rate  α, in (0, 1] (`smile_tuning.alpha`)
  TurningAngleRule(double turn_angle, double rate) : turn_angle_(turn_angle), rate_(rate) {}

  /// After a warm-up step, or with ‖g(θ₀) ⊘ ŝ₀‖ before the first.
  /// @param gradient_norm  n_t = ‖g ⊘ ŝ‖ of the last momentum update of the step
  void follow(double gradient_norm, double dimension) {
    const double n2 = gradient_norm * gradient_norm;
    square_ = ready_ ? (1 - rate_) * square_ + rate_ * n2 : n2;
    ready_ = true;
    step_size_ = turn_angle_ * (dimension - 1) / std::sqrt(square_);
  }

  /// False until a gradient has been seen.
  bool ready() const { return ready_ && step_size_ > 0 && std::isfinite(step_size_); }
  double step_size() const { return step_size_; }

  void serialise(Archive& archive) {
    archive.value(square_), archive.value(step_size_), archive.value(ready_);
  }

 private:
  double turn_angle_ = 0.06, rate_ = 0.01;
  double square_ = 0;
  double step_size_ = 0;
  bool ready_ = false;
};

}  // namespace smile

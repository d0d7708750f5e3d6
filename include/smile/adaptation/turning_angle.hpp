/// Turning-angle rule: a step size that nobody has to choose (spec 1.13).
#pragma once

#include <cmath>

#include "smile/archive.hpp"

namespace smile {

/// Holds the angle δ = ε‖g̃‖/(d−1) by which gradient noise turns the velocity in one step:
///     q ← (1−α) q + α n_t²,   ε = δ* (d−1)/√q,   α = 0.01,   q₀ = ‖g(θ₀) ⊘ ŝ₀‖²
/// δ* = 0.06 by default; 0.03–0.1 is useful. Needs mini-batch noise.
class TurningAngleRule {
 public:
  static constexpr double kRate = 0.01;

  TurningAngleRule() = default;
  /// @param first_norm2  ‖g(θ₀) ⊘ ŝ₀‖²
  TurningAngleRule(double turn_angle, double dimension, double first_norm2)
      : square_(first_norm2), ready_(true) {
    set_step_size(turn_angle, dimension);
  }

  /// @param gradient_norm  n_t = ‖g ⊘ ŝ‖ of the last momentum update of the step
  void follow(double gradient_norm, double turn_angle, double dimension) {
    const double n2 = gradient_norm * gradient_norm;
    square_ = ready_ ? (1 - kRate) * square_ + kRate * n2 : n2;
    ready_ = true;
    set_step_size(turn_angle, dimension);
  }

  /// False until a gradient has been seen.
  bool ready() const { return ready_ && step_size_ > 0 && std::isfinite(step_size_); }
  double step_size() const { return step_size_; }

  void serialise(Archive& archive) {
    archive.value(square_), archive.value(step_size_), archive.value(ready_);
  }

 private:
  void set_step_size(double turn_angle, double dimension) {
    step_size_ = turn_angle * (dimension - 1) / std::sqrt(square_);
  }
  double square_ = 0;
  double step_size_ = 0;
  bool ready_ = false;
};

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// Explicit noise tied to the angle by which a step is to turn the velocity.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace smile {

/// Once a step, at its start: u ← (u + ν z)/‖u + ν z‖, ν = sqrt(λ/d)·δ*. To first order that is the
/// refreshment of spec 1.6 over a whole step with ℓ = 2ε/(λδ*²). Small and isotropic: it stirs the directions
/// that batch noise leaves alone, and does not replace that noise.
/// @source spec 06, 6.3
struct TurningNoise {
  double share = 0;          ///< λ ≥ 0; 0: none
  double turn_angle = 0.06;  ///< δ*

  bool on() const { return share > 0; }
  /// ν in d dimensions.
  double strength(double dimension) const { return std::sqrt(share / dimension) * turn_angle; }
  /// ℓ of steps of size ε.
  double decoherence_length(double step_size) const {
    return 2 * step_size / (share * turn_angle * turn_angle);
  }
};

/// λ for R batches an epoch: min(max(R/20, 0.3), 3), between what trials at R = 2 … 263 asked for.
/// @source spec 06, 6.3
inline double turning_noise_share(std::size_t batches_per_epoch) {
  return std::min(std::max(double(batches_per_epoch) / 20, 0.3), 3.0);
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// A chain's energy errors over time.
#pragma once

#include <cstdint>

namespace smile {

/// A stretch of a chain (1,000 steps, or several such in long runs), from its monitors. NaN where a quantity
/// does not apply.
struct EnergyWindow {
  std::uint64_t last_step = 0;
  double step_size = 0;                     ///< geometric mean over the last 1,000 steps
  double reset_frequency = 0;               ///< refused steps of the stretch, as a fraction
  double gamma_shape = 0, gamma_scale = 0;  ///< fit of |ΔE| at its end
  double kolmogorov_distance = 0;           ///< of |ΔE| to the fits, last 1,000 steps
};

}  // namespace smile

/// Partial refreshment O_h of the velocity: the explicit noise of microcanonical Langevin dynamics.
#pragma once

#include <cmath>

namespace smile {

/// ν of u ← (u + ν z)/‖u + ν z‖ over a time h with decoherence length ℓ: ν = sqrt((exp(2h/ℓ) − 1)/d).
/// @source Robnik & Seljak 2024; spec 1.6
inline double refreshment_strength(double h, double decoherence_length, double dimension) {
  // Far above 1 the result is z/‖z‖ whatever ν; the bound keeps ν z within single precision.
  return std::fmin(std::sqrt(std::expm1(2 * h / decoherence_length) / dimension), 1e30);
}

}  // namespace smile

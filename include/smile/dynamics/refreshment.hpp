// SPDX-License-Identifier: Apache-2.0
/// Partial refreshment O_h of the velocity: the explicit noise of microcanonical Langevin dynamics.
#pragma once

#include <algorithm>
#include <cmath>

namespace smile {

/// ν of u ← (u + ν z)/‖u + ν z‖ over a time h with decoherence length ℓ: ν = sqrt((exp(2h/ℓ) − 1)/d).
/// @source Robnik & Seljak 2024; spec 1.6
template <class Scalar>
Scalar refreshment_strength(const Scalar& h, const Scalar& decoherence_length, double dimension) {
  using std::expm1, std::min, std::sqrt;
  // Far above 1 the result is z/‖z‖ whatever ν; the bound keeps ν z within single precision.
  return min(sqrt(expm1(2 * h / decoherence_length) / dimension), Scalar(1e30));
}

/// For one chain.
inline double refreshment_strength(double h, double decoherence_length, double dimension) {
  return refreshment_strength<double>(h, decoherence_length, dimension);
}

}  // namespace smile

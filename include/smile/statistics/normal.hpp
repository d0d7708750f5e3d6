// SPDX-License-Identifier: Apache-2.0
/// The standard normal distribution.
#pragma once

namespace smile {

/// z_p with Φ(z_p) = p; −∞ at 0, ∞ at 1, NaN outside [0, 1]. Never throws.
/// @accuracy a few units of rounding
double normal_quantile(double p) noexcept;

/// Φ(z).   @accuracy relative, also in the lower tail
double normal_cdf(double z) noexcept;

}  // namespace smile

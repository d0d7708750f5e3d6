// SPDX-License-Identifier: Apache-2.0
/// The Gamma distribution as the energy-error tuner uses it: moment fit, distribution function, quantiles.
/// Nothing here throws on numbers; a NaN argument gives NaN.
#pragma once

#include "smile/named.hpp"

namespace smile {

/// Gamma(shape k, scale ϑ) on [0, ∞): mean kϑ, variance kϑ².
struct GammaDistribution {
  double shape = 1;
  double scale = 1;
};

/// How the variance of a moment fit is kept away from 0 and from values that no Gamma should follow
/// (spec 1.8).
enum class VarianceFloor {
  relative,  ///< V = min(σ², 10 μ²) + 1e−6 μ², so that k lies in about [0.1, 1e6]
  absolute,  ///< V = σ² + 1e−6, as in the authors' code
};
template <>
struct Named<VarianceFloor> {
  static constexpr Alternative<VarianceFloor> all[] = {{VarianceFloor::relative, "relative"},
                                                       {VarianceFloor::absolute, "absolute"}};
};

/// Fit by moments: k = μ²/V, ϑ = V/μ.
/// @param mean  μ > 0   @param sd  σ ≥ 0   @source spec 1.8
GammaDistribution fit_gamma(double mean, double sd, VarianceFloor floor = VarianceFloor::relative) noexcept;

/// F(x) = P(k, x/ϑ), the regularised lower incomplete gamma function; 0 for x ≤ 0, 1 for x = ∞.
/// @accuracy 1e−11 absolute for k in [0.01, 1e6]   @cost about 0.1–0.3 µs
double gamma_cdf(const GammaDistribution& gamma, double x) noexcept;

/// The inverse of gamma_cdf; 0 at p = 0, ∞ at p = 1; 0 where the quantile lies below the smallest double.
/// @accuracy 1e−8 relative   @param p in [0, 1], outside: NaN   @cost about 1 µs
double gamma_quantile(const GammaDistribution& gamma, double p) noexcept;

/// Q(p) = ϑ k (1 − 1/(9k) + z_p/(3√k))³, not clamped: negative in the lower tail of small shapes; −∞ at p =
/// 0.
/// @source Wilson & Hilferty 1931; spec 1.8 (`quantile: wilson-hilferty`)
double gamma_quantile_wilson_hilferty(const GammaDistribution& gamma, double p) noexcept;

}  // namespace smile

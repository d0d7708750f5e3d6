// SPDX-License-Identifier: Apache-2.0
/// The predictive of a regression: an equal mixture of Normals, one a draw.
#pragma once

#include <cstddef>
#include <span>

namespace smile {

/// Parameters of the mixture at one point. @shape [S] each; sds > 0
struct NormalMixture {
  std::span<const float> means;
  std::span<const float> sds;
};

/// F(y) = 1/S Σ Φ((y − m_s)/σ_s).
double mixture_cdf(const NormalMixture& mixture, double y);

/// The y with F(y) = p, by Newton's method inside a bracket; every component's own quantile brackets it. NaN
/// of nothing or where a parameter is NaN.
/// @param p  in (0, 1)
/// @accuracy  F(y) = p within 1e−12, or y within a few units of rounding; of 4,096 components and more F(y) =
/// p
///            within 1e−7: their means and σ are themselves rounded to single precision
double mixture_quantile(const NormalMixture& mixture, double p);

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include "smile/statistics/gamma.hpp"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>

#include "smile/statistics/normal.hpp"
#include "statistics/boost_policy.hpp"

namespace smile {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Below this the first term of the series, P(k, x) = x^k/Γ(k+1), has a relative error under 1e−20.
constexpr double kTiny = 1e-20;

/// log Γ(1 + k), also for k far below the rounding unit.
double log_gamma_1p(double k) noexcept {
  return boost::math::lgamma(1 + k, QuietPolicy());
}

bool valid(const GammaDistribution& gamma) noexcept {
  return gamma.shape > 0 && gamma.scale > 0 && std::isfinite(gamma.shape);
}

}  // namespace

GammaDistribution fit_gamma(double mean, double sd, VarianceFloor floor) noexcept {
  const double square = mean * mean;
  const double variance =
      floor == VarianceFloor::relative ? std::min(sd * sd, 10 * square) + 1e-6 * square : sd * sd + 1e-6;
  return {square / variance, variance / mean};
}

double gamma_cdf(const GammaDistribution& gamma, double x) noexcept {
  if (!valid(gamma) || std::isnan(x)) return kNan;
  if (x <= 0) return 0;
  const double y = x / gamma.scale;
  if (std::isinf(y)) return 1;
  if (y < kTiny) return std::exp(gamma.shape * std::log(y) - log_gamma_1p(gamma.shape));  // y = 0: 0
  return std::clamp(boost::math::gamma_p(gamma.shape, y, QuietPolicy()), 0.0, 1.0);
}

double gamma_quantile(const GammaDistribution& gamma, double p) noexcept {
  if (!valid(gamma) || !(p >= 0 && p <= 1)) return kNan;
  if (p == 0) return 0;
  if (p == 1) return kInfinity;
  // The far lower tail in closed form: there the iteration of the general method would run out of exponents.
  const double log_first_term = (std::log(p) + log_gamma_1p(gamma.shape)) / gamma.shape;
  if (log_first_term < std::log(kTiny)) return std::exp(log_first_term + std::log(gamma.scale));
  return gamma.scale * boost::math::gamma_p_inv(gamma.shape, p, QuietPolicy());
}

double gamma_quantile_wilson_hilferty(const GammaDistribution& gamma, double p) noexcept {
  const double bracket = 1 - 1 / (9 * gamma.shape) + normal_quantile(p) / (3 * std::sqrt(gamma.shape));
  return gamma.scale * gamma.shape * bracket * bracket * bracket;
}

}  // namespace smile

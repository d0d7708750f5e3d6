// SPDX-License-Identifier: Apache-2.0
#include "smile/evaluation/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "evaluation/mixture_passes.hpp"
#include "smile/statistics/normal.hpp"

namespace smile {
namespace {

using evaluation::mixture_at;
using evaluation::MixtureAt;

/// Every so many components are enough to begin near the quantile of all: first a few, then some.
constexpr std::size_t kFew = 128, kSome = 1024;

/// A way to look at the mixture, and how near the excess of probability must come to 0.
struct Look {
  MixtureAt (*at)(const NormalMixture&, double);
  double enough;
};
/// A quantile of some components is off by more than kRough anyway.
constexpr Look kExact{mixture_at, 1e-14}, kNear{evaluation::mixture_near, 3e-8},
    kRough{evaluation::mixture_near, 1e-4};

double quantile(const NormalMixture& mixture, double p, double start, const Look& look) {
  const auto own = evaluation::component_quantiles(mixture, normal_quantile(p));
  if (std::isnan(own.mean)) return own.mean;
  double low = own.lowest, high = own.highest;
  double y = start > low && start < high ? start : own.mean;
  constexpr int kMostSteps = 200;  // halving alone ends after some sixty
  for (int i = 0; i < kMostSteps && low < high; ++i) {
    const MixtureAt at = look.at(mixture, y);
    const double excess = at.probability - p;
    if (std::abs(excess) <= look.enough) break;
    (excess > 0 ? high : low) = y;
    // Halley's step: the third power of the distance is left.
    const double newton = excess / at.density;
    const double step = newton / std::clamp(1 - 0.5 * newton * at.slope / at.density, 0.5, 2.0);
    double next = y - step;
    const bool inside = next > low && next < high;
    if (!inside) next = low + 0.5 * (high - low);
    const double moved = std::abs(next - y), part = moved / own.smallest_sd;
    y = next;
    if (inside && std::abs(excess) * part * part <= look.enough) break;
    if (moved <= 4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(low), std::abs(high))) break;
  }
  return y;
}

/// The quantile of `count` components, evenly taken.
template <std::size_t count>
double quantile_of_some(const NormalMixture& mixture, double p, double start, const Look& look) {
  float means[count], sds[count];
  for (std::size_t k = 0; k < count; ++k) {
    const std::size_t s = k * mixture.means.size() / count;
    means[k] = mixture.means[s], sds[k] = mixture.sds[s];
  }
  return quantile({means, sds}, p, start, look);
}

}  // namespace

double mixture_cdf(const NormalMixture& mixture, double y) {
  return mixture_at(mixture, y).probability;
}

double mixture_quantile(const NormalMixture& mixture, double p) {
  const std::size_t count = mixture.means.size();
  if (count == 0) return std::numeric_limits<double>::quiet_NaN();
  double start = std::numeric_limits<double>::quiet_NaN();
  if (count < 8 * kFew) return quantile(mixture, p, start, kExact);
  start = quantile_of_some<kFew>(mixture, p, start, kRough);
  if (count < 4 * kSome) return quantile(mixture, p, start, kExact);
  start = quantile_of_some<kSome>(mixture, p, start, kRough);
  return quantile(mixture, p, start, kNear);
}

}  // namespace smile

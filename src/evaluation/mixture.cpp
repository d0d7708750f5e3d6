#include "smile/evaluation/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "smile/statistics/normal.hpp"

namespace smile {
namespace {

struct Cumulative {
  double probability = 0, density = 0;
};

Cumulative cumulative(const NormalMixture& mixture, double y) {
  Cumulative sum;
  for (std::size_t s = 0; s < mixture.means.size(); ++s) {
    const double sd = double(mixture.sds[s]), z = (y - double(mixture.means[s])) / sd;
    sum.probability += normal_cdf(z);
    sum.density += std::exp(-0.5 * z * z) / sd;
  }
  const double count = double(mixture.means.size());
  sum.probability /= count;
  sum.density /= count * std::sqrt(2 * std::numbers::pi);
  return sum;
}

}  // namespace

double mixture_cdf(const NormalMixture& mixture, double y) {
  return cumulative(mixture, y).probability;
}

double mixture_quantile(const NormalMixture& mixture, double p) {
  const std::size_t count = mixture.means.size();
  const double z = normal_quantile(p);
  double low = std::numeric_limits<double>::infinity(), high = -low, sum = 0;
  for (std::size_t s = 0; s < count; ++s) {
    const double own = double(mixture.means[s]) + z * double(mixture.sds[s]);
    if (std::isnan(own)) return own;
    low = std::min(low, own);
    high = std::max(high, own);
    sum += own;
  }
  if (count == 0) return std::numeric_limits<double>::quiet_NaN();
  double y = sum / double(count);
  constexpr int kMostSteps = 200;  // halving alone ends after some sixty
  for (int i = 0; i < kMostSteps && low < high; ++i) {
    const Cumulative at = cumulative(mixture, y);
    const double excess = at.probability - p;
    if (std::abs(excess) <= 1e-12) break;
    (excess > 0 ? high : low) = y;
    double next = y - excess / at.density;
    if (!(next > low && next < high)) next = low + 0.5 * (high - low);
    const double moved = std::abs(next - y);
    y = next;
    if (moved <= 4 * std::numeric_limits<double>::epsilon() * std::max(std::abs(low), std::abs(high))) break;
  }
  return y;
}

}  // namespace smile

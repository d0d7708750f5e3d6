// SPDX-License-Identifier: Apache-2.0
#include "smile/adaptation/energy_tuner.hpp"

#include <algorithm>
#include <cmath>

namespace smile {

namespace {
constexpr std::uint64_t kFirstComparison = 10;  // finite steps, the one at hand included
constexpr double kOutlierProbability = 0.9999;
}  // namespace

EnergyTuner::EnergyTuner(const EnergyTunerOptions& options) : options_(options) {}

EnergyTuner::Verdict EnergyTuner::observe(double energy_change) {
  const double x = std::fabs(energy_change);
  const bool adapts = options_.adaption_prob > 0;
  Verdict verdict;
  if (!std::isfinite(x)) {
    verdict.diverged = true;
    verdict.moves = adapts;
    verdict.factor = 0.5;
    return verdict;
  }
  ++count_;

  double clipped = x;
  if (count_ >= kFirstComparison) {
    verdict.compared = true;
    const GammaDistribution fit = fit_gamma(mean_, deviation_, options_.variance_floor);
    verdict.shape = fit.shape;
    verdict.scale = fit.scale;
    const double a = options_.adaption_prob;
    const double low = options_.balance == AdaptionBalance::symmetric ? a / 2 : a / 3;
    const double high = options_.balance == AdaptionBalance::symmetric ? 1 - a / 2 : 1 - 2 * a / 3;
    // x > Q(p) is the same as F(x) > p: one value of the distribution function decides all comparisons.
    verdict.probability = gamma_cdf(fit, x);
    const auto above = [&](double p) {
      return options_.quantile == QuantileRule::exact ? verdict.probability > p
                                                      : x > gamma_quantile_wilson_hilferty(fit, p);
    };
    const auto below = [&](double p) {
      return options_.quantile == QuantileRule::exact ? verdict.probability < p
                                                      : x < gamma_quantile_wilson_hilferty(fit, p);
    };
    verdict.diverged = options_.reset_prob < 1 && above(options_.reset_prob);
    verdict.moves = adapts;
    if (adapts && above(high))
      verdict.factor = 1 - options_.adaption_strength;
    else if (adapts && below(low))
      verdict.factor = 1 + options_.adaption_strength;
    if (options_.outlier_clip && verdict.probability > kOutlierProbability) {
      const double bound = gamma_quantile(fit, kOutlierProbability);
      verdict.clipped = x > bound;
      clipped = std::min(x, bound);
    }
  }

  const double b = options_.smoothing_factor;
  mean_ = count_ < 3 ? clipped : (1 - b) * mean_ + b * clipped;
  mean_ = std::clamp(mean_, 1e-6, 1e6);
  const double spread = clipped - mean_;
  const double kept = count_ == 1 ? 0 : (1 - b) * deviation_ * deviation_;
  const double correction = count_ < 5 ? 1 : 1 - std::pow(0.5, double(count_ - 4));
  deviation_ = std::clamp(std::sqrt((kept + b * spread * spread) / correction), 1e-6, 1e7);
  return verdict;
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// Energy-error tuner and guardrail: the paper's Algorithm 1, as spec 1.8 states it.
#pragma once

#include <cstdint>

#include "smile/archive.hpp"
#include "smile/named.hpp"
#include "smile/statistics/gamma.hpp"

namespace smile {

enum class QuantileRule { exact, wilson_hilferty };
template <>
struct Named<QuantileRule> {
  static constexpr Alternative<QuantileRule> all[] = {{QuantileRule::exact, "exact"},
                                                      {QuantileRule::wilson_hilferty, "wilson-hilferty"}};
};
enum class AdaptionBalance { paper, symmetric };
template <>
struct Named<AdaptionBalance> {
  static constexpr Alternative<AdaptionBalance> all[] = {{AdaptionBalance::paper, "paper"},
                                                         {AdaptionBalance::symmetric, "symmetric"}};
};

/// The energy rule has no fixed point. How far the step size may move, as multiples of the one it began with,
/// before a run says so.
struct StepSizeDrift {
  static constexpr double low = 0.01, high = 100;
  /// Whether a step size that was between `smallest` and `largest` left the bounds around `start`.
  static bool left(double start, double smallest, double largest) {
    return smallest < low * start || largest > high * start;
  }
};

struct EnergyTunerOptions {
  double reset_prob = 0.98;         ///< 1 − κ, in (0, 1]; 1 switches the guardrail off
  double adaption_prob = 0.1;       ///< a, in [0, 1); 0 switches the adaptation of the step size off
  double adaption_strength = 0.02;  ///< in [0, 1); 0: only a step that is not finite moves the step size
  double smoothing_factor = 0.01;   ///< β, in (0, 1]
  QuantileRule quantile = QuantileRule::exact;
  VarianceFloor variance_floor = VarianceFloor::relative;
  bool outlier_clip = true;
  AdaptionBalance balance = AdaptionBalance::paper;
};

/// Follows |ΔE| by a Gamma distribution fitted to its moments, says which steps to refuse and how the energy
/// rule is to move the step size. Thresholds come from the fit before the step's own update; comparisons hold
/// from the 10th finite step on.
class EnergyTuner {
 public:
  EnergyTuner() = default;
  explicit EnergyTuner(const EnergyTunerOptions& options);

  /// What the tuner says about one step.
  struct Verdict {
    bool diverged = false;   ///< refuse the step
    bool compared = false;   ///< whether the fit took part: |ΔE| finite and at least the 10th finite one
    double probability = 0;  ///< F(|ΔE|) of the fit, where compared with the exact quantile
    double shape = 0;        ///< k of the fit used
    double scale = 0;        ///< ϑ of the fit used
    bool clipped = false;    ///< |ΔE| exceeded Q(0.9999): the moments took that value
    bool moves = false;      ///< rule 3 looked at the step size
    double factor = 1;       ///< by which it is to change then
  };

  /// @param energy_change  ΔE of the step; anything non-finite counts as +∞
  Verdict observe(double energy_change);

  double mean() const { return mean_; }            ///< μ
  double deviation() const { return deviation_; }  ///< σ
  const EnergyTunerOptions& options() const { return options_; }

  void serialise(Archive& archive) { archive.value(mean_), archive.value(deviation_), archive.value(count_); }

 private:
  EnergyTunerOptions options_;
  double mean_ = 0;
  double deviation_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace smile

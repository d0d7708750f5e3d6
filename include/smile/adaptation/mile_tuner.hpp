// SPDX-License-Identifier: Apache-2.0
/// The full-batch tuner of MILE: step size from the energy variance, decoherence length from the posterior's
/// spread and the autocorrelation (spec 1.10).
/// @source Sommer et al. 2025 (MILE); Robnik et al. 2024 (MCLMC)
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "smile/archive.hpp"
#include "smile/named.hpp"

namespace smile {

/// `training.sampler.desired_energy_var_scale:` what the desired energy variance is of. MILE's is per
/// dimension: with thousands of parameters the total is then in the hundreds and the step far too long.
enum class EnergyVarianceScale {
  dimension,  ///< of ΔE/√d
  total,      ///< of ΔE
};
template <>
struct Named<EnergyVarianceScale> {
  static constexpr Alternative<EnergyVarianceScale> all[] = {{EnergyVarianceScale::dimension, "dimension"},
                                                             {EnergyVarianceScale::total, "total"}};
};

struct MileTunerOptions {
  double step_size_init = 0.01;           ///< ε at the start, > 0
  double desired_energy_var_start = 0.5;  ///< energy variance (per dimension) at t = 0, > 0
  double desired_energy_var_end = 0.1;    ///< at the end of phase 2, > 0
  EnergyVarianceScale scale = EnergyVarianceScale::dimension;
  double trust_in_estimate = 1.5;         ///< > 0
  double num_effective_samples = 100;     ///< memory of the recursion, > 1
  bool diagonal_preconditioning = false;  ///< ŝ = 1/sd of θ over phase 2, ℓ = √d, then re-tuning of ε
};

/// Steps of the three phases: ⌊0.8 W⌋, ⌊0.1 W⌋, the rest; and the re-tuning after phase 2, on top of W.
struct MilePhases {
  std::uint64_t first, second, retuning, third;
  MilePhases(std::uint64_t warmup_steps, bool diagonal_preconditioning)
      : first(warmup_steps * 8 / 10),
        second(warmup_steps / 10),
        retuning(diagonal_preconditioning ? second / 3 : 0),
        third(warmup_steps - first - second) {}
  std::uint64_t total() const { return first + second + retuning + third; }
};

/// v(t) of phases 1 and 2, t = 0 … total−1: linear from start to end; above 2 an exponential instead.
inline double desired_energy_variance(double start, double end, std::uint64_t t, std::uint64_t total) {
  const double x = double(t) / double(total);
  return start > 2 ? end + (start - end) * std::exp(-4 * x) : start + (end - start) * x;
}

/// ξ = ΔE²/(d v) + 1e−8 (d = 1 where v is of the total);  w = exp(−½ (ln ξ / (6 trust))²);  ρ = (n_eff −
/// 1)/(n_eff + 1); X ← ρX + w ξ/ε⁶;  T ← ρT + w;  ε ← min((X/T)^(−1/6), ε_max).
class MileStepSize {
 public:
  MileStepSize() = default;
  MileStepSize(const MileTunerOptions& options, double dimension) : step_size_(options.step_size_init) {
    configure(options, dimension);
  }
  /// Sets the constants and leaves the state (for a restored one).
  void configure(const MileTunerOptions& options, double dimension) {
    trust_ = options.trust_in_estimate;
    decay_ = (options.num_effective_samples - 1) / (options.num_effective_samples + 1);
    dimension_ = options.scale == EnergyVarianceScale::total ? 1 : dimension;
  }

  /// @param energy_change    ΔE; ignored where the step was refused (it then counts as 0)
  /// @param desired_variance v(t)
  void observe(double energy_change, bool refused, double desired_variance) {
    if (refused) {
      largest_ = 0.8 * step_size_;
      energy_change = 0;
    }
    const double xi = energy_change * energy_change / (dimension_ * desired_variance) + 1e-8;
    const double z = std::log(xi) / (6 * trust_);
    weight_ = std::exp(-0.5 * z * z);
    weighted_ = decay_ * weighted_ + weight_ * xi / std::pow(step_size_, 6);
    total_ = decay_ * total_ + weight_;
    // All weights can underflow where every ΔE is beyond reason; shrinking is then the only answer.
    if (!(total_ > 0)) largest_ = std::fmin(largest_, 0.8 * step_size_);
    step_size_ = std::fmin(std::pow(weighted_ / total_, -1.0 / 6.0), largest_);
  }
  /// The recursion starts afresh at the present step size.
  void restart() {
    weighted_ = total_ = 0;
    largest_ = std::numeric_limits<double>::infinity();
  }
  double step_size() const { return step_size_; }
  double weight() const { return weight_; }    ///< w of the last step
  double largest() const { return largest_; }  ///< ε_max

  void serialise(Archive& archive) {
    archive.value(step_size_), archive.value(largest_), archive.value(weighted_), archive.value(total_);
    archive.value(weight_);
  }

 private:
  double trust_ = 1.5, decay_ = 0, dimension_ = 0;
  double step_size_ = 0;
  double largest_ = std::numeric_limits<double>::infinity();
  double weighted_ = 0, total_ = 0, weight_ = 0;
};

}  // namespace smile

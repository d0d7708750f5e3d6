// SPDX-License-Identifier: Apache-2.0
/// What a chain's steps were like, in constant memory (spec 1.8, 1.13).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "smile/ensemble/chain_loop.hpp"
#include "smile/samplers/sampler.hpp"

namespace smile {

inline constexpr std::size_t kRefusalKinds = 8;  ///< entries of Refusal

/// Counts of |ΔE| in bins of equal width in log10, and of F(|ΔE|) in equal bins of [0, 1].
struct EnergyErrors {
  static constexpr std::size_t kBins = 160;
  static constexpr double kLowest = -10, kHighest = 6;  ///< log10 |ΔE|; outer values fall into the outer bins
  static constexpr std::size_t kProbabilityBins = 200;
  std::array<std::uint64_t, kBins> counts{};
  std::array<std::uint64_t, kProbabilityBins> probability_counts{};
  std::uint64_t finite = 0, compared = 0;

  void add(const StepReport& report);
  /// Largest distance between the distribution of F(|ΔE|) and the uniform one, at the bins' edges (so at most
  /// 1/200 too small); 0 where the fit follows |ΔE|. NaN of nothing.
  double kolmogorov_distance() const;
};

/// Sums over the steps of one phase or window.
struct StepSums {
  std::uint64_t steps = 0;
  std::uint64_t gradients = 0;
  std::array<std::uint64_t, kRefusalKinds> refusals{};  ///< by Refusal; entry 0 counts accepted steps
  double log_step_size = 0;                             ///< Σ ln ε
  double turn_angle = 0;                                ///< Σ δ over `turned`
  double gradient_norm2 = 0;                            ///< Σ ‖g̃‖² over `turned`
  std::uint64_t turned = 0;
  double audit = 0;  ///< Σ ΔE² of the steps with one batch throughout
  std::uint64_t audits = 0;

  void add(const StepReport& report, bool audit_step);
  std::uint64_t refused() const;
  std::uint64_t nonfinite() const;
  double mean_step_size() const;   ///< geometric
  double mean_turn_angle() const;  ///< NaN where steps have none
  /// rms over steps of ‖g̃‖/√d.
  double gradient_rms(double dimension) const;
  /// ℓ = 2ε/δ²: path length over which the gradient noise decorrelates the velocity.
  double implied_decoherence_length() const;
  /// mean ΔE²/d of steps with one batch throughout; NaN of none.
  double same_batch_energy_variance(double dimension) const;
};

/// Everything that is kept of a chain's steps. Trivially copyable: a checkpoint stores it as it is.
struct ChainMonitor {
  StepSums warmup, sampling, window;
  EnergyErrors energy;         ///< of the sampling phase, audit steps left out
  EnergyErrors window_energy;  ///< of the window, audit steps left out
  double first_step_size = StepReport::kNone, last_step_size = StepReport::kNone;
  double warmup_end_step_size = StepReport::kNone;
  double smallest_step_size = std::numeric_limits<double>::infinity(), largest_step_size = 0;
  double gamma_shape = StepReport::kNone,
         gamma_scale = StepReport::kNone;              ///< of the last step that was compared
  double training_log_likelihood = StepReport::kNone;  ///< last measured, all training rows
  double squared_norm_per_dim = StepReport::kNone;     ///< ‖θ‖²/d, last measured
  double log_density = StepReport::kNone;
  static constexpr std::size_t kRecent = FailureRule::kWindow;
  std::array<std::uint8_t, kRecent> recent{};  ///< Refusal of the last steps where it was non-finite, else 0
  std::uint64_t steps = 0;

  /// @param in_warmup    whether the step belongs to warm-up
  /// @param audit_step   whether its ΔE was measured with one batch throughout
  void add(const StepReport& report, bool in_warmup, bool audit_step);
  /// How many of the last kRecent steps, or of all where there are fewer, were not finite.
  std::uint64_t recent_nonfinite() const;
  /// Their share; 0 of none.
  double recent_nonfinite_fraction() const;
  /// The most frequent cause among them.
  Refusal recent_cause() const;
  /// Whether there are steps and every one was refused, so that the chain never moved.
  bool never_accepted() const;
  /// The most frequent cause of all refusals.
  Refusal main_cause() const;
};

}  // namespace smile

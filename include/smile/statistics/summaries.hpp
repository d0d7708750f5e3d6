// SPDX-License-Identifier: Apache-2.0
/// Sums, moments and quantiles which several rooms need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace smile {

/// log Σ exp(v_i) without overflow; −∞ of nothing. NaN and +∞ pass through.
double log_sum_exp(std::span<const double> values) noexcept;

/// log Σ exp(v_i), one value at a time: keeps the largest value and the sum relative to it, at one
/// exponential a value. `empty()` state is −∞.
class LogSumExp {
 public:
  void add(double value) noexcept;
  void merge(const LogSumExp& other) noexcept;
  double value() const noexcept;

 private:
  double largest_ = -std::numeric_limits<double>::infinity();
  double sum_ = 0;  // Σ exp(v_i − largest_)
};

/// Mean and variance of a weighted stream.
/// @source Welford 1962, West 1979 (weights); Chan, Golub & LeVeque 1983 (merge)
class RunningMoments {
 public:
  /// @param weight ≥ 0
  void add(double value, double weight = 1) noexcept;
  void merge(const RunningMoments& other) noexcept;

  /// Number of values added, whatever their weight.
  std::uint64_t count() const noexcept { return count_; }
  double total_weight() const noexcept { return weight_; }
  /// NaN while the total weight is 0.
  double mean() const noexcept;
  /// Σ w (x − mean)² / Σ w; NaN while the total weight is 0.
  double variance() const noexcept;
  /// Unweighted use only: divisor n − 1; NaN below two values.
  double sample_variance() const noexcept;

 private:
  std::uint64_t count_ = 0;
  double weight_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // Σ w (x − mean)²
};

/// Arithmetic mean; NaN of nothing.
double mean_of(std::span<const double> values) noexcept;
/// Standard deviation with divisor n − 1; NaN below two values.
double sample_sd(std::span<const double> values) noexcept;

/// Quantile with linear interpolation at position (n−1)q between the sorted values (R's type 7, NumPy's
/// default); NaN of nothing.
/// @param q in [0, 1]
double quantile_of_sorted(std::span<const double> sorted, double q) noexcept;
/// As above for values in any order, which are reordered.
double quantile(std::span<double> values, double q) noexcept;
/// Several quantiles at once.   @param q ascending   @param out @shape [q.size()]
/// @cost about log2(number of quantiles) passes of selection, less than a full sort
void quantiles(std::span<double> values, std::span<const double> q, std::span<double> out);

/// Standard deviation of the mean under resampling with replacement (spec 1.11: the spread of b² over
/// chains). A function of the values, the number of resamples and the seed alone. 0 for one value, NaN for
/// none.
double bootstrap_sd_of_mean(std::span<const double> values, std::size_t resamples, std::uint64_t seed);

}  // namespace smile

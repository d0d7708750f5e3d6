// SPDX-License-Identifier: Apache-2.0
/// Predictive metrics of regression, streaming over the draws of a fixed test set (spec 3.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "smile/evaluation/predictive.hpp"

namespace smile {

struct RegressionOptions {
  /// Standard deviation of the target before normalisation: RMSE in the target's own unit = RMSE ·
  /// target_scale.
  double target_scale = 1;
  /// Central intervals to check, each in (0, 1); empty: no intervals.
  std::vector<double> nominal_coverages = {0.5, 0.75, 0.9, 0.95};
  /// Mean and σ of every draw are kept for the widths of the intervals where they fit in this many bytes
  /// (8 a draw and point), else of every m-th draw of each chain with the smallest m that fits. Coverages
  /// need none of them: they are exact whatever the number of draws.
  std::size_t interval_bytes = std::size_t{4} << 20;
  /// Running LPPD for every s where its table (16 bytes an s and point) fits in this many bytes, else for the
  /// largest even grid that does.
  std::size_t running_bytes = std::size_t{16} << 20;
};

/// Central interval between the exact (1−c)/2 and (1+c)/2 quantiles of a point's predictive mixture.
struct IntervalCoverage {
  double nominal = 0;  ///< c
  double observed = 0;  ///< share of the test points whose target lies in their interval: |2F̄(y) − 1| ≤ c
  double width = 0;     ///< mean width over the test points, normalised units
};

struct RegressionMetrics {
  std::size_t points = 0;
  std::vector<std::size_t> draws_per_chain;
  LppdMetrics lppd;          ///< mixture of Normals, each with its own sample's σ
  double rmse = 0;           ///< of the mean of the predictive means; normalised units
  double rmse_own_unit = 0;  ///< rmse · target_scale
  std::vector<double>
      chainwise_rmse;  ///< each chain alone, normalised units; shows a chain that has blown up
  std::vector<IntervalCoverage> intervals;
  double calibration_error =
      0;  ///< sqrt(mean over the nominal coverages of (nominal − observed)²); NaN without intervals
  std::size_t interval_draws = 0;  ///< draws a point that the widths rest on
  /// First prediction that is not finite in the order of adding; the metrics it enters are then NaN or
  /// infinite.
  std::optional<PredictionPlace> nonfinite;
};

/// The predictive mixture of each test point by itself.   @shape [n] each
struct PointwisePredictive {
  std::vector<double> mean;
  std::vector<double> aleatoric_sd;  ///< sqrt of the mean of the draws' σ²
  std::vector<double> epistemic_sd;  ///< sd of the draws' means, divisor their number
  /// F̄(y) = mean over the draws of Φ((y − mean)/σ). Uniform where the predictive is calibrated; y lies in the
  /// central interval of coverage c (between exact quantiles of the mixture) where |2F̄(y) − 1| ≤ c.
  std::vector<double> pit;

  /// Share of the points whose target lies in their central interval; NaN where a pit is NaN.
  double coverage(double nominal) const;
};

/// Takes the predictions of one draw (or of a batch of its rows) at a time. Memory: O((K + grid) · n), and
/// `interval_bytes` for the widths of intervals. Not for use from several threads at once.
class RegressionAccumulator {
 public:
  /// @param targets          @shape [n], normalised units
  /// @param draws_per_chain  S_k ≥ 1 of each chain
  /// @throws Error for no targets, no chains, a chain without draws, a target that is not finite, a coverage
  ///         outside (0, 1)
  RegressionAccumulator(std::span<const double> targets, std::vector<std::size_t> draws_per_chain,
                        RegressionOptions options = {});
  ~RegressionAccumulator();
  RegressionAccumulator(RegressionAccumulator&&) noexcept;
  RegressionAccumulator& operator=(RegressionAccumulator&&) noexcept;

  /// Task `regr`: each point has its own log σ; σ = clip(e^r, 1e−6, 1e6). T is float or double; all sums
  /// double. Of each chain and row draws come in order 0, 1, …; chains and row batches in any order.
  /// @param chain, draw  counted from 0
  /// @param mean, log_sd @shape [rows]   predictions of the rows first_row … first_row + rows − 1
  /// @throws Error for a chain, draw or rows out of range or out of order
  template <class T>
  void add(std::size_t chain, std::size_t draw, std::span<const T> mean, std::span<const T> log_sd,
           std::size_t first_row = 0);

  /// Task `mean_regr`: one global log σ a sample.
  template <class T>
  void add(std::size_t chain, std::size_t draw, std::span<const T> mean, double log_sigma,
           std::size_t first_row = 0);

  /// @throws Error when draws or rows are missing
  RegressionMetrics metrics() const;

  PointwisePredictive pointwise() const;
  /// Mean of the predictive means and log p̄(y|x) of each test point.   @shape [n] each
  std::vector<double> pointwise_mean() const;
  std::vector<double> pointwise_lppd() const;
  /// LPPD of the first k chains of `order`, k = 1 … order.size().   @throws Error for a chain out of range
  std::vector<double> sequential_lppd(std::span<const std::size_t> order) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The deep ensemble of a task without σ (`mean_regr`), a baseline with two LPPDs (spec 3.1).
struct DeepEnsembleRegression {
  /// Equal mixture of Normal(member's mean, spread): as the authors do, a straw man.
  double lppd_spread = 0;
  /// Equal mixture of Normal(member's mean, member's residual sd): the fair baseline; NaN where none is
  /// given.
  std::vector<double> residual_pointwise;  ///< its rows @shape [rows]; empty where it is not known
  double lppd_residual = 0;
  double rmse = 0;             ///< of the mean of the members' means
  std::vector<double> spread;  ///< @shape [n] sd of the members' means, divisor K, clipped to [1e−6, 1e6]
};
/// @param targets       @shape [n]
/// @param member_means  @shape [members, n]
/// @param residual_sd   @shape [members] sd of each member's validation residuals, or empty
/// @throws Error for shapes that do not fit
DeepEnsembleRegression evaluate_deep_ensemble(std::span<const double> targets,
                                              std::span<const double> member_means,
                                              std::span<const double> residual_sd = {});

}  // namespace smile

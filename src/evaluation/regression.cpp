// SPDX-License-Identifier: Apache-2.0
#include "smile/evaluation/regression.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>

#include "evaluation/kept_mixtures.hpp"
#include "evaluation/lppd_tracker.hpp"
#include "smile/error.hpp"

namespace smile {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kSigmaMax = 1e6;  // σ = clip(e^r, 1e−6, 1e6), spec 2.1
const double kLogSigmaMax = std::log(kSigmaMax);
const double kHalfLogTwoPi = 0.5 * std::log(2 * std::numbers::pi);
const char* const kWhere = "regression metrics";

double clipped(double log_sigma) {
  return std::clamp(log_sigma, -kLogSigmaMax, kLogSigmaMax);
}

/// log Normal(y; mean, σ) from log σ and 1/σ.
double log_normal(double y, double mean, double log_sigma, double inverse_sigma) {
  const double z = (y - mean) * inverse_sigma;
  return -0.5 * z * z - log_sigma - kHalfLogTwoPi;
}

double rmse_of(std::span<const double> targets, std::span<const double> mean_sum, double draws) {
  double squares = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const double error = mean_sum[i] / draws - targets[i];
    squares += error * error;
  }
  return std::sqrt(squares / static_cast<double>(targets.size()));
}

}  // namespace

struct RegressionAccumulator::State {
  State(std::span<const double> targets_, std::vector<std::size_t> draws_per_chain,
        RegressionOptions options_)
      : targets(targets_.begin(), targets_.end()),
        options(std::move(options_)),
        tracker(kWhere, targets.size(), std::move(draws_per_chain), options.running_bytes),
        kept(targets.size(),
             options.nominal_coverages.empty() ? std::vector<std::size_t>{0} : tracker.draws_per_chain(),
             options.interval_bytes),
        mean_sum(tracker.chains() * targets.size()),
        error_squares(targets.size()),
        noise(targets.size()),
        pit_sum(targets.size()),
        log_density(targets.size()) {}

  /// @param log_sigma  of row i of the batch, clipped
  template <class T, class LogSigma>
  void add(std::size_t chain, std::size_t draw, std::span<const T> mean, LogSigma log_sigma,
           std::size_t first_row);

  std::vector<double> pooled_mean_sum() const {
    std::vector<double> sum(targets.size());
    for (std::size_t k = 0; k < tracker.chains(); ++k)
      for (std::size_t i = 0; i < targets.size(); ++i) sum[i] += mean_sum[k * targets.size() + i];
    return sum;
  }

  std::vector<double> targets;
  RegressionOptions options;
  LppdTracker tracker;
  KeptMixtures kept;
  std::vector<double> mean_sum;  // @shape [chains, n] sums of the predictive means
  // Of the pooled draws of each point: Σ (mean − y)², Σ σ², Σ Φ((y − mean)/σ).
  std::vector<double> error_squares, noise, pit_sum;
  std::vector<double> log_density;
  std::optional<PredictionPlace> nonfinite;
};

template <class T, class LogSigma>
void RegressionAccumulator::State::add(std::size_t chain, std::size_t draw, std::span<const T> mean,
                                       LogSigma log_sigma, std::size_t first_row) {
  const std::size_t count = mean.size();
  tracker.check(chain, draw, first_row, count);
  const bool keeps = !options.nominal_coverages.empty() && kept.keeps(draw);

  double* sum = mean_sum.data() + chain * targets.size() + first_row;
  const double* y = targets.data() + first_row;
  for (std::size_t i = 0; i < count; ++i) {
    const double m = static_cast<double>(mean[i]), r = log_sigma(i);
    sum[i] += m;
    const double inverse_sigma = std::exp(-clipped(r)), z = (y[i] - m) * inverse_sigma;
    log_density[i] = log_normal(y[i], m, clipped(r), inverse_sigma);
    error_squares[first_row + i] += (m - y[i]) * (m - y[i]);
    noise[first_row + i] += 1 / (inverse_sigma * inverse_sigma);
    pit_sum[first_row + i] += 0.5 * std::erfc(-z * std::numbers::sqrt2 / 2);
    if (keeps) kept.set(chain, draw, first_row + i, m, 1 / inverse_sigma);
    if (!nonfinite && !(std::isfinite(m) && std::isfinite(r))) nonfinite = {chain, draw, first_row + i};
  }
  tracker.add(chain, draw, first_row, std::span(log_density).first(count));
}

RegressionAccumulator::RegressionAccumulator(std::span<const double> targets,
                                             std::vector<std::size_t> draws_per_chain,
                                             RegressionOptions options) {
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (!std::isfinite(targets[i]))
      throw Error(kWhere, "the target of test row " + std::to_string(i) + " is " + std::to_string(targets[i]),
                  "leave out rows without a finite target");
  for (double c : options.nominal_coverages)
    if (!(c > 0 && c < 1))
      throw Error("nominal_coverages", std::to_string(c) + " is no coverage", "give values between 0 and 1");
  state_ = std::make_unique<State>(targets, std::move(draws_per_chain), std::move(options));
}
RegressionAccumulator::~RegressionAccumulator() = default;
RegressionAccumulator::RegressionAccumulator(RegressionAccumulator&&) noexcept = default;
RegressionAccumulator& RegressionAccumulator::operator=(RegressionAccumulator&&) noexcept = default;

template <class T>
void RegressionAccumulator::add(std::size_t chain, std::size_t draw, std::span<const T> mean,
                                std::span<const T> log_sd, std::size_t first_row) {
  if (log_sd.size() != mean.size())
    throw Error(kWhere,
                std::to_string(log_sd.size()) + " log sds for " + std::to_string(mean.size()) + " means",
                "give one a row");
  state_->add(
      chain, draw, mean, [&](std::size_t i) { return static_cast<double>(log_sd[i]); }, first_row);
}

template <class T>
void RegressionAccumulator::add(std::size_t chain, std::size_t draw, std::span<const T> mean,
                                double log_sigma, std::size_t first_row) {
  state_->add(
      chain, draw, mean, [&](std::size_t) { return log_sigma; }, first_row);
}

RegressionMetrics RegressionAccumulator::metrics() const {
  const State& s = *state_;
  s.tracker.check_complete();
  const std::size_t n = s.targets.size();
  RegressionMetrics out;
  out.points = n;
  out.draws_per_chain = s.tracker.draws_per_chain();
  out.lppd = s.tracker.metrics();
  out.rmse = rmse_of(s.targets, s.pooled_mean_sum(), static_cast<double>(s.tracker.total_draws()));
  out.rmse_own_unit = out.rmse * s.options.target_scale;
  for (std::size_t k = 0; k < s.tracker.chains(); ++k)
    out.chainwise_rmse.push_back(rmse_of(s.targets, std::span(s.mean_sum).subspan(k * n, n),
                                         static_cast<double>(out.draws_per_chain[k])));
  out.nonfinite = s.nonfinite;
  out.calibration_error = kNan;
  if (s.options.nominal_coverages.empty()) return out;
  out.interval_draws = s.kept.count();
  const PointwisePredictive points = pointwise();
  const std::vector<double> widths = s.kept.mean_widths(s.options.nominal_coverages);
  double squares = 0;
  for (std::size_t j = 0; j < widths.size(); ++j) {
    const double nominal = s.options.nominal_coverages[j], observed = points.coverage(nominal);
    out.intervals.push_back({nominal, observed, widths[j]});
    squares += (nominal - observed) * (nominal - observed);
  }
  out.calibration_error = std::sqrt(squares / static_cast<double>(out.intervals.size()));
  return out;
}

PointwisePredictive RegressionAccumulator::pointwise() const {
  const State& s = *state_;
  s.tracker.check_complete();
  const auto draws = static_cast<double>(s.tracker.total_draws());
  PointwisePredictive out;
  out.mean = pointwise_mean();
  for (std::size_t i = 0; i < s.targets.size(); ++i) {
    // The means' variance about y less their bias: no cancellation where both are small against y.
    const double bias = out.mean[i] - s.targets[i];
    out.epistemic_sd.push_back(std::sqrt(std::max(0.0, s.error_squares[i] / draws - bias * bias)));
    out.aleatoric_sd.push_back(std::sqrt(s.noise[i] / draws));
    out.pit.push_back(s.pit_sum[i] / draws);
  }
  return out;
}

double PointwisePredictive::coverage(double nominal) const {
  std::size_t inside = 0;
  for (const double u : pit) {
    if (std::isnan(u)) return kNan;
    inside += std::fabs(2 * u - 1) <= nominal;
  }
  return static_cast<double>(inside) / static_cast<double>(pit.size());
}

std::vector<double> RegressionAccumulator::pointwise_mean() const {
  std::vector<double> mean = state_->pooled_mean_sum();
  for (double& m : mean) m /= static_cast<double>(state_->tracker.total_draws());
  return mean;
}

std::vector<double> RegressionAccumulator::pointwise_lppd() const {
  return state_->tracker.pointwise();
}

std::vector<double> RegressionAccumulator::sequential_lppd(std::span<const std::size_t> order) const {
  return state_->tracker.sequential(order);
}

template void RegressionAccumulator::add(std::size_t, std::size_t, std::span<const float>,
                                         std::span<const float>, std::size_t);
template void RegressionAccumulator::add(std::size_t, std::size_t, std::span<const double>,
                                         std::span<const double>, std::size_t);
template void RegressionAccumulator::add(std::size_t, std::size_t, std::span<const float>, double,
                                         std::size_t);
template void RegressionAccumulator::add(std::size_t, std::size_t, std::span<const double>, double,
                                         std::size_t);

DeepEnsembleRegression evaluate_deep_ensemble(std::span<const double> targets,
                                              std::span<const double> member_means,
                                              std::span<const double> residual_sd) {
  const char* const where = "deep ensemble";
  const std::size_t n = targets.size();
  if (n == 0 || member_means.empty() || member_means.size() % n != 0)
    throw Error(where,
                std::to_string(member_means.size()) + " predictions for " + std::to_string(n) + " test rows",
                "give one prediction a member and row");
  const std::size_t members = member_means.size() / n;
  if (!residual_sd.empty() && residual_sd.size() != members)
    throw Error(
        where,
        std::to_string(residual_sd.size()) + " residual sds for " + std::to_string(members) + " members",
        "give one a member, or none");

  DeepEnsembleRegression out;
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    RunningMoments over_members;
    for (std::size_t k = 0; k < members; ++k) over_members.add(member_means[k * n + i]);
    const double mean = over_members.mean();
    const double spread = std::clamp(std::sqrt(over_members.variance()), 1 / kSigmaMax, kSigmaMax);
    out.spread.push_back(spread);
    LogSumExp mixture;
    for (std::size_t k = 0; k < members; ++k)
      mixture.add(log_normal(targets[i], member_means[k * n + i], std::log(spread), 1 / spread));
    out.lppd_spread += (mixture.value() - std::log(static_cast<double>(members))) / static_cast<double>(n);
    squares += (mean - targets[i]) * (mean - targets[i]);
  }
  out.rmse = std::sqrt(squares / static_cast<double>(n));
  out.lppd_residual = kNan;
  if (!residual_sd.empty()) {
    RegressionOptions options;
    options.nominal_coverages.clear();
    RegressionAccumulator mixture(targets, std::vector<std::size_t>(members, 1), options);
    for (std::size_t k = 0; k < members; ++k)
      mixture.add<double>(k, 0, member_means.subspan(k * n, n), std::log(residual_sd[k]));
    out.lppd_residual = mixture.metrics().lppd.lppd;
    out.residual_pointwise = mixture.pointwise_lppd();
  }
  return out;
}

}  // namespace smile

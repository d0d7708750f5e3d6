// SPDX-License-Identifier: Apache-2.0
#include "smile/statistics/convergence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "smile/error.hpp"
#include "smile/statistics/summaries.hpp"
#include "statistics/autocovariance.hpp"
#include "statistics/ranks.hpp"

namespace smile {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
/// Spread below this share of the largest |x| counts as standing still (spec 3.2).
constexpr double kStillness = 1e-12;
/// With fewer draws a chain the halves have no variance or no second lag.
constexpr std::size_t kFewestDraws = 4;

struct Finding {
  DrawsCondition condition = DrawsCondition::usual;
  std::optional<std::size_t> place = {};  ///< of the draw it is about
};

/// Not finite, or standing still.
Finding examine(std::span<const double> values) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) return {DrawsCondition::nan_draw, i};
    low = std::min(low, values[i]);
    high = std::max(high, values[i]);
  }
  const double largest = std::max(std::fabs(low), std::fabs(high));
  if (std::isinf(largest)) {
    const auto first = std::find_if(values.begin(), values.end(), [](double v) { return std::isinf(v); });
    return {DrawsCondition::infinite_draw, std::size_t(first - values.begin())};
  }
  if (low == high || high - low < kStillness * largest) return {DrawsCondition::constant};
  return {};
}

/// The first half of a chain [halves, half] that stands still.
Finding still_half(std::span<const double> split, std::size_t half) {
  for (std::size_t h = 0; (h + 1) * half <= split.size(); ++h)
    if (examine(split.subspan(h * half, half)).condition == DrawsCondition::constant)
      return {DrawsCondition::still_chain, h};
  return {};
}

/// R̂ of rows taken as chains: sqrt((B/W + n − 1)/n).
double plain_rhat(std::span<const double> values, std::size_t chains) {
  const VarianceSplit v = between_within_variance(values, chains);
  const auto n = static_cast<double>(values.size() / chains);
  return std::sqrt((v.between / v.within + n - 1) / n);
}

/// Median; of an even number half the sum of the two middle ones, as in NumPy: the rounding decides whether
/// their distances to it tie.
double median(std::span<const double> values, std::vector<double>& workspace) {
  workspace.assign(values.begin(), values.end());
  const auto middle = workspace.begin() + static_cast<std::ptrdiff_t>(workspace.size() / 2);
  std::nth_element(workspace.begin(), middle, workspace.end());
  if (workspace.size() % 2) return *middle;
  return (*std::max_element(workspace.begin(), middle) + *middle) / 2;
}

struct RankedRhat {
  double bulk, tail;
  /// Folded draws can all be equal (two values equally often); then the bulk alone decides.
  double larger() const { return std::fmax(bulk, tail); }
};

RankedRhat ranked_rhat(std::span<const double> values, std::size_t chains, RankNormaliser& ranks,
                       std::vector<double>& workspace, std::vector<double>& scores) {
  scores.resize(values.size());
  ranks.normalise(values, scores);
  const double bulk = plain_rhat(scores, chains);
  const double centre = median(values, workspace);
  if (!std::isfinite(centre)) return {bulk, kNan};
  for (std::size_t i = 0; i < values.size(); ++i) scores[i] = std::fabs(values[i] - centre);
  ranks.normalise(scores, scores);
  return {bulk, plain_rhat(scores, chains)};
}

}  // namespace

std::string_view reason(DrawsCondition condition) noexcept {
  switch (condition) {
    case DrawsCondition::usual:
      return "";
    case DrawsCondition::constant:
      return "constant";
    case DrawsCondition::still_chain:
      return "a chain stands still";
    case DrawsCondition::nan_draw:
      return "nan draw";
    case DrawsCondition::infinite_draw:
      return "infinite draw";
    case DrawsCondition::too_few:
      return "fewer than 4 draws";
  }
  return "";
}

VarianceSplit between_within_variance(std::span<const double> values, std::size_t chains) {
  const std::size_t draws = values.size() / chains;
  RunningMoments means;
  double within = 0;
  for (std::size_t c = 0; c < chains; ++c) {
    const auto chain = values.subspan(c * draws, draws);
    // Two passes: exact where draws are far from zero, and the loops vectorise.
    const double mean = mean_of(chain);
    double squares = 0;
    for (double x : chain) squares += (x - mean) * (x - mean);
    within += squares / static_cast<double>(draws - 1);
    means.add(mean);
  }
  return {static_cast<double>(draws) * means.sample_variance(), within / static_cast<double>(chains)};
}

/// Everything that depends on the shape alone, and buffers.
struct ConvergenceDiagnostics::State {
  State(std::size_t chains_, std::size_t draws_)
      : chains(chains_),
        draws(draws_),
        half(draws_ / 2),
        halves(2 * chains_),
        ranks(2 * chains_ * (draws_ / 2)),
        autocovariance(draws_ / 2),
        split(2 * chains_ * (draws_ / 2)),
        scores(split.size()),
        covariance(half),
        correlation(half) {}

  /// Shape, draws that are not finite, too few draws, stillness, in this order of precedence; where all is as
  /// usual, `split` holds the halves.
  Finding check(std::span<const double> values) {
    if (values.size() != chains * draws)
      throw Error("convergence diagnostics",
                  std::to_string(values.size()) + " draws for " + std::to_string(chains) + " chains of " +
                      std::to_string(draws),
                  "give chains × draws values");
    const Finding finding = examine(values);
    if (finding.place) return finding;
    if (draws < kFewestDraws) return {DrawsCondition::too_few};
    if (finding.condition != DrawsCondition::usual) return finding;
    split_chains(values);
    Finding still = still_half(split, half);
    if (still.place) still.place = *still.place / 2 * draws + *still.place % 2 * (draws - half);
    return still;
  }

  /// Cuts every chain in halves; the middle draw of an odd number is left out.
  void split_chains(std::span<const double> values) {
    for (std::size_t c = 0; c < chains; ++c) {
      const auto chain = values.subspan(c * draws, draws);
      std::copy_n(chain.begin(), half, split.begin() + static_cast<std::ptrdiff_t>(2 * c * half));
      std::copy_n(chain.end() - static_cast<std::ptrdiff_t>(half), half,
                  split.begin() + static_cast<std::ptrdiff_t>((2 * c + 1) * half));
    }
  }

  double ess(std::span<const double> series);
  double ess_of_indicator(std::span<const double> values, double prob);

  std::size_t chains, draws, half, halves;
  RankNormaliser ranks;
  Autocovariance autocovariance;
  std::vector<double> split, scores, covariance, correlation, workspace;
};

/// Effective sample size of the half-chains in `series` [halves, half]: S/τ with the autocorrelations
/// combined over chains and cut by Geyer's initial positive, then initial monotone sequence of paired lags.
double ConvergenceDiagnostics::State::ess(std::span<const double> series) {
  const auto size = static_cast<double>(series.size());
  if (std::all_of(series.begin(), series.end(), [&](double x) { return x == series[0]; })) return size;

  const auto n = static_cast<double>(half);
  std::fill(covariance.begin(), covariance.end(), 0.0);
  RunningMoments means;
  for (std::size_t c = 0; c < halves; ++c)
    means.add(autocovariance.add(series.subspan(c * half, half), covariance));
  const auto mean_covariance = [&](std::size_t lag) { return covariance[lag] / static_cast<double>(halves); };
  const double within = mean_covariance(0) * n / (n - 1);
  const double total = mean_covariance(0) + means.sample_variance();
  if (!std::isfinite(total)) return kNan;  // squares that overflow
  const auto rho = [&](std::size_t lag) { return 1 - (within - mean_covariance(lag)) / total; };

  // Pairs (even lag, odd lag) while their sum stays positive; correlation[] holds the pairs that are kept.
  std::vector<double>& kept = correlation;
  std::fill(kept.begin(), kept.end(), 0.0);
  double even = 1, odd = rho(1);
  kept[0] = even;
  kept[1] = odd;
  std::size_t lag = 1;  // the odd lag of the last pair looked at
  while (lag + 3 < half && even + odd > 0) {
    even = rho(lag + 1);
    odd = rho(lag + 2);
    if (even + odd >= 0) {
      kept[lag + 1] = even;
      kept[lag + 2] = odd;
    }
    lag += 2;
  }
  // The last pair counts with its even member only, and only where that is positive. With `lag` = 1 no
  // further pair was looked at: then the first pair itself is the last one (its even member is lag 0).
  const std::size_t end = lag - 1;  // first lag of the last pair
  if (even > 0) kept[end] = even;

  // No pair may exceed the one before it.
  for (std::size_t first = 2; first + 1 < end; first += 2) {
    const double before = kept[first - 2] + kept[first - 1];
    if (kept[first] + kept[first + 1] > before) kept[first] = kept[first + 1] = before / 2;
  }
  double tau = -1;
  for (std::size_t i = 0; i < end; ++i) tau += 2 * kept[i];
  tau += kept[end];
  return size / std::max(tau, 1 / std::log10(size));
}

double ConvergenceDiagnostics::State::ess_of_indicator(std::span<const double> values, double prob) {
  workspace.assign(values.begin(), values.end());
  const double threshold = quantile(workspace, prob);
  for (std::size_t i = 0; i < split.size(); ++i) scores[i] = split[i] <= threshold ? 1 : 0;
  return ess(scores);
}

ConvergenceDiagnostics::ConvergenceDiagnostics(std::size_t chains, std::size_t draws) {
  if (chains == 0) throw Error("convergence diagnostics", "no chains", "give at least one chain");
  state_ = std::make_unique<State>(chains, draws);
}
ConvergenceDiagnostics::~ConvergenceDiagnostics() = default;
ConvergenceDiagnostics::ConvergenceDiagnostics(ConvergenceDiagnostics&&) noexcept = default;
ConvergenceDiagnostics& ConvergenceDiagnostics::operator=(ConvergenceDiagnostics&&) noexcept = default;

Convergence ConvergenceDiagnostics::all(std::span<const double> values) {
  State& s = *state_;
  const Finding finding = s.check(values);
  Convergence out;
  out.condition = finding.condition;
  if (finding.condition != DrawsCondition::usual) {
    out.rhat = out.rhat_bulk = out.rhat_tail = out.rhat_split = kNan;
    out.ess_mean = out.ess_bulk = out.ess_tail = finding.condition == DrawsCondition::constant ? 0 : kNan;
    if (finding.place) out.place = DrawPlace{*finding.place / s.draws, *finding.place % s.draws};
    return out;
  }
  out.rhat_split = plain_rhat(s.split, s.halves);
  const RankedRhat ranked = ranked_rhat(s.split, s.halves, s.ranks, s.workspace, s.scores);
  out.rhat_bulk = ranked.bulk;
  out.rhat_tail = ranked.tail;
  out.rhat = ranked.larger();
  out.ess_mean = s.ess(s.split);
  s.ranks.normalise(s.split, s.scores);
  out.ess_bulk = s.ess(s.scores);
  out.ess_tail = std::min(s.ess_of_indicator(values, 0.05), s.ess_of_indicator(values, 0.95));
  return out;
}

double ConvergenceDiagnostics::ess_bulk(std::span<const double> values) {
  State& s = *state_;
  const DrawsCondition condition = s.check(values).condition;
  if (condition != DrawsCondition::usual) return condition == DrawsCondition::constant ? 0 : kNan;
  s.ranks.normalise(s.split, s.scores);
  return s.ess(s.scores);
}

double ConvergenceDiagnostics::ess_mean(std::span<const double> values) {
  State& s = *state_;
  const DrawsCondition condition = s.check(values).condition;
  if (condition != DrawsCondition::usual) return condition == DrawsCondition::constant ? 0 : kNan;
  return s.ess(s.split);
}

double ConvergenceDiagnostics::rhat(std::span<const double> values) {
  State& s = *state_;
  if (s.check(values).condition != DrawsCondition::usual) return kNan;
  return ranked_rhat(s.split, s.halves, s.ranks, s.workspace, s.scores).larger();
}

namespace {

std::size_t draws_of(std::span<const double> values, std::size_t chains) {
  if (chains == 0 || values.size() % chains != 0)
    throw Error(
        "convergence diagnostics",
        std::to_string(values.size()) + " draws do not divide into " + std::to_string(chains) + " chains",
        "give chains × draws values with at least one chain");
  return values.size() / chains;
}

}  // namespace

Convergence convergence(std::span<const double> values, std::size_t chains) {
  return ConvergenceDiagnostics(chains, draws_of(values, chains)).all(values);
}

double ess_bulk(std::span<const double> values, std::size_t chains) {
  return ConvergenceDiagnostics(chains, draws_of(values, chains)).ess_bulk(values);
}

ChainwiseRhat chainwise_rhat(std::span<const double> chain, std::size_t parts) {
  if (parts < 2)
    throw Error("chain-wise R-hat", std::to_string(parts) + " parts", "cut the chain into at least 2 parts");
  const std::size_t length = chain.size() / parts;
  const auto used = chain.first(length * parts);
  ChainwiseRhat out{kNan, kNan, kNan, examine(used).condition};
  const bool finite =
      out.condition != DrawsCondition::nan_draw && out.condition != DrawsCondition::infinite_draw;
  if (finite && length < 2) out.condition = DrawsCondition::too_few;
  if (out.condition != DrawsCondition::usual) return out;
  RankNormaliser ranks(used.size());
  std::vector<double> workspace, scores;
  const RankedRhat ranked = ranked_rhat(used, parts, ranks, workspace, scores);
  return {ranked.larger(), ranked.bulk, ranked.tail, DrawsCondition::usual};
}

std::vector<ChainwiseRhat> chainwise_rhat_of_each(std::span<const double> values, std::size_t chains,
                                                  std::size_t parts) {
  const std::size_t draws = draws_of(values, chains);
  std::vector<ChainwiseRhat> out;
  out.reserve(chains);
  for (std::size_t c = 0; c < chains; ++c)
    out.push_back(chainwise_rhat(values.subspan(c * draws, draws), parts));
  return out;
}

}  // namespace smile

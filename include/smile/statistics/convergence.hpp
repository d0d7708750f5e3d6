// SPDX-License-Identifier: Apache-2.0
/// Convergence diagnostics of draws [chains, draws]: R̂ and effective sample sizes. Values agree with ArviZ
/// 0.17 where the draws are as usual.
/// @source Vehtari, Gelman, Simpson, Carpenter & Bürkner 2021; Geyer 1992 (truncation); spec 3.2
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace smile {

/// Why the diagnostics of a parameter are not numbers as usual.
enum class DrawsCondition {
  usual,
  constant,       ///< max − min over all chains is 0 or below 1e−12 of the largest |x|: ESS 0, R̂ NaN
  still_chain,    ///< a half of a chain stands still, by the same measure, though others move: everything
                  ///< NaN (its variance of 0 is no within-chain variance), and the first such half is named
  nan_draw,       ///< a draw is NaN: everything NaN, and the first such draw is named
  infinite_draw,  ///< a draw is infinite and none NaN: the same
  too_few,        ///< fewer than 4 draws a chain: everything NaN
};

/// "", "constant", "a chain stands still", "nan draw", "infinite draw", "fewer than 4 draws".
std::string_view reason(DrawsCondition condition) noexcept;

/// Place of a draw, both counted from 0.
struct DrawPlace {
  std::size_t chain = 0;
  std::size_t draw = 0;
};

/// Diagnostics of one scalar quantity. All chains are split in halves (the middle draw of an odd number is
/// left out); ranks are over all halves together, averaged over ties, z = Φ⁻¹((r − 3/8)/(S + 1/4)).
struct Convergence {
  double rhat = 0;        ///< the larger of rhat_bulk and rhat_tail
  double rhat_bulk = 0;   ///< split R̂ of the rank-normalised draws
  double rhat_tail = 0;   ///< the same of the folded draws |x − median|
  double rhat_split = 0;  ///< split R̂ without ranks
  double ess_mean = 0;    ///< effective sample size for the mean, from the draws themselves
  double ess_bulk = 0;    ///< from the rank-normalised draws
  double ess_tail = 0;    ///< the smaller of those of the indicators x ≤ 5 % and x ≤ 95 % quantile
  DrawsCondition condition = DrawsCondition::usual;
  /// nan_draw, infinite_draw: the first such draw in chain-major order; still_chain: where the half begins.
  std::optional<DrawPlace> place;
};

/// R̂ of one chain cut into parts that are taken as chains (and not halved again).
struct ChainwiseRhat {
  double rhat = 0;  ///< the larger of the two
  double rhat_bulk = 0;
  double rhat_tail = 0;
  DrawsCondition condition = DrawsCondition::usual;
};

/// Computes diagnostics of many quantities of one shape [chains, draws]; keeps tables, FFT plan and workspace
/// between calls. One object a thread. One chain is enough. Draws are chain-major: draw i of chain c at
/// c·draws + i. ESS may exceed the number of draws (antithetic chains).
/// @cost O(S log S); bulk ESS of one quantity with S = 10,000 draws about 1 ms
class ConvergenceDiagnostics {
 public:
  /// @throws Error when chains is 0
  ConvergenceDiagnostics(std::size_t chains, std::size_t draws);
  ~ConvergenceDiagnostics();
  ConvergenceDiagnostics(ConvergenceDiagnostics&&) noexcept;
  ConvergenceDiagnostics& operator=(ConvergenceDiagnostics&&) noexcept;

  /// @param values @shape [chains, draws]
  Convergence all(std::span<const double> values);
  /// 0 where constant, NaN where another condition is not `usual`.
  double ess_bulk(std::span<const double> values);
  double ess_mean(std::span<const double> values);
  /// NaN where the condition is not `usual`.
  double rhat(std::span<const double> values);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One-off forms.   @param values @shape [chains, draws]
Convergence convergence(std::span<const double> values, std::size_t chains);
double ess_bulk(std::span<const double> values, std::size_t chains);

/// Rank-normalised R̂ of one chain split into `parts` parts of ⌊n/parts⌋ draws, the last left over dropped:
/// does the chain agree with itself? The right question for posteriors with many modes (spec 3.2). NaN where
/// the draws used are constant, a draw is not finite or a part has fewer than 2 draws.
/// @param parts ≥ 2   @throws Error when parts < 2
ChainwiseRhat chainwise_rhat(std::span<const double> chain, std::size_t parts);

/// Rank-normalised R̂ of each chain: row c of `values` as in chainwise_rhat().
std::vector<ChainwiseRhat> chainwise_rhat_of_each(std::span<const double> values, std::size_t chains,
                                                  std::size_t parts);

/// Variance between the chains' means (times the number of draws) and mean variance within them.
struct VarianceSplit {
  double between = 0;  ///< B = n · var(chain means), divisor K − 1; NaN for one chain
  double within = 0;   ///< W = mean of the chains' variances, divisor n − 1
};
VarianceSplit between_within_variance(std::span<const double> values, std::size_t chains);

}  // namespace smile

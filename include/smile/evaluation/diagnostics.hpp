// SPDX-License-Identifier: Apache-2.0
/// Sampling diagnostics of named quantities: parameters, log σ, the log-density, predictive functions
/// (spec 3.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "smile/statistics/convergence.hpp"

namespace smile {

/// `count` different coordinates of R^d, chosen at random by the seed, ascending; all where count ≥ d.
std::vector<std::size_t> choose_parameters(std::size_t dimension, std::size_t count, std::uint64_t seed);

struct QuantityDiagnostics {
  std::string name;                      ///< "theta[17]", "log_sigma", "log_density", "prediction[3]"
  Convergence convergence;               ///< over all chains
  std::vector<ChainwiseRhat> chainwise;  ///< @shape [chains]
  VarianceSplit variance;
  double mean = 0;  ///< over all draws
  double sd = 0;    ///< over all draws, divisor n − 1
};

/// @param values @shape [chains, draws], chain-major, in step order   @param parts  cuts of chain-wise R̂
QuantityDiagnostics diagnose(std::string name, std::span<const double> values, std::size_t chains,
                             std::size_t parts = 4);

/// Distribution of one statistic over quantities; NaN entries are counted and left out.
struct Spread {
  std::size_t count = 0;                                      ///< finite entries
  std::size_t missing = 0;                                    ///< entries that are NaN or infinite
  double min = 0, lower = 0, median = 0, upper = 0, max = 0;  ///< lower, upper: 5 % and 95 %
};
Spread spread_of(std::vector<double> values);

/// Summary over quantities, for tables.
struct DiagnosticsSummary {
  std::size_t quantities = 0;
  std::size_t constant = 0;  ///< quantities whose draws stand still
  std::size_t with_nan = 0, with_infinite = 0;
  std::size_t with_still_chain = 0;  ///< a chain, or a half of one, stands still though others move
  Spread rhat, ess_bulk, ess_tail, chainwise_rhat;
  /// Per chain: median of its chain-wise R̂ over quantities, NaN entries left out.
  std::vector<double> chain_median_rhat;
  /// Per chain: quantities that stand still in it though others move.
  std::vector<std::size_t> chain_still;
};
DiagnosticsSummary summarise(std::span<const QuantityDiagnostics> quantities);

}  // namespace smile

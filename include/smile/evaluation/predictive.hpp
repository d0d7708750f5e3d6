// SPDX-License-Identifier: Apache-2.0
/// What the streaming evaluations of regression and classification share. The predictive of a new point is
/// the equal mixture over all stored samples, p̄(y|x) = (1/Σ_k S_k) Σ_k Σ_s p(y|x, θ^(k,s)) (spec 3).
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace smile {

/// LPPD of the first s samples of every chain, for increasing s. All s where that is cheap, else an even grid
/// that ends with the last sample.
struct RunningLppd {
  std::vector<std::size_t> samples;  ///< s, counted per chain
  std::vector<double> lppd;          ///< a chain with fewer than s samples takes part with all it has
};

/// Place of a prediction, all counted from 0.
struct PredictionPlace {
  std::size_t chain = 0;
  std::size_t draw = 0;
  std::size_t row = 0;
};

/// LPPDs common to all tasks (spec 3.1): the mean over test points of log p̄(y|x), by log-sum-exp.
struct LppdMetrics {
  double lppd = 0;
  double nll = 0;                  ///< −LPPD per observation (per token for text)
  std::vector<double> chainwise;   ///< each chain alone
  std::vector<double> sequential;  ///< the first k chains, k = 1 … K
  RunningLppd running;
};

}  // namespace smile

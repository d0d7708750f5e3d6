// SPDX-License-Identifier: Apache-2.0
/// Rank-normalisation: values become the normal quantiles of their ranks.
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace smile {

/// For S values: keeps the table of normal quantiles and the workspace between calls.
class RankNormaliser {
 public:
  explicit RankNormaliser(std::size_t size);

  /// out_i = Φ⁻¹((r_i − 3/8)/(S + 1/4)) with the rank r_i of value i from 1, averaged over ties.
  /// @param values @shape [S], no NaN   @param out @shape [S], may be `values`
  void normalise(std::span<const double> values, std::span<double> out);

 private:
  std::vector<double>
      score_;  // of rank (i + 2)/2: ties of two give half ranks, so every half is in the table
  std::vector<std::pair<double, std::size_t>> order_;
};

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// Components of the predictive mixtures kept for the widths of intervals.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace smile {

/// Keeps mean and σ of the draws 0, m, 2m, … of each chain for every row, with the smallest m whose table
/// fits in the given memory (at least one draw a chain is kept).
class KeptMixtures {
 public:
  KeptMixtures(std::size_t rows, const std::vector<std::size_t>& draws_per_chain, std::size_t bytes);

  bool keeps(std::size_t draw) const { return draw % every_ == 0; }
  /// Components kept of each row, all chains together.
  std::size_t count() const { return count_; }

  void set(std::size_t chain, std::size_t draw, std::size_t row, double mean, double sd) {
    const std::size_t at = row * count_ + offset_[chain] + draw / every_;
    means_[at] = float(mean), sds_[at] = float(sd);
  }

  /// Mean over the rows of the width of central intervals between exact quantiles of the kept mixture; NaN
  /// where a component of a row is.
  /// @cost some six passes over the kept components for each end of an interval, 20 ns a component: 4 MiB of
  ///       them with four intervals take 0.3 s
  std::vector<double> mean_widths(std::span<const double> nominal) const;

 private:
  std::size_t rows_, every_ = 1, count_ = 0;
  std::vector<std::size_t> offset_;  // first kept component of each chain in a row
  std::vector<float> means_, sds_;   // @shape [rows, count]
};

}  // namespace smile

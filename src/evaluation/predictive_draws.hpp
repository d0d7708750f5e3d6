/// Predictive draws kept for the intervals of regression.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "smile/evaluation/regression.hpp"

namespace smile {

/// Keeps y = mean + σ z of the draws 0, m, 2m, … of each chain for every row, with the smallest m whose table
/// fits in the given memory (at least one draw a chain is kept).
class PredictiveDraws {
 public:
  PredictiveDraws(std::size_t rows, const std::vector<std::size_t>& draws_per_chain, std::size_t bytes,
                  std::uint64_t seed);

  bool keeps(std::size_t draw) const { return draw % every_ == 0; }
  /// Draws kept of each row, all chains together.
  std::size_t count() const { return count_; }

  /// z of rows first_row … first_row + count − 1, a function of (seed, chain, draw, row).
  std::span<const double> normals(std::size_t chain, std::size_t draw, std::size_t first_row,
                                  std::size_t count);
  /// Where the draws of a chain's kept draw go.   @shape [rows]
  std::span<double> row_of(std::size_t chain, std::size_t draw);

  /// Coverage and width of central intervals, ends included.
  std::vector<IntervalCoverage> intervals(std::span<const double> targets,
                                          std::span<const double> nominal) const;

 private:
  std::size_t rows_, every_ = 1, count_ = 0;
  std::uint64_t seed_;
  std::vector<std::size_t> offset_;  // first kept row of the table of each chain
  std::vector<double> table_;        // @shape [count, rows]
  std::vector<double> normals_;      // of the chain and draw last asked for
  std::size_t normals_chain_, normals_draw_;
};

}  // namespace smile

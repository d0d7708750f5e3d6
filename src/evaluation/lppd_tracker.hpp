// SPDX-License-Identifier: Apache-2.0
/// Log pointwise predictive densities of a fixed test set, streaming over chains and draws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "smile/evaluation/predictive.hpp"
#include "smile/statistics/summaries.hpp"

namespace smile {

/// Keeps log Σ_s p(y_i | θ^(k,s)) of every chain k and row i, and for a grid of s the same over the first s
/// samples of all chains. Also sees to the order of what is added. Memory: (20 K + 16 grid) bytes a row.
class LppdTracker {
 public:
  /// @param where  names the caller in errors
  /// @throws Error for no rows, no chains, a chain without draws
  LppdTracker(std::string where, std::size_t rows, std::vector<std::size_t> draws_per_chain,
              std::size_t running_bytes);

  std::size_t rows() const { return rows_; }
  std::size_t chains() const { return draws_.size(); }
  const std::vector<std::size_t>& draws_per_chain() const { return draws_; }
  std::size_t total_draws() const;

  /// Whether the rows of a draw are the next ones of their chain.
  /// @throws Error when not
  void check(std::size_t chain, std::size_t draw, std::size_t first_row, std::size_t count) const;
  /// @param log_density @shape [count] log p(y_i | θ^(chain,draw)); call check() before
  void add(std::size_t chain, std::size_t draw, std::size_t first_row, std::span<const double> log_density);

  /// @throws Error when something is missing
  void check_complete() const;
  LppdMetrics metrics() const;
  /// LPPD of the first k chains of `order`, k = 1 … order.size().   @throws Error for a chain out of range
  std::vector<double> sequential(std::span<const std::size_t> order) const;
  /// log p̄(y_i|x_i) over all chains.   @shape [rows]
  std::vector<double> pointwise() const;

 private:
  const LogSumExp* chain_row(std::size_t chain) const { return by_chain_.data() + chain * rows_; }
  double mean_over_rows(const LogSumExp* sums, std::size_t draws) const;

  std::string where_;
  std::size_t rows_;
  std::vector<std::size_t> draws_;
  std::vector<std::uint32_t> next_draw_;  // @shape [chains, rows]
  std::vector<LogSumExp> by_chain_;       // @shape [chains, rows]
  std::vector<std::size_t> grid_;         // numbers of samples s, ascending
  std::vector<LogSumExp> running_;        // @shape [grid, rows]
};

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include "evaluation/lppd_tracker.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "smile/error.hpp"

namespace smile {

namespace {

/// All s up to `longest` where `slots` suffice, else `slots` even steps that end there.
std::vector<std::size_t> running_grid(std::size_t longest, std::size_t slots) {
  const std::size_t count = std::clamp<std::size_t>(slots, 1, longest);
  std::vector<std::size_t> grid(count);
  for (std::size_t j = 0; j < count; ++j) grid[j] = (j + 1) * longest / count;
  return grid;
}

}  // namespace

LppdTracker::LppdTracker(std::string where, std::size_t rows, std::vector<std::size_t> draws_per_chain,
                         std::size_t running_bytes)
    : where_(std::move(where)), rows_(rows), draws_(std::move(draws_per_chain)) {
  if (rows_ == 0) throw Error(where_, "no test rows", "give at least one row to evaluate on");
  if (draws_.empty()) throw Error(where_, "no chains", "give the number of draws of at least one chain");
  for (std::size_t k = 0; k < draws_.size(); ++k)
    if (draws_[k] == 0)
      throw Error(where_, "chain " + std::to_string(k) + " has no draws", "leave out chains without draws");
  const std::size_t longest = *std::max_element(draws_.begin(), draws_.end());
  next_draw_.resize(chains() * rows_);
  by_chain_.resize(chains() * rows_);
  grid_ = running_grid(longest, running_bytes / (sizeof(LogSumExp) * rows_));
  running_.resize(grid_.size() * rows_);
}

std::size_t LppdTracker::total_draws() const {
  return std::accumulate(draws_.begin(), draws_.end(), std::size_t{0});
}

void LppdTracker::check(std::size_t chain, std::size_t draw, std::size_t first_row, std::size_t count) const {
  if (chain >= chains())
    throw Error(where_, "chain " + std::to_string(chain) + " of " + std::to_string(chains()),
                "count chains from 0 and declare all of them");
  if (draw >= draws_[chain])
    throw Error(where_,
                "draw " + std::to_string(draw) + " of chain " + std::to_string(chain) + " with " +
                    std::to_string(draws_[chain]),
                "count draws from 0 and declare all of them");
  if (first_row > rows_ || count > rows_ - first_row)
    throw Error(where_,
                "rows " + std::to_string(first_row) + " to " + std::to_string(first_row + count) + " of " +
                    std::to_string(rows_),
                "give predictions of the test rows only");
  const auto next = next_draw_.begin() + static_cast<std::ptrdiff_t>(chain * rows_ + first_row);
  for (std::size_t i = 0; i < count; ++i)
    if (next[static_cast<std::ptrdiff_t>(i)] != draw)
      throw Error(where_,
                  "draw " + std::to_string(draw) + " of chain " + std::to_string(chain) + " at row " +
                      std::to_string(first_row + i) + " where draw " +
                      std::to_string(next[static_cast<std::ptrdiff_t>(i)]) + " is due",
                  "add the draws of a chain in order, each row once");
}

void LppdTracker::add(std::size_t chain, std::size_t draw, std::size_t first_row,
                      std::span<const double> log_density) {
  const std::size_t start = chain * rows_ + first_row, count = log_density.size();
  for (std::size_t i = 0; i < count; ++i) by_chain_[start + i].add(log_density[i]);
  for (std::size_t i = 0; i < count; ++i) ++next_draw_[start + i];

  const std::size_t samples = draw + 1;
  const bool last = samples == draws_[chain];
  auto slot = static_cast<std::size_t>(std::lower_bound(grid_.begin(), grid_.end(), samples) - grid_.begin());
  // A chain that has ended takes part in every later s with all it has.
  for (; slot < grid_.size() && (grid_[slot] == samples || last); ++slot) {
    LogSumExp* sums = running_.data() + slot * rows_ + first_row;
    for (std::size_t i = 0; i < count; ++i) sums[i].merge(by_chain_[start + i]);
  }
}

void LppdTracker::check_complete() const {
  for (std::size_t k = 0; k < chains(); ++k)
    for (std::size_t i = 0; i < rows_; ++i)
      if (const std::size_t seen = next_draw_[k * rows_ + i]; seen != draws_[k])
        throw Error(where_,
                    "row " + std::to_string(i) + " has " + std::to_string(seen) + " of the " +
                        std::to_string(draws_[k]) + " draws of chain " + std::to_string(k),
                    "add the predictions of every row for every draw before asking for metrics");
}

double LppdTracker::mean_over_rows(const LogSumExp* sums, std::size_t draws) const {
  double total = 0;
  for (std::size_t i = 0; i < rows_; ++i) total += sums[i].value();
  return total / static_cast<double>(rows_) - std::log(static_cast<double>(draws));
}

LppdMetrics LppdTracker::metrics() const {
  LppdMetrics out;
  std::vector<LogSumExp> pooled(rows_);
  std::size_t draws = 0;
  for (std::size_t k = 0; k < chains(); ++k) {
    const LogSumExp* chain = chain_row(k);
    for (std::size_t i = 0; i < rows_; ++i) pooled[i].merge(chain[i]);
    draws += draws_[k];
    out.chainwise.push_back(mean_over_rows(chain, draws_[k]));
    out.sequential.push_back(mean_over_rows(pooled.data(), draws));
  }
  out.lppd = out.sequential.back();
  out.nll = -out.lppd;
  for (std::size_t j = 0; j < grid_.size(); ++j) {
    std::size_t used = 0;
    for (std::size_t s : draws_) used += std::min(s, grid_[j]);
    out.running.samples.push_back(grid_[j]);
    out.running.lppd.push_back(mean_over_rows(running_.data() + j * rows_, used));
  }
  return out;
}

std::vector<double> LppdTracker::sequential(std::span<const std::size_t> order) const {
  std::vector<LogSumExp> pooled(rows_);
  std::vector<double> out;
  std::size_t draws = 0;
  for (const std::size_t k : order) {
    if (k >= chains())
      throw Error(where_, "there is no chain " + std::to_string(k), "order the chains 0 … K − 1");
    const LogSumExp* chain = chain_row(k);
    for (std::size_t i = 0; i < rows_; ++i) pooled[i].merge(chain[i]);
    draws += draws_[k];
    out.push_back(mean_over_rows(pooled.data(), draws));
  }
  return out;
}

std::vector<double> LppdTracker::pointwise() const {
  std::vector<double> out(rows_);
  const double log_draws = std::log(static_cast<double>(total_draws()));
  for (std::size_t i = 0; i < rows_; ++i) {
    LogSumExp pooled;
    for (std::size_t k = 0; k < chains(); ++k) pooled.merge(by_chain_[k * rows_ + i]);
    out[i] = pooled.value() - log_draws;
  }
  return out;
}

}  // namespace smile

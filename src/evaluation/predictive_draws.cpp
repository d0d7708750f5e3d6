#include "evaluation/predictive_draws.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "smile/random/stream.hpp"
#include "smile/statistics/summaries.hpp"

namespace smile {

namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

std::size_t kept(const std::vector<std::size_t>& draws_per_chain, std::size_t every) {
  std::size_t total = 0;
  for (std::size_t draws : draws_per_chain) total += (draws + every - 1) / every;
  return total;
}

}  // namespace

PredictiveDraws::PredictiveDraws(std::size_t rows, const std::vector<std::size_t>& draws_per_chain,
                                 std::size_t bytes, std::uint64_t seed)
    : rows_(rows), seed_(seed), normals_chain_(kNone), normals_draw_(kNone) {
  const std::size_t longest = *std::max_element(draws_per_chain.begin(), draws_per_chain.end());
  const std::size_t room = bytes / (sizeof(double) * rows_);
  while (every_ < longest && kept(draws_per_chain, every_) > room) ++every_;
  for (std::size_t draws : draws_per_chain) {
    offset_.push_back(count_);
    count_ += (draws + every_ - 1) / every_;
  }
  table_.resize(count_ * rows_);
}

std::span<const double> PredictiveDraws::normals(std::size_t chain, std::size_t draw, std::size_t first_row,
                                                 std::size_t count) {
  // Batches of rows of one draw share what was generated for the whole draw.
  if (chain != normals_chain_ || draw != normals_draw_) {
    normals_.resize(rows_);
    fill_normals({seed_, static_cast<std::uint32_t>(chain), Purpose::predictive}, draw,
                 std::span<double>(normals_));
    normals_chain_ = chain;
    normals_draw_ = draw;
  }
  return std::span<const double>(normals_).subspan(first_row, count);
}

std::span<double> PredictiveDraws::row_of(std::size_t chain, std::size_t draw) {
  return std::span(table_).subspan((offset_[chain] + draw / every_) * rows_, rows_);
}

std::vector<IntervalCoverage> PredictiveDraws::intervals(std::span<const double> targets,
                                                         std::span<const double> nominal) const {
  // All interval ends of a point are found together, in ascending order of their probability.
  const std::size_t number = nominal.size();
  std::vector<double> probs, ends(2 * number);
  for (double c : nominal) probs.push_back((1 - c) / 2);
  for (double c : nominal) probs.push_back((1 + c) / 2);
  std::vector<std::size_t> order(2 * number), place(2 * number);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return probs[a] < probs[b]; });
  std::vector<double> ascending;
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    ascending.push_back(probs[order[i]]);
  }

  std::vector<std::size_t> covered(number);
  std::vector<double> width(number);
  constexpr std::size_t kBlock = 8;  // columns copied together: one cache line of the table
  std::vector<double> columns(kBlock * count_);
  for (std::size_t first = 0; first < rows_; first += kBlock) {
    const std::size_t block = std::min(kBlock, rows_ - first);
    for (std::size_t d = 0; d < count_; ++d)
      for (std::size_t i = 0; i < block; ++i) columns[i * count_ + d] = table_[d * rows_ + first + i];
    for (std::size_t i = 0; i < block; ++i) {
      const auto column = std::span(columns).subspan(i * count_, count_);
      // A NaN has no place in an order; the width then says so.
      if (std::any_of(column.begin(), column.end(), [](double v) { return std::isnan(v); }))
        std::fill(ends.begin(), ends.end(), std::numeric_limits<double>::quiet_NaN());
      else
        quantiles(column, ascending, ends);
      for (std::size_t j = 0; j < number; ++j) {
        const double low = ends[place[j]], high = ends[place[number + j]];
        covered[j] += low <= targets[first + i] && targets[first + i] <= high;
        width[j] += high - low;
      }
    }
  }
  std::vector<IntervalCoverage> out;
  const auto n = static_cast<double>(rows_);
  for (std::size_t j = 0; j < number; ++j) {
    const double observed = static_cast<double>(covered[j]) / n, mean_width = width[j] / n;
    out.push_back({nominal[j], std::isnan(mean_width) ? mean_width : observed, mean_width});
  }
  return out;
}

}  // namespace smile

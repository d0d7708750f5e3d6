// SPDX-License-Identifier: Apache-2.0
#include "statistics/ranks.hpp"

#include <algorithm>

#include "smile/statistics/normal.hpp"

namespace smile {

RankNormaliser::RankNormaliser(std::size_t size) : score_(size ? 2 * size - 1 : 0), order_(size) {
  for (std::size_t i = 0; i < score_.size(); ++i)
    score_[i] =
        normal_quantile((1 + 0.5 * static_cast<double>(i) - 0.375) / (static_cast<double>(size) + 0.25));
}

void RankNormaliser::normalise(std::span<const double> values, std::span<double> out) {
  const std::size_t size = order_.size();
  for (std::size_t i = 0; i < size; ++i) order_[i] = {values[i], i};
  std::sort(order_.begin(), order_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t first = 0; first < size;) {
    std::size_t last = first;
    while (last + 1 < size && order_[last + 1].first == order_[first].first) ++last;
    const double score = score_[first + last];  // rank (first + 1 + last + 1)/2
    for (std::size_t i = first; i <= last; ++i) out[order_[i].second] = score;
    first = last + 1;
  }
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "smile/data/dataset.hpp"
#include "smile/error.hpp"

namespace smile {

Moments moments_of(std::span<const double> values) {
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  std::size_t observed = 0;
  for (double x : values) {
    if (std::isnan(x)) continue;
    lowest = std::min(lowest, x);
    highest = std::max(highest, x);
    ++observed;
  }
  if (observed == 0) throw Error("moments", "there are no values", "give at least one");
  if (lowest == highest) return {lowest, 0};

  // In units of a power of two near the largest value, so that nothing overflows or underflows and the
  // division rounds nothing.
  const double unit = std::ldexp(1.0, std::ilogb(std::max(std::fabs(lowest), std::fabs(highest))));
  double mean = 0;
  for (double x : values)
    if (!std::isnan(x)) mean += x / unit;
  mean /= static_cast<double>(observed);
  double correction = 0, largest = 0;
  for (double x : values)
    if (!std::isnan(x)) {
      correction += x / unit - mean;
      largest = std::max(largest, std::fabs(x / unit - mean));
    }
  mean += correction / static_cast<double>(observed);
  double squares = 0;
  for (double x : values)
    if (!std::isnan(x)) {
      const double deviation = (x / unit - mean) / largest;
      squares += deviation * deviation;
    }
  return {mean * unit, std::sqrt(squares / static_cast<double>(values.size())) * largest * unit};
}

void ColumnScaling::scale_features(std::span<double> features) const {
  const std::size_t inputs = feature_mean.size();
  for (std::size_t i = 0; i < features.size(); ++i) {
    const std::size_t j = i % inputs;
    const double x = std::isnan(features[i]) ? feature_fill[j] : features[i];
    features[i] = feature_sd[j] == 0 ? 0 : (x - feature_mean[j]) / feature_sd[j];
  }
}

}  // namespace smile

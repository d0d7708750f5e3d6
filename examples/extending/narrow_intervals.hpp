/// How far the central intervals of a regression fall short of what they promise, on average: 0 where all
/// hold as many targets as they say, or more.
#pragma once

#include <algorithm>

#include "smile/evaluation/regression.hpp"

inline double shortfall_of_intervals(const smile::RegressionMetrics& metrics) {
  double sum = 0;
  for (const smile::IntervalCoverage& interval : metrics.intervals)
    sum += std::max(0.0, interval.nominal - interval.observed);
  return sum / double(metrics.intervals.size());
}

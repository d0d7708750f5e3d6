// SPDX-License-Identifier: Apache-2.0
#include "smile/evaluation/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "evaluation/argmax.hpp"
#include "smile/error.hpp"

namespace smile {

namespace {

/// Bin b holds (b/B, (b+1)/B]; the edges are the doubles nearest to b/B.
std::size_t bin_of(double value, std::size_t bins) {
  const auto edge = [&](std::size_t b) { return static_cast<double>(b) / static_cast<double>(bins); };
  auto bin = static_cast<std::size_t>(std::clamp(value, 0.0, 1.0) * static_cast<double>(bins));
  bin = std::min(bin, bins - 1);
  // The product may have been rounded across an edge.
  while (bin > 0 && value <= edge(bin)) --bin;
  while (bin + 1 < bins && value > edge(bin + 1)) ++bin;
  return bin;
}

/// @param binned   class whose probability is binned, and
/// @param correct  whether the prediction is right, both from the index of a point and its row
template <class Binned, class Correct>
Reliability diagram(std::span<const double> probabilities, std::span<const std::uint32_t> labels,
                    std::size_t classes, std::size_t bins, Binned binned, Correct correct) {
  if (bins == 0) throw Error("reliability diagram", "no bins", "ask for at least one bin");
  if (labels.empty() || probabilities.size() != labels.size() * classes)
    throw Error("reliability diagram",
                std::to_string(probabilities.size()) + " probabilities for " + std::to_string(labels.size()) +
                    " labels and " + std::to_string(classes) + " classes",
                "give one probability a point and class");
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Reliability out{0, std::vector<std::size_t>(bins), std::vector<double>(bins), std::vector<double>(bins)};
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto row = probabilities.subspan(i * classes, classes);
    const double value = row[binned(i, row)];
    if (std::isnan(value)) {  // belongs to no bin
      out.ece = nan;
      continue;
    }
    const std::size_t bin = bin_of(value, bins);
    ++out.count[bin];
    out.accuracy[bin] += correct(i, row);
    out.confidence[bin] += value;
  }
  for (std::size_t b = 0; b < bins; ++b) {
    const auto count = static_cast<double>(out.count[b]);
    out.ece += std::fabs(out.accuracy[b] - out.confidence[b]) / static_cast<double>(labels.size());
    out.accuracy[b] = out.count[b] ? out.accuracy[b] / count : nan;
    out.confidence[b] = out.count[b] ? out.confidence[b] / count : nan;
  }
  return out;
}

}  // namespace

Reliability reliability(std::span<const double> probabilities, std::span<const std::uint32_t> labels,
                        std::size_t classes, std::size_t bins) {
  using Row = std::span<const double>;
  return diagram(
      probabilities, labels, classes, bins, [](std::size_t, Row row) { return argmax(row); },
      [&](std::size_t i, Row row) { return argmax(row) == labels[i]; });
}

Reliability true_class_reliability(std::span<const double> probabilities,
                                   std::span<const std::uint32_t> labels,
                                   std::span<const std::uint32_t> predicted, std::size_t classes,
                                   std::size_t bins) {
  if (predicted.size() != labels.size())
    throw Error(
        "reliability diagram",
        std::to_string(predicted.size()) + " predictions for " + std::to_string(labels.size()) + " labels",
        "give one a point");
  using Row = std::span<const double>;
  return diagram(
      probabilities, labels, classes, bins, [&](std::size_t i, Row) { return labels[i]; },
      [&](std::size_t i, Row) { return predicted[i] == labels[i]; });
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include "smile/evaluation/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "smile/error.hpp"

namespace smile {

namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void require_equal(const char* where, std::size_t a, std::size_t b) {
  if (a != b)
    throw Error(where, std::to_string(a) + " values beside " + std::to_string(b),
                "give as many of one as of the other");
}

std::vector<std::size_t> identity(std::size_t n) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

}  // namespace

double auroc(std::span<const double> score, std::span<const std::uint8_t> positive) {
  require_equal("AUROC", score.size(), positive.size());
  if (std::any_of(score.begin(), score.end(), [](double s) { return std::isnan(s); })) return kNan;
  std::vector<std::size_t> order = identity(score.size());
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return score[a] < score[b]; });
  // Pairs won, counted in halves so that ties stay whole numbers.
  std::uint64_t positives = 0, negatives = 0, halves = 0;
  for (std::size_t first = 0; first < order.size();) {
    std::uint64_t tied_positives = 0, tied_negatives = 0;
    std::size_t i = first;
    for (; i < order.size() && score[order[i]] == score[order[first]]; ++i)
      ++(positive[order[i]] ? tied_positives : tied_negatives);
    halves += tied_positives * (2 * negatives + tied_negatives);
    positives += tied_positives;
    negatives += tied_negatives;
    first = i;
  }
  if (positives == 0 || negatives == 0) return kNan;
  return 0.5 * static_cast<double>(halves) /
         (static_cast<double>(positives) * static_cast<double>(negatives));
}

double macro_auroc(std::span<const double> probabilities, std::span<const std::uint32_t> labels,
                   std::size_t classes) {
  require_equal("macro AUROC", probabilities.size(), labels.size() * classes);
  std::vector<double> score(labels.size());
  std::vector<std::uint8_t> positive(labels.size());
  double sum = 0;
  std::size_t counted = 0;
  for (std::size_t c = 0; c < classes; ++c) {
    std::size_t positives = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      score[i] = probabilities[i * classes + c];
      positive[i] = labels[i] == c;
      positives += positive[i];
    }
    if (positives == 0 || positives == labels.size()) continue;
    sum += auroc(score, positive);
    ++counted;
  }
  return counted ? sum / static_cast<double>(counted) : kNan;
}

double ood_auroc(std::span<const double> in_distribution, std::span<const double> out_of_distribution) {
  std::vector<double> score(in_distribution.begin(), in_distribution.end());
  score.insert(score.end(), out_of_distribution.begin(), out_of_distribution.end());
  std::vector<std::uint8_t> outside(score.size(), 0);
  std::fill(outside.begin() + static_cast<std::ptrdiff_t>(in_distribution.size()), outside.end(),
            std::uint8_t{1});
  return auroc(score, outside);
}

double aurc(std::span<const double> confidence, std::span<const std::uint8_t> correct) {
  require_equal("AURC", confidence.size(), correct.size());
  if (confidence.empty() ||
      std::any_of(confidence.begin(), confidence.end(), [](double c) { return std::isnan(c); }))
    return kNan;
  std::vector<std::size_t> order = identity(confidence.size());
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return confidence[a] > confidence[b]; });
  double area = 0, errors = 0, last_risk = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    errors += correct[order[i]] ? 0 : 1;
    const double risk = errors / static_cast<double>(i + 1);
    if (i > 0) area += (risk + last_risk) / 2;
    last_risk = risk;
  }
  return area / static_cast<double>(order.size());
}

double f1_score(std::span<const std::uint32_t> predicted, std::span<const std::uint32_t> labels,
                std::size_t classes) {
  require_equal("F1", predicted.size(), labels.size());
  std::vector<std::size_t> hits(classes), in_labels(classes), in_predictions(classes);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= classes || predicted[i] >= classes)
      throw Error("F1", "a class beyond " + std::to_string(classes), "number the classes from 0");
    ++in_labels[labels[i]];
    ++in_predictions[predicted[i]];
    if (labels[i] == predicted[i]) ++hits[labels[i]];
  }
  // 2TP + FP + FN = (TP + FN) + (TP + FP)
  const auto of_class = [&](std::size_t c) {
    const std::size_t both = in_labels[c] + in_predictions[c];
    return both ? 2 * static_cast<double>(hits[c]) / static_cast<double>(both) : 0.0;
  };
  if (classes == 2) return of_class(1);
  double sum = 0;
  std::size_t present = 0;
  for (std::size_t c = 0; c < classes; ++c)
    if (in_labels[c]) {
      sum += of_class(c);
      ++present;
    }
  return present ? sum / static_cast<double>(present) : kNan;
}

}  // namespace smile

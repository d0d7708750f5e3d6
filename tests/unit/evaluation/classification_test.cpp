// SPDX-License-Identifier: Apache-2.0
#include "smile/evaluation/classification.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "smile/error.hpp"
#include "smile/random/stream.hpp"

namespace smile {
namespace {

const double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> normals(std::size_t n, std::uint64_t seed) {
  std::vector<double> out(n);
  fill_normals({seed, 0, Purpose::noise}, 0, std::span<double>(out));
  return out;
}

std::vector<double> logs(std::vector<double> probabilities) {
  for (double& p : probabilities) p = std::log(p);
  return probabilities;
}

TEST(Classification, two_samples_by_hand) {
  // p̄ = (0.5, 0.3, 0.2) and (0.2, 0.5, 0.3); labels 0 and 2.
  const std::vector<std::uint32_t> labels = {0, 2};
  ClassificationAccumulator accumulator(labels, 3, {1, 1});
  accumulator.add<double>(0, 0, logs({0.8, 0.1, 0.1, 0.3, 0.4, 0.3}));
  accumulator.add<double>(1, 0, logs({0.2, 0.5, 0.3, 0.1, 0.6, 0.3}));
  const ClassificationMetrics m = accumulator.metrics();
  const double tolerance = 1e-15;
  EXPECT_NEAR(m.lppd.lppd, (std::log(0.5) + std::log(0.3)) / 2, tolerance);
  EXPECT_NEAR(m.lppd.nll, -m.lppd.lppd, tolerance);
  EXPECT_NEAR(m.perplexity, 1 / std::sqrt(0.15), 1e-14);
  EXPECT_NEAR(m.lppd.chainwise[0], (std::log(0.8) + std::log(0.3)) / 2, tolerance);
  EXPECT_NEAR(m.lppd.chainwise[1], (std::log(0.2) + std::log(0.3)) / 2, tolerance);
  EXPECT_NEAR(m.lppd.sequential[0], m.lppd.chainwise[0], tolerance);
  EXPECT_EQ(m.accuracy, 0.5);
  EXPECT_EQ(m.majority_vote, (std::vector<std::uint32_t>{0, 1}));  // point 0: one vote for 0, one for 1
  EXPECT_EQ(m.majority_accuracy, 0.5);
  EXPECT_NEAR(m.brier, ((0.25 + 0.09 + 0.04) + (0.04 + 0.25 + 0.49)) / 2, tolerance);
  EXPECT_NEAR(m.entropy[0], -0.5 * std::log(0.5) - 0.3 * std::log(0.3) - 0.2 * std::log(0.2), tolerance);
  const double first = -0.8 * std::log(0.8) - 0.2 * std::log(0.1);
  const double second = -0.2 * std::log(0.2) - 0.5 * std::log(0.5) - 0.3 * std::log(0.3);
  EXPECT_NEAR(m.mutual_information[0], m.entropy[0] - (first + second) / 2, tolerance);
  EXPECT_NEAR(m.mean_entropy, (m.entropy[0] + m.entropy[1]) / 2, tolerance);
  // Both confidences are 0.5; class 0 and class 2 have one positive and one negative each.
  EXPECT_EQ(m.auroc, 1);
  EXPECT_EQ(m.f1, 0.5);  // class 0: 1, class 2: 0, class 1 is not in the labels
  EXPECT_NEAR(m.aurc, 0.5 * (0 + 0.5) / 2, tolerance);
  EXPECT_NEAR(m.reliability.ece, 0, 1e-15);
  EXPECT_NEAR(m.true_class_reliability.ece, 0.5 * 0.5 + 0.5 * 0.3, 1e-15);
}

TEST(Classification, row_batches_of_any_size_give_the_same_metrics) {
  const std::size_t n = 301, classes = 4;
  const std::vector<std::size_t> draws = {3, 2};
  std::vector<std::uint32_t> labels(n);
  for (std::size_t i = 0; i < n; ++i) labels[i] = static_cast<std::uint32_t>((i * 7) % classes);
  double expected = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::size_t k : {0, 1})
      for (std::size_t s = 0; s < draws[k]; ++s) {
        const auto logits = normals(n * classes, 10 * k + s);
        double normaliser = 0;
        for (std::size_t c = 0; c < classes; ++c) normaliser += std::exp(logits[i * classes + c]);
        sum += std::exp(logits[i * classes + labels[i]]) / normaliser / 5;
      }
    expected += std::log(sum) / static_cast<double>(n);
  }
  ClassificationMetrics whole;
  for (std::size_t batch : {301, 256, 1}) {
    ClassificationAccumulator accumulator(labels, classes, draws);
    for (std::size_t k : {0, 1})
      for (std::size_t s = 0; s < draws[k]; ++s) {
        const auto logits = normals(n * classes, 10 * k + s);
        for (std::size_t first = 0; first < n; first += batch) {
          const std::size_t rows = std::min(batch, n - first);
          accumulator.add<double>(k, s, std::span(logits).subspan(first * classes, rows * classes), first);
        }
      }
    const ClassificationMetrics m = accumulator.metrics();
    EXPECT_NEAR(m.lppd.lppd, expected, 1e-6 / 301);
    if (batch == 301) whole = m;
    EXPECT_EQ(m.lppd.lppd, whole.lppd.lppd);
    EXPECT_EQ(m.brier, whole.brier);
    EXPECT_EQ(m.auroc, whole.auroc);
    EXPECT_EQ(m.reliability.ece, whole.reliability.ece);
    EXPECT_EQ(m.majority_vote, whole.majority_vote);
  }
}

TEST(Classification, a_masked_class_has_probability_zero_and_no_entropy) {
  const std::vector<std::uint32_t> labels = {1};
  ClassificationAccumulator accumulator(labels, 3, {1});
  accumulator.add<double>(0, 0, std::vector<double>{-kInfinity, 0, 0});
  const ClassificationMetrics m = accumulator.metrics();
  EXPECT_FALSE(m.nonfinite);
  EXPECT_NEAR(m.lppd.lppd, -std::log(2), 1e-15);
  EXPECT_NEAR(m.entropy[0], std::log(2), 1e-15);
  EXPECT_NEAR(m.mutual_information[0], 0, 1e-15);
  EXPECT_EQ(accumulator.mean_probabilities(), (std::vector<double>{0, 0.5, 0.5}));
}

TEST(Classification, logits_that_are_no_numbers_are_named_and_show_in_the_metrics) {
  const std::vector<std::uint32_t> labels = {1, 0};
  for (double bad : {std::numeric_limits<double>::quiet_NaN(), kInfinity}) {
    ClassificationAccumulator accumulator(labels, 2, {1});
    accumulator.add<double>(0, 0, std::vector<double>{0, 1, bad, 0});
    const ClassificationMetrics m = accumulator.metrics();
    ASSERT_TRUE(m.nonfinite);
    EXPECT_EQ(m.nonfinite->row, 1u);
    EXPECT_TRUE(std::isnan(m.lppd.lppd) && std::isnan(m.accuracy) && std::isnan(m.brier) &&
                std::isnan(m.auroc) && std::isnan(m.f1) && std::isnan(m.aurc) &&
                std::isnan(m.reliability.ece));
  }
}

TEST(Classification, wrong_use_is_refused) {
  const std::vector<std::uint32_t> labels = {0, 1};
  const std::vector<double> logits = {0, 1, 2, 3};
  EXPECT_THROW(ClassificationAccumulator(labels, 1, {1}), Error);
  EXPECT_THROW(ClassificationAccumulator({}, 2, {1}), Error);
  EXPECT_THROW(ClassificationAccumulator(std::vector<std::uint32_t>{2}, 2, {1}), Error);
  EXPECT_THROW(ClassificationAccumulator(labels, 2, {}), Error);
  ClassificationAccumulator accumulator(labels, 2, {1});
  EXPECT_THROW(accumulator.add<double>(0, 0, std::span(logits).first(3)), Error);
  EXPECT_THROW(accumulator.add<double>(0, 0, logits, 1), Error);
  EXPECT_THROW(accumulator.metrics(), Error);
  accumulator.add<double>(0, 0, logits);
  EXPECT_NO_THROW(accumulator.metrics());
}

TEST(Uncertainty, without_labels_equals_that_with_labels) {
  const std::vector<std::uint32_t> labels(5, 0);
  ClassificationAccumulator with(labels, 3, {4});
  UncertaintyAccumulator without(5, 3);
  for (std::size_t s = 0; s < 4; ++s) {
    const auto logits = normals(15, s);
    with.add<double>(0, s, logits);
    without.add<double>(logits);
  }
  EXPECT_EQ(without.entropy(), with.metrics().entropy);
  EXPECT_EQ(without.mutual_information(), with.metrics().mutual_information);
  EXPECT_THROW(without.add<double>(std::vector<double>(14)), Error);
}

}  // namespace
}  // namespace smile

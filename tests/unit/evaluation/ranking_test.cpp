// SPDX-License-Identifier: Apache-2.0
#include "smile/evaluation/ranking.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "smile/error.hpp"
#include "smile/evaluation/calibration.hpp"
#include "smile/random/stream.hpp"

namespace smile {
namespace {

TEST(Auroc, equals_the_share_of_pairs_won_with_ties_counting_half) {
  const std::size_t n = 200;
  Stream stream({1, 0, Purpose::noise});
  std::vector<double> score(n);
  std::vector<std::uint8_t> positive(n);
  for (std::size_t i = 0; i < n; ++i) {
    score[i] = stream.below(20);
    positive[i] = stream.below(3) == 0;
  }
  double won = 0, pairs = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (positive[i] && !positive[j]) {
        ++pairs;
        won += score[i] > score[j] ? 1 : score[i] == score[j] ? 0.5 : 0;
      }
  EXPECT_NEAR(auroc(score, positive), won / pairs, 1e-15);
}

TEST(Auroc, of_an_out_of_distribution_set) {
  EXPECT_EQ(ood_auroc(std::vector<double>{0.1, 0.2}, std::vector<double>{0.2, 0.9}), 3.5 / 4);
  EXPECT_TRUE(std::isnan(ood_auroc(std::vector<double>{0.1}, {})));
}

TEST(Auroc, macro_leaves_out_classes_without_positives_or_negatives) {
  // Class 2 is absent from the labels. Class 0 wins one of two pairs, class 1 both.
  const std::vector<double> p = {0.3, 0.2, 0.5, 0.4, 0.6, 0, 0.2, 0.7, 0.1};
  EXPECT_EQ(macro_auroc(p, std::vector<std::uint32_t>{0, 1, 1}, 3), (0.5 + 1) / 2);
  EXPECT_TRUE(std::isnan(macro_auroc(p, std::vector<std::uint32_t>{1, 1, 1}, 3)));
  EXPECT_THROW(macro_auroc(p, std::vector<std::uint32_t>{1, 1}, 3), Error);
}

TEST(Aurc, by_hand) {
  // In order of confidence: right, wrong, right: risks 0, 1/2, 1/3.
  const std::vector<double> confidence = {0.5, 0.9, 0.7};
  EXPECT_NEAR(aurc(confidence, std::vector<std::uint8_t>{1, 1, 0}), (0.25 + (0.5 + 1.0 / 3) / 2) / 3, 1e-15);
  EXPECT_EQ(aurc(confidence, std::vector<std::uint8_t>{1, 1, 1}), 0);
  EXPECT_NEAR(aurc(confidence, std::vector<std::uint8_t>{0, 0, 0}), 2.0 / 3, 1e-15);
}

TEST(Aurc, equal_confidences_keep_the_order_of_the_points) {
  const std::vector<double> same(2, 0.5);
  EXPECT_EQ(aurc(same, std::vector<std::uint8_t>{1, 0}), 0.125);
  EXPECT_EQ(aurc(same, std::vector<std::uint8_t>{0, 1}), 0.375);
}

TEST(F1, binary_is_that_of_class_one) {
  // TP 1, FP 1, FN 2
  EXPECT_EQ(f1_score(std::vector<std::uint32_t>{1, 1, 0, 0}, std::vector<std::uint32_t>{1, 0, 1, 1}, 2),
            2.0 / 5);
  EXPECT_EQ(f1_score(std::vector<std::uint32_t>{0, 0}, std::vector<std::uint32_t>{0, 0}, 2), 0);
  EXPECT_THROW(f1_score(std::vector<std::uint32_t>{2}, std::vector<std::uint32_t>{0}, 2), Error);
}

TEST(F1, macro_averages_over_the_classes_in_the_labels) {
  // Class 0: TP 1, FP 1: 2/3. Class 1: never predicted: 0. Class 2: predicted, but not in the labels.
  EXPECT_NEAR(f1_score(std::vector<std::uint32_t>{0, 0, 2}, std::vector<std::uint32_t>{0, 1, 1}, 3), 1.0 / 3,
              1e-15);
}

TEST(Reliability, every_multiple_of_a_bin_width_falls_into_the_bin_below_it) {
  for (std::size_t bins : {3, 7, 10, 15, 49})
    for (std::size_t b = 1; b <= bins; ++b) {
      const double edge = static_cast<double>(b) / static_cast<double>(bins);
      // One class only, so that the binned probability is the number itself.
      const Reliability at = reliability(std::vector<double>{edge}, std::vector<std::uint32_t>{0}, 1, bins);
      EXPECT_EQ(at.count[b - 1], 1u) << b << " of " << bins;
      if (b == bins) continue;
      const Reliability above =
          reliability(std::vector<double>{std::nextafter(edge, 1)}, std::vector<std::uint32_t>{0}, 1, bins);
      EXPECT_EQ(above.count[b], 1u) << b << " of " << bins;
    }
  EXPECT_EQ(reliability(std::vector<double>{0}, std::vector<std::uint32_t>{0}, 1, 4).count[0], 1u);
}

TEST(Reliability, by_hand) {
  const std::vector<double> p = {0.7, 0.3, 0.2, 0.8, 0.9, 0.1};
  const std::vector<std::uint32_t> labels = {0, 0, 0};
  const Reliability r = reliability(p, labels, 2, 2);  // all confidences in (0.5, 1]
  EXPECT_EQ(r.count, (std::vector<std::size_t>{0, 3}));
  EXPECT_TRUE(std::isnan(r.accuracy[0]));
  EXPECT_NEAR(r.confidence[1], 0.8, 1e-15);
  EXPECT_NEAR(r.ece, 0.8 - 2.0 / 3, 1e-15);
  const std::vector<std::uint32_t> predicted = {0, 1, 0};
  const Reliability t = true_class_reliability(p, labels, predicted, 2, 2);  // 0.7 and 0.9 right, 0.2 wrong
  EXPECT_EQ(t.count, (std::vector<std::size_t>{1, 2}));
  EXPECT_NEAR(t.ece, (0.2 + 0.4) / 3, 1e-15);
  const std::vector<std::uint32_t> voted = {0, 0, 0};  // the vote may differ from the largest probability
  EXPECT_NEAR(true_class_reliability(p, labels, voted, 2, 2).ece, (0.8 + 0.4) / 3, 1e-15);
  EXPECT_THROW(reliability(p, labels, 3, 2), Error);
  EXPECT_THROW(reliability(p, labels, 2, 0), Error);
}

}  // namespace
}  // namespace smile

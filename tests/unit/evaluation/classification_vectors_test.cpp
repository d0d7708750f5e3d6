// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "smile/evaluation/calibration.hpp"
#include "smile/evaluation/classification.hpp"
#include "smile/evaluation/ranking.hpp"
#include "support/vectors.hpp"

namespace smile {
namespace {

using test::Json;
using test::mismatch;
using test::number;
using test::numbers;
using test::Tolerance;

void expect_known(const Json& object, std::initializer_list<std::string_view> keys) {
  EXPECT_EQ(test::unknown_keys(object, keys), "");
}

void expect_counts(const std::vector<std::size_t>& actual, const Json& expected) {
  EXPECT_EQ(actual, expected.get<std::vector<std::size_t>>());
}

/// null marks an empty bin, which is NaN here.
void expect_bins(const std::vector<double>& actual, const Json& expected, Tolerance tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t b = 0; b < actual.size(); ++b)
    if (expected.at(b).is_null())
      EXPECT_TRUE(std::isnan(actual[b]));
    else
      EXPECT_EQ(mismatch(actual[b], number(expected.at(b)), tolerance), "");
}

const std::map<std::string, std::function<double(const ClassificationMetrics&)>> kScalars = {
    {"lppd", [](const auto& m) { return m.lppd.lppd; }},
    {"nll", [](const auto& m) { return m.lppd.nll; }},
    {"perplexity", [](const auto& m) { return m.perplexity; }},
    {"accuracy", [](const auto& m) { return m.accuracy; }},
    {"majority_accuracy", [](const auto& m) { return m.majority_accuracy; }},
    {"brier", [](const auto& m) { return m.brier; }},
    {"auroc", [](const auto& m) { return m.auroc; }},
    {"aurc", [](const auto& m) { return m.aurc; }},
    {"ece", [](const auto& m) { return m.reliability.ece; }},
    {"f1", [](const auto& m) { return m.f1; }}};

const std::map<std::string, std::function<std::vector<double>(const ClassificationMetrics&)>> kArrays = {
    {"running_lppd", [](const auto& m) { return m.lppd.running.lppd; }},
    {"chainwise_lppd", [](const auto& m) { return m.lppd.chainwise; }},
    {"sequential_lppd", [](const auto& m) { return m.lppd.sequential; }},
    {"majority_vote",
     [](const auto& m) { return std::vector<double>(m.majority_vote.begin(), m.majority_vote.end()); }},
    {"entropy", [](const auto& m) { return m.entropy; }},
    {"mutual_information", [](const auto& m) { return m.mutual_information; }}};

/// In single precision a point may cross a bin's edge or a tie may break (the file's note): these only in
/// double.
bool needs_double(const std::string& key) {
  return key == "ece" || key == "aurc" || key == "majority_vote" || key == "majority_accuracy" ||
         key == "reliability";
}

template <class T>
ClassificationMetrics metrics_of(const Json& input) {
  const Json& logits = input.at("logits");
  const auto labels = input.at("y").get<std::vector<std::uint32_t>>();
  const std::size_t classes = logits.at(0).at(0).at(0).size();
  ClassificationAccumulator accumulator(labels, classes,
                                        std::vector<std::size_t>(logits.size(), logits.at(0).size()));
  for (std::size_t k = 0; k < logits.size(); ++k)
    for (std::size_t s = 0; s < logits.at(k).size(); ++s) {
      std::vector<T> flat;
      for (const Json& point : logits.at(k).at(s))
        for (double l : numbers(point)) flat.push_back(static_cast<T>(l));
      accumulator.add<T>(k, s, flat);
    }
  return accumulator.metrics();
}

template <class T>
class ClassificationVectors : public testing::Test {};
using Precisions = testing::Types<float, double>;
TYPED_TEST_SUITE(ClassificationVectors, Precisions);

TYPED_TEST(ClassificationVectors, all_cases_replay) {
  const Json file = test::load_vectors("metrics_classification");
  expect_known(file, {"topic", "spec", "description", "tolerance", "auroc_binary", "ece", "cases"});
  const bool single = std::is_same_v<TypeParam, float>;
  const Tolerance tolerance = test::tolerance(file.at("tolerance").at(single ? "float32" : "float64"));
  for (const Json& c : file.at("cases")) {
    SCOPED_TRACE(c.at("name").get<std::string>());
    expect_known(c, {"name", "input", "expected", "note"});
    expect_known(c.at("input"), {"logits", "y"});
    const ClassificationMetrics metrics = metrics_of<TypeParam>(c.at("input"));
    EXPECT_FALSE(metrics.nonfinite);
    for (const auto& [key, value] : c.at("expected").items()) {
      SCOPED_TRACE(key);
      if (single && needs_double(key)) continue;
      if (kScalars.contains(key)) {
        EXPECT_EQ(mismatch(kScalars.at(key)(metrics), number(value), tolerance), "");
      } else if (kArrays.contains(key)) {
        EXPECT_EQ(mismatch(kArrays.at(key)(metrics), numbers(value), tolerance), "");
      } else {
        ASSERT_EQ(key, "reliability") << "unknown key";
        expect_known(value, {"count", "accuracy", "confidence"});
        expect_counts(metrics.reliability.count, value.at("count"));
        expect_bins(metrics.reliability.accuracy, value.at("accuracy"), tolerance);
        expect_bins(metrics.reliability.confidence, value.at("confidence"), tolerance);
      }
    }
  }
}

TEST(ClassificationVectorsDirect, auroc_and_ece_replay) {
  const Json file = test::load_vectors("metrics_classification");
  const Tolerance tolerance = test::tolerance(file.at("tolerance").at("float64"));
  for (const Json& c : file.at("auroc_binary")) {
    SCOPED_TRACE(c.at("name").get<std::string>());
    expect_known(c, {"name", "input", "expected", "note"});
    expect_known(c.at("input"), {"score", "positive"});
    expect_known(c.at("expected"), {"auroc"});
    const auto positive = c.at("input").at("positive").get<std::vector<std::uint8_t>>();
    EXPECT_EQ(mismatch(auroc(numbers(c.at("input").at("score")), positive),
                       number(c.at("expected").at("auroc")), tolerance),
              "");
  }
  for (const Json& c : file.at("ece")) {
    SCOPED_TRACE(c.at("name").get<std::string>());
    expect_known(c, {"name", "input", "expected", "note"});
    expect_known(c.at("input"), {"probabilities", "y", "bins"});
    expect_known(c.at("expected"), {"ece", "count"});
    std::vector<double> probabilities;
    for (const Json& row : c.at("input").at("probabilities"))
      for (double p : numbers(row)) probabilities.push_back(p);
    const auto labels = c.at("input").at("y").get<std::vector<std::uint32_t>>();
    const Reliability actual =
        reliability(probabilities, labels, c.at("input").at("probabilities").at(0).size(),
                    c.at("input").at("bins").get<std::size_t>());
    EXPECT_EQ(mismatch(actual.ece, number(c.at("expected").at("ece")), tolerance), "");
    expect_counts(actual.count, c.at("expected").at("count"));
  }
}

}  // namespace
}  // namespace smile

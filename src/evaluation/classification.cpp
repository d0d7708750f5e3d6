// SPDX-License-Identifier: Apache-2.0
#include "smile/evaluation/classification.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "evaluation/argmax.hpp"
#include "evaluation/lppd_tracker.hpp"
#include "evaluation/softmax.hpp"
#include "smile/error.hpp"
#include "smile/evaluation/ranking.hpp"

namespace smile {

namespace {

const char* const kWhere = "classification metrics";

double share_equal(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  std::size_t equal = 0;
  for (std::size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i];
  return static_cast<double>(equal) / static_cast<double>(a.size());
}

}  // namespace

UncertaintyAccumulator::UncertaintyAccumulator(std::size_t rows, std::size_t classes)
    : rows_(rows), classes_(classes), probability_sum_(rows * classes), entropy_sum_(rows) {}

template <class T>
void UncertaintyAccumulator::add(std::span<const T> logits) {
  if (logits.size() != rows_ * classes_)
    throw Error("predictive uncertainty",
                std::to_string(logits.size()) + " logits for " + std::to_string(rows_) + " rows of " +
                    std::to_string(classes_),
                "give one a row and class");
  std::vector<double> probabilities(classes_);
  for (std::size_t i = 0; i < rows_; ++i) {
    entropy_sum_[i] += softmax(logits.subspan(i * classes_, classes_), probabilities).entropy;
    for (std::size_t c = 0; c < classes_; ++c) probability_sum_[i * classes_ + c] += probabilities[c];
  }
  ++samples_;
}

std::vector<double> UncertaintyAccumulator::mean_probabilities() const {
  std::vector<double> mean = probability_sum_;
  for (double& p : mean) p /= static_cast<double>(samples_);
  return mean;
}

std::vector<double> UncertaintyAccumulator::entropy() const {
  const std::vector<double> mean = mean_probabilities();
  std::vector<double> out;
  for (std::size_t i = 0; i < rows_; ++i)
    out.push_back(entropy_of(std::span<const double>(mean).subspan(i * classes_, classes_)));
  return out;
}

std::vector<double> UncertaintyAccumulator::mutual_information() const {
  std::vector<double> out = entropy();
  for (std::size_t i = 0; i < rows_; ++i) out[i] -= entropy_sum_[i] / static_cast<double>(samples_);
  return out;
}

struct ClassificationAccumulator::State {
  State(std::span<const std::uint32_t> labels_, std::size_t classes_,
        std::vector<std::size_t> draws_per_chain, ClassificationOptions options_)
      : labels(labels_.begin(), labels_.end()),
        classes(classes_),
        options(options_),
        tracker(kWhere, labels.size(), std::move(draws_per_chain), options.running_bytes),
        probability_sum(labels.size() * classes),
        entropy_sum(labels.size()),
        votes(labels.size() * classes),
        log_density(labels.size()),
        row_probabilities(classes) {}

  std::vector<std::uint32_t> labels;
  std::size_t classes;
  ClassificationOptions options;
  LppdTracker tracker;
  std::vector<double> probability_sum;  // @shape [n, classes]
  std::vector<double> entropy_sum;      // @shape [n]
  std::vector<std::uint32_t> votes;     // @shape [n, classes]
  std::vector<double> log_density, row_probabilities;
  std::optional<PredictionPlace> nonfinite;
};

ClassificationAccumulator::ClassificationAccumulator(std::span<const std::uint32_t> labels,
                                                     std::size_t classes,
                                                     std::vector<std::size_t> draws_per_chain,
                                                     ClassificationOptions options) {
  if (classes < 2)
    throw Error(kWhere, std::to_string(classes) + " classes", "give logits of at least two classes");
  if (options.bins == 0) throw Error(kWhere, "no bins for the ECE", "ask for at least one bin");
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] >= classes)
      throw Error(kWhere,
                  "label " + std::to_string(labels[i]) + " of test row " + std::to_string(i) + " with " +
                      std::to_string(classes) + " classes",
                  "number the classes from 0 and give the network one output a class");
  state_ = std::make_unique<State>(labels, classes, std::move(draws_per_chain), options);
}
ClassificationAccumulator::~ClassificationAccumulator() = default;
ClassificationAccumulator::ClassificationAccumulator(ClassificationAccumulator&&) noexcept = default;
ClassificationAccumulator& ClassificationAccumulator::operator=(ClassificationAccumulator&&) noexcept =
    default;

template <class T>
void ClassificationAccumulator::add(std::size_t chain, std::size_t draw, std::span<const T> logits,
                                    std::size_t first_row) {
  State& s = *state_;
  const std::size_t count = logits.size() / s.classes;
  if (count * s.classes != logits.size())
    throw Error(kWhere,
                std::to_string(logits.size()) + " logits for " + std::to_string(s.classes) + " classes",
                "give one a row and class");
  s.tracker.check(chain, draw, first_row, count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t row = first_row + i;
    const auto line = logits.subspan(i * s.classes, s.classes);
    const SoftmaxRow result = softmax(line, s.row_probabilities);
    if (!result.finite && !s.nonfinite) s.nonfinite = {chain, draw, row};
    // log p straight from the logits: the probability itself may underflow
    s.log_density[i] = static_cast<double>(line[s.labels[row]]) - static_cast<double>(line[result.largest]) -
                       result.log_normaliser;
    s.entropy_sum[row] += result.entropy;
    ++s.votes[row * s.classes + result.largest];
    for (std::size_t c = 0; c < s.classes; ++c)
      s.probability_sum[row * s.classes + c] += s.row_probabilities[c];
  }
  s.tracker.add(chain, draw, first_row, std::span(s.log_density).first(count));
}

std::vector<double> ClassificationAccumulator::mean_probabilities() const {
  std::vector<double> mean = state_->probability_sum;
  for (double& p : mean) p /= static_cast<double>(state_->tracker.total_draws());
  return mean;
}

std::vector<double> ClassificationAccumulator::pointwise_lppd() const {
  return state_->tracker.pointwise();
}

std::vector<double> ClassificationAccumulator::sequential_lppd(std::span<const std::size_t> order) const {
  return state_->tracker.sequential(order);
}

ClassificationMetrics ClassificationAccumulator::metrics() const {
  const State& s = *state_;
  s.tracker.check_complete();
  const std::size_t n = s.labels.size(), classes = s.classes;
  const std::vector<double> probabilities = mean_probabilities();
  ClassificationMetrics out;
  out.points = n;
  out.classes = classes;
  out.draws_per_chain = s.tracker.draws_per_chain();
  out.lppd = s.tracker.metrics();
  out.perplexity = std::exp(out.lppd.nll);

  std::vector<std::uint32_t> predicted(n);
  std::vector<double> confidence(n);
  std::vector<std::uint8_t> correct(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto row = std::span<const double>(probabilities).subspan(i * classes, classes);
    predicted[i] = argmax(row);
    confidence[i] = row[predicted[i]];
    correct[i] = predicted[i] == s.labels[i];
    out.majority_vote.push_back(
        argmax(std::span<const std::uint32_t>(s.votes).subspan(i * classes, classes)));
    for (std::size_t c = 0; c < classes; ++c) {
      const double off = row[c] - (c == s.labels[i] ? 1 : 0);
      out.brier += off * off / static_cast<double>(n);
    }
    out.entropy.push_back(entropy_of(row));
    out.mutual_information.push_back(out.entropy[i] -
                                     s.entropy_sum[i] / static_cast<double>(s.tracker.total_draws()));
  }
  out.accuracy = share_equal(predicted, s.labels);
  out.majority_accuracy = share_equal(out.majority_vote, s.labels);
  out.f1 = f1_score(predicted, s.labels, classes);
  out.aurc = aurc(confidence, correct);
  if (classes == 2) {
    std::vector<double> score(n);
    std::vector<std::uint8_t> positive(n);
    for (std::size_t i = 0; i < n; ++i) {
      score[i] = probabilities[2 * i + 1];
      positive[i] = s.labels[i] == 1;
    }
    out.auroc = auroc(score, positive);
  } else {
    out.auroc = macro_auroc(probabilities, s.labels, classes);
  }
  out.reliability = reliability(probabilities, s.labels, classes, s.options.bins);
  out.true_class_reliability =
      true_class_reliability(probabilities, s.labels, out.majority_vote, classes, s.options.bins);
  out.mean_entropy = mean_of(out.entropy);
  out.mean_mutual_information = mean_of(out.mutual_information);
  out.nonfinite = s.nonfinite;
  // Counts of right and wrong would hide that some predictions are no numbers.
  if (s.nonfinite)
    out.accuracy = out.majority_accuracy = out.f1 = out.aurc = out.auroc =
        std::numeric_limits<double>::quiet_NaN();
  return out;
}

template void UncertaintyAccumulator::add<float>(std::span<const float>);
template void UncertaintyAccumulator::add<double>(std::span<const double>);
template void ClassificationAccumulator::add<float>(std::size_t, std::size_t, std::span<const float>,
                                                    std::size_t);
template void ClassificationAccumulator::add<double>(std::size_t, std::size_t, std::span<const double>,
                                                     std::size_t);

}  // namespace smile

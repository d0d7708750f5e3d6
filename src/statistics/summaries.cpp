// SPDX-License-Identifier: Apache-2.0
#include "smile/statistics/summaries.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "smile/random/stream.hpp"

namespace smile {

namespace {
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
}  // namespace

double log_sum_exp(std::span<const double> values) noexcept {
  double largest = -kInfinity;
  for (double v : values) {
    if (std::isnan(v)) return v;
    largest = std::max(largest, v);
  }
  if (std::isinf(largest)) return largest;
  double sum = 0;
  for (double v : values) sum += std::exp(v - largest);
  return largest + std::log(sum);
}

void LogSumExp::add(double value) noexcept {
  if (value <= largest_) {
    // Equal infinities would subtract to NaN.
    if (value != -kInfinity) sum_ += value == largest_ ? 1 : std::exp(value - largest_);
  } else if (value > largest_) {
    sum_ = sum_ == 0 ? 1 : sum_ * std::exp(largest_ - value) + 1;
    largest_ = value;
  } else {  // NaN now or before
    largest_ = sum_ = kNan;
  }
}

void LogSumExp::merge(const LogSumExp& other) noexcept {
  if (other.sum_ == 0) return;
  if (other.largest_ <= largest_) {
    sum_ += other.largest_ == largest_ ? other.sum_ : other.sum_ * std::exp(other.largest_ - largest_);
  } else if (other.largest_ > largest_) {
    sum_ = sum_ == 0 ? other.sum_ : sum_ * std::exp(largest_ - other.largest_) + other.sum_;
    largest_ = other.largest_;
  } else {
    largest_ = sum_ = kNan;
  }
}

double LogSumExp::value() const noexcept {
  if (!std::isfinite(largest_)) return largest_;
  return largest_ + std::log(sum_);
}

void RunningMoments::add(double value, double weight) noexcept {
  ++count_;
  if (weight == 0) return;
  weight_ += weight;
  const double before = value - mean_;
  mean_ += before * (weight / weight_);
  squares_ += weight * before * (value - mean_);
}

void RunningMoments::merge(const RunningMoments& other) noexcept {
  count_ += other.count_;
  if (other.weight_ == 0) return;
  const double total = weight_ + other.weight_;
  const double apart = other.mean_ - mean_;
  mean_ += apart * (other.weight_ / total);
  squares_ += other.squares_ + apart * apart * weight_ * (other.weight_ / total);
  weight_ = total;
}

double RunningMoments::mean() const noexcept {
  return weight_ > 0 ? mean_ : kNan;
}

double RunningMoments::variance() const noexcept {
  return weight_ > 0 ? squares_ / weight_ : kNan;
}

double RunningMoments::sample_variance() const noexcept {
  return count_ > 1 ? squares_ / static_cast<double>(count_ - 1) : kNan;
}

double mean_of(std::span<const double> values) noexcept {
  double sum = 0;
  for (double v : values) sum += v;
  return values.empty() ? kNan : sum / static_cast<double>(values.size());
}

double sample_sd(std::span<const double> values) noexcept {
  RunningMoments moments;
  for (double v : values) moments.add(v);
  return std::sqrt(moments.sample_variance());
}

namespace {

/// The two order statistics around position (n−1)q and the weight of the upper one.
struct Position {
  std::size_t below;
  double weight;
};

Position position(std::size_t n, double q) noexcept {
  const double place = static_cast<double>(n - 1) * std::clamp(q, 0.0, 1.0);
  const auto below = std::min(static_cast<std::size_t>(place), n - 1);
  return {below, place - static_cast<double>(below)};
}

double between(double lower, double upper, double weight) noexcept {
  // Equal ends stay equal, infinite ones too.
  return weight == 0 || lower == upper ? lower : lower + weight * (upper - lower);
}

}  // namespace

double quantile_of_sorted(std::span<const double> sorted, double q) noexcept {
  if (sorted.empty() || std::isnan(q)) return kNan;
  const Position p = position(sorted.size(), q);
  return between(sorted[p.below], sorted[std::min(p.below + 1, sorted.size() - 1)], p.weight);
}

double quantile(std::span<double> values, double q) noexcept {
  if (values.empty() || std::isnan(q)) return kNan;
  const Position p = position(values.size(), q);
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(p.below);
  std::nth_element(values.begin(), place, values.end());
  const double lower = *place;
  if (p.weight == 0) return lower;
  return between(lower, *std::min_element(place + 1, values.end()), p.weight);
}

namespace {

/// Puts the order statistics with the given ascending ranks in place: the middle one splits values and ranks,
/// so that later selections work on parts.
void select(double* values, std::size_t first, std::size_t last, const std::size_t* ranks,
            std::size_t count) {
  if (count == 0 || first >= last) return;
  const std::size_t middle = count / 2, rank = ranks[middle];
  std::nth_element(values + first, values + rank, values + last);
  select(values, first, rank, ranks, middle);
  select(values, rank + 1, last, ranks + middle + 1, count - middle - 1);
}

}  // namespace

void quantiles(std::span<double> values, std::span<const double> q, std::span<double> out) {
  if (values.empty()) {
    std::fill(out.begin(), out.end(), kNan);
    return;
  }
  std::vector<std::size_t> ranks;
  for (double prob : q) {
    const std::size_t below = position(values.size(), prob).below;
    for (std::size_t rank : {below, std::min(below + 1, values.size() - 1)})
      if (ranks.empty() || rank > ranks.back()) ranks.push_back(rank);
  }
  select(values.data(), 0, values.size(), ranks.data(), ranks.size());
  for (std::size_t i = 0; i < q.size(); ++i) out[i] = quantile_of_sorted(values, q[i]);
}

double bootstrap_sd_of_mean(std::span<const double> values, std::size_t resamples, std::uint64_t seed) {
  if (values.empty()) return kNan;
  const auto n = static_cast<std::uint32_t>(values.size());
  RunningMoments means;
  for (std::size_t r = 0; r < resamples; ++r) {
    Stream stream({seed, 0, Purpose::bootstrap}, r);
    double sum = 0;
    for (std::uint32_t i = 0; i < n; ++i) sum += values[stream.below(n)];
    means.add(sum / static_cast<double>(n));
  }
  return std::sqrt(means.sample_variance());
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
// The mini-batch posterior over a linear model with Gaussian noise, whose posterior is known.
#include <gtest/gtest.h>

#include <cmath>

#include "smile/error.hpp"
#include "smile/targets/posterior.hpp"

namespace smile {
namespace {

/// y_i ~ N(θ·x_i, 1) with d = 3 and rows that differ much in size.
template <class T>
class LinearModel final : public Likelihood<T> {
 public:
  explicit LinearModel(std::size_t n) : n_(n) {
    layout_.add("weight", {3}, ParameterKind::weight, 3, 1);
    Stream stream({.seed = 8, .purpose = Purpose::split});
    for (std::size_t i = 0; i < n; ++i) {
      for (int k = 0; k < 3; ++k) x_.push_back(stream.normal() + (i % 7 == 0 ? 5 : 0));
      y_.push_back(2 * stream.normal() + 1);
    }
  }
  const ParameterLayout& layout() const override { return layout_; }
  std::size_t observations() const override { return n_; }
  double log_likelihood_and_gradient(std::span<const std::uint32_t> rows, const HostVector<T>& position,
                                     HostVector<T>& gradient) override {
    double value = 0, sums[3] = {};
    const std::size_t count = rows.empty() ? n_ : rows.size();
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t i = rows.empty() ? k : rows[k];
      double residual = y_[i];
      for (std::size_t j = 0; j < 3; ++j) residual -= x_[3 * i + j] * static_cast<double>(position[j]);
      value -= 0.5 * residual * residual;
      for (std::size_t j = 0; j < 3; ++j) sums[j] += residual * x_[3 * i + j];
    }
    for (std::size_t j = 0; j < 3; ++j) gradient[j] = static_cast<T>(sums[j]);
    return value;
  }
  double log_likelihood(std::span<const std::uint32_t> rows, const HostVector<T>& position) override {
    HostVector<T> scratch(3);
    return log_likelihood_and_gradient(rows, position, scratch);
  }

 private:
  std::size_t n_;
  ParameterLayout layout_;
  std::vector<double> x_, y_;
};

constexpr double kLoc = 0.4, kScale = 0.2;

template <class T>
MinibatchPosterior<T> posterior(std::size_t n, BatchOrder order,
                                LikelihoodScale scale = LikelihoodScale::exact) {
  auto model = std::make_unique<LinearModel<T>>(n);
  auto prior = make_prior("Normal", {{"loc", kLoc}, {"scale", kScale}}, model->layout());
  return MinibatchPosterior<T>(std::move(model), std::move(prior), std::move(order), scale);
}

template <class T>
HostVector<T> somewhere() {
  HostVector<T> position(3);
  position[0] = T(0.3), position[1] = T(-0.7), position[2] = T(1.1);
  return position;
}

TEST(Posterior, full_batch_is_prior_plus_likelihood) {
  auto target = posterior<double>(50, BatchOrder(50));
  const auto position = somewhere<double>();
  HostVector<double> gradient(3), likelihood_gradient(3);
  const double value = target.log_density_and_gradient(position, gradient, 3);
  LinearModel<double> model(50);
  double expected = model.log_likelihood_and_gradient({}, position, likelihood_gradient);
  for (std::size_t j = 0; j < 3; ++j) {
    const double z = (position[j] - kLoc) / kScale;
    expected += -0.5 * z * z - std::log(kScale) - 0.5 * std::log(2 * std::acos(-1.0));
    EXPECT_NEAR(gradient[j], likelihood_gradient[j] - z / kScale, 1e-10);
  }
  EXPECT_NEAR(value, expected, 1e-9);
  EXPECT_DOUBLE_EQ(target.log_density(position, 3), value);
}

/// Mean over an epoch of the batches' gradients and values, each weighted by its share of the rows; with
/// batches of one size that is the plain mean. The weights make Σ (B_t/N)(N/B_t) = 1 a row, so the result is
/// the full batch's, the prior included once.
void expect_epoch_mean_is_full_gradient(std::size_t n, std::size_t b, BatchMode mode) {
  const auto position = somewhere<double>();
  auto full = posterior<double>(n, BatchOrder(n));
  HostVector<double> expected(3), gradient(3);
  const double expected_value = full.log_density_and_gradient(position, expected, 0);

  BatchOrder order(n, b, mode, {.seed = 2, .chain = 3, .purpose = Purpose::batches});
  auto target = posterior<double>(n, order);
  const std::size_t batches = order.batches_per_epoch();
  bool one_size = true;
  for (std::uint64_t epoch : {0U, 4U}) {
    double sum[3] = {}, plain[3] = {}, value = 0;
    for (std::uint64_t t = epoch * batches; t < (epoch + 1) * batches; ++t) {
      const double share = double(order.size(t)) / double(n);
      one_size = one_size && order.size(t) == order.size(0);
      value += share * target.log_density_and_gradient(position, gradient, t);
      for (std::size_t j = 0; j < 3; ++j) {
        sum[j] += share * gradient[j];
        plain[j] += gradient[j] / double(batches);
      }
    }
    EXPECT_NEAR(value, expected_value, 1e-6 * std::fabs(expected_value));
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(sum[j], expected[j], 1e-6 * std::fabs(expected[j])) << "N " << n << " B " << b;
      if (one_size) {
        EXPECT_NEAR(plain[j], expected[j], 1e-6 * std::fabs(expected[j])) << "N " << n << " B " << b;
      }
    }
  }
}

TEST(Posterior, an_epoch_of_batch_gradients_averages_to_the_full_gradient) {
  for (const BatchMode mode : {BatchMode::even, BatchMode::keep}) {
    expect_epoch_mean_is_full_gradient(1052, 256, mode);
    expect_epoch_mean_is_full_gradient(537, 256, mode);
    expect_epoch_mean_is_full_gradient(100, 256, mode);
    expect_epoch_mean_is_full_gradient(100, 1, mode);
  }
  expect_epoch_mean_is_full_gradient(1024, 256, BatchMode::drop);
}

TEST(Posterior, batch_gradients_differ_from_the_full_one) {
  const auto position = somewhere<double>();
  auto full = posterior<double>(537, BatchOrder(537));
  auto target =
      posterior<double>(537, BatchOrder(537, 256, BatchMode::even, {.seed = 1, .purpose = Purpose::batches}));
  HostVector<double> a(3), b(3), again(3);
  full.log_density_and_gradient(position, a, 0);
  target.log_density_and_gradient(position, b, 0);
  target.log_density_and_gradient(position, again, 5);
  target.log_density_and_gradient(position, again, 0);
  EXPECT_GT(std::fabs(a[0] - b[0]), 1e-3 * std::fabs(a[0]));
  EXPECT_EQ(b[0], again[0]);
}

TEST(Posterior, the_factor_is_that_of_the_batch_or_the_authors) {
  const BatchOrder keep(537, 256, BatchMode::keep, {.purpose = Purpose::batches});
  auto exact = posterior<double>(537, keep);
  EXPECT_DOUBLE_EQ(exact.likelihood_factor(1), 537.0 / 256);
  EXPECT_DOUBLE_EQ(exact.likelihood_factor(2), 537.0 / 25);
  auto authors = posterior<double>(537, keep, LikelihoodScale::floor_of_batches);
  EXPECT_DOUBLE_EQ(authors.likelihood_factor(1), 2);
  EXPECT_DOUBLE_EQ(authors.likelihood_factor(2), 2);
  EXPECT_EQ(parse_name<LikelihoodScale>("floor"), LikelihoodScale::floor_of_batches);
  EXPECT_FALSE(parse_name<LikelihoodScale>("ceil"));
}

TEST(Posterior, single_precision_agrees_with_double) {
  const BatchOrder order(537, 256, BatchMode::even, {.seed = 1, .purpose = Purpose::batches});
  auto single = posterior<float>(537, order);
  auto twice = posterior<double>(537, order);
  HostVector<float> a(3);
  HostVector<double> b(3);
  const double value = single.log_density_and_gradient(somewhere<float>(), a, 7);
  EXPECT_NEAR(value, twice.log_density_and_gradient(somewhere<double>(), b, 7), 1e-5 * std::fabs(value));
  for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(a[j], b[j], 1e-5 * std::fabs(b[j]));
}

TEST(Posterior, sizes_that_do_not_fit_are_errors) {
  auto model = std::make_unique<LinearModel<double>>(10);
  const auto prior = make_prior("StandardNormal", {}, model->layout());
  EXPECT_THROW(MinibatchPosterior<double>(std::make_unique<LinearModel<double>>(10), prior, BatchOrder(11)),
               Error);
  ParameterLayout other;
  other.add("w", {4}, ParameterKind::other);
  EXPECT_THROW(
      MinibatchPosterior<double>(std::move(model), make_prior("StandardNormal", {}, other), BatchOrder(10)),
      Error);
}

}  // namespace
}  // namespace smile

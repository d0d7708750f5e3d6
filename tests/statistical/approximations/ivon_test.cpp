// SPDX-License-Identifier: Apache-2.0
// The sampler ivon on models where the nearest Gaussian with independent entries is known: mean of the
// posterior, variances 1/Λ_ii. Seeds are fixed; each bound says what it allows.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "../samplers/conjugate_model.hpp"
#include "../samplers/moment_check.hpp"
#include "smile/samplers/ivon.hpp"
#include "smile/targets/tempered.hpp"

namespace smile {
namespace {

using Vector = HostVector<double>;

/// Linear regression y = x·θ + σ n, the columns of x correlated.
class LinearRegression final : public Likelihood<double> {
 public:
  static constexpr std::size_t kRows = 400, kColumns = 5;
  static constexpr double kSigma = 0.5;

  LinearRegression() {
    layout_.add("weights", {kColumns}, ParameterKind::other);
    Stream stream({.seed = 11, .purpose = Purpose::split});
    for (std::size_t r = 0; r < kRows; ++r) {
      const double shared = stream.normal();
      double y = kSigma * stream.normal();
      for (std::size_t j = 0; j < kColumns; ++j) {
        x_.push_back((0.6 * shared + 0.8 * stream.normal()) * (1 + double(j)));
        y += 0.3 * double(j) * x_.back();
      }
      y_.push_back(y);
    }
  }
  const ParameterLayout& layout() const override { return layout_; }
  std::size_t observations() const override { return kRows; }
  double log_likelihood_and_gradient(std::span<const std::uint32_t> rows, const Vector& theta,
                                     Vector& g) override {
    for (double& entry : g.span()) entry = 0;
    double value = 0;
    for (std::size_t k = 0; k < (rows.empty() ? kRows : rows.size()); ++k) {
      const std::size_t r = rows.empty() ? k : rows[k];
      double residual = y_[r];
      for (std::size_t j = 0; j < kColumns; ++j) residual -= x_[r * kColumns + j] * theta[j];
      value -= 0.5 * residual * residual / (kSigma * kSigma);
      for (std::size_t j = 0; j < kColumns; ++j) g[j] += x_[r * kColumns + j] * residual / (kSigma * kSigma);
    }
    return value;
  }
  double log_likelihood(std::span<const std::uint32_t> rows, const Vector& theta) override {
    Vector scratch(theta.size());
    return log_likelihood_and_gradient(rows, theta, scratch);
  }
  /// Of the posterior under N(0, 1): Λ_jj.
  double precision(std::size_t j) const {
    double sum = 1;
    for (std::size_t r = 0; r < kRows; ++r) sum += x_[r * kColumns + j] * x_[r * kColumns + j];
    return (sum - 1) / (kSigma * kSigma) + 1;
  }

 private:
  ParameterLayout layout_;
  std::vector<double> x_, y_;
};

MinibatchPosterior<double> posterior(std::size_t batch) {
  auto model = std::make_unique<LinearRegression>();
  const auto prior = make_prior("StandardNormal", {}, model->layout());
  return {std::move(model), prior,
          batch == 0 ? BatchOrder(LinearRegression::kRows)
                     : BatchOrder(LinearRegression::kRows, batch, BatchMode::even, {3, 0, Purpose::batches})};
}

/// The mode: 200 Newton-like steps along the diagonal of the exact posterior's gradient.
std::vector<double> posterior_mean() {
  auto target = posterior(0);
  const LinearRegression model;
  Vector theta(LinearRegression::kColumns), g(LinearRegression::kColumns);
  for (int i = 0; i < 2000; ++i) {
    target.log_density_and_gradient(theta, g, 0);
    for (std::size_t j = 0; j < theta.size(); ++j) theta[j] += 0.3 * g[j] / model.precision(j);
  }
  return {theta.span().begin(), theta.span().end()};
}

IvonSampler<Vector> sampler(std::uint64_t warmup, std::uint64_t draws, std::size_t rows,
                            double precision = 0) {
  IvonSamplerOptions options;
  options.step_size = 0.1;
  options.observations = double(rows);
  options.prior_precision = precision;
  return {options, {warmup, draws}};
}

/// Rows of a batch (0: all), and whether the prior is known.
class IvonOnLinearRegression : public testing::TestWithParam<std::pair<std::size_t, bool>> {};

TEST_P(IvonOnLinearRegression, FindsTheNearestIndependentGaussian) {
  auto target = posterior(GetParam().first);
  const LinearRegression model;
  test::StreamNormals<double> normals(7);
  auto ivon = sampler(20000, 20000, LinearRegression::kRows, GetParam().second ? 1 : 0);
  test::MomentCheck check(LinearRegression::kColumns);
  test::run<Vector>(ivon, target, normals, Vector(LinearRegression::kColumns), 1, check);
  const std::vector<double> mean = posterior_mean();
  std::vector<double> found(mean.size()), variance(mean.size());
  for (std::size_t j = 0; j < mean.size(); ++j) {
    const double sd = 1 / std::sqrt(model.precision(j));
    // h is an average of some 4,000 ĥ, which scatter by √2 h with all rows and by 2.8 h with 50 (then ĝ's
    // noise is most of it): 1.1 and 2.3 % of σ; four of them.
    EXPECT_NEAR(ivon.mean()[j], mean[j], 0.06 * sd) << j;
    EXPECT_NEAR(ivon.sd(j) / sd, 1, GetParam().first == 0 ? 0.045 : 0.09) << j;
    found[j] = ivon.mean()[j], variance[j] = ivon.sd(j) * ivon.sd(j);
  }
  // The draws are of the Gaussian that was found; a false alarm in 10⁴.
  EXPECT_EQ(check.disagreement(found, variance), "");
}

INSTANTIATE_TEST_SUITE_P(Batches, IvonOnLinearRegression,
                         testing::Values(std::pair(0, false), std::pair(50, false), std::pair(0, true),
                                         std::pair(50, true)),
                         [](const auto& one) {
                           return std::string(one.param.first == 0 ? "all_rows" : "of_50") +
                                  (one.param.second ? "_known_prior" : "");
                         });

TEST(Ivon, TakesTheTemperatureOfItsTarget) {
  const LinearRegression model;
  TemperedTarget<double> target(std::make_unique<MinibatchPosterior<double>>(posterior(0)), 0.25);
  test::StreamNormals<double> normals(8);
  auto ivon = sampler(20000, 10, LinearRegression::kRows);
  test::MomentCheck check(LinearRegression::kColumns);
  test::run<Vector>(ivon, target, normals, Vector(LinearRegression::kColumns), 1, check);
  for (std::size_t j = 0; j < LinearRegression::kColumns; ++j)
    EXPECT_NEAR(ivon.sd(j) * std::sqrt(model.precision(j) / 0.25), 1, 0.05) << j;
}

}  // namespace
}  // namespace smile

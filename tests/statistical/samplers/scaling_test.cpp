// SPDX-License-Identifier: Apache-2.0
// Priors, mini-batches and noise carry the right factors: the prior under a flat likelihood, the average of
// an epoch, the posterior's variance against the step size.
#include <gtest/gtest.h>

#include <cmath>

#include "conjugate_model.hpp"
#include "moment_check.hpp"
#include "smile/network/fcn.hpp"
#include "smile/samplers/langevin.hpp"
#include "smile/samplers/microcanonical.hpp"

namespace smile {
namespace {

using test::MomentCheck;
using test::Vector;

constexpr std::size_t kObservations = 100;
constexpr double kLoc = 0.4, kScale = 0.2;

class FlatPosterior : public testing::TestWithParam<std::size_t> {
 protected:
  MinibatchPosterior<double> target(std::size_t d) const {
    auto model = std::make_unique<test::FlatLikelihood>(kObservations, d);
    auto prior = make_prior("Normal", {{"loc", kLoc}, {"scale", kScale}}, model->layout());
    return {std::move(model), std::move(prior),
            BatchOrder(kObservations, GetParam(), BatchMode::even, {3, 0, Purpose::batches})};
  }
};
INSTANTIATE_TEST_SUITE_P(BatchSizes, FlatPosterior, testing::Values(1, 10, kObservations));

TEST_P(FlatPosterior, is_the_prior_for_sgld) {
  auto posterior = target(5);
  LangevinOptions options;
  options.step_size = 0.1 * kScale * kScale;
  LangevinSampler<Vector> sampler(options, {1000, 200000});
  test::StreamNormals<double> normals(5);
  MomentCheck check(5);
  test::run(sampler, posterior, normals, Vector(5, 0.3), 4, check);
  EXPECT_EQ(check.disagreement(std::vector<double>(5, kLoc),
                               std::vector<double>(5, test::langevin_variance(0.1, 2 * options.step_size))),
            "");
}

TEST_P(FlatPosterior, is_the_prior_for_smile) {
  auto posterior = target(10);
  MicrocanonicalOptions options;
  options.rule = StepSizeRule::fixed;
  options.guardrail = false;
  options.step_size = 0.5 * kScale;
  options.decoherence_length = std::sqrt(10.0) * kScale;  // a flat likelihood has no noise of its own
  MicrocanonicalSampler<Vector> sampler(options, {1000, 200000});
  test::StreamNormals<double> normals(5);
  MomentCheck check(10);
  test::run(sampler, posterior, normals, Vector(10, 0.3), 4, check);
  EXPECT_EQ(check.disagreement(std::vector<double>(10, kLoc), std::vector<double>(10, kScale * kScale), 0.01),
            "");
}

/// Σ_t (B_t/N) · (N/B_t) Σ_{i∈𝓑_t} ∇ log p over an epoch is the full gradient, on the real engine.
void epoch_averages_to_the_full_gradient(std::size_t n, std::size_t batch, BatchMode mode) {
  SCOPED_TRACE("N = " + std::to_string(n) + ", B = " + std::to_string(batch) + ", mode " +
               std::to_string(int(mode)));
  const std::size_t inputs = 5;
  Stream stream({.seed = 4, .purpose = Purpose::split});
  std::vector<double> x(n * inputs), y(n);
  for (double& v : x) v = stream.normal();
  for (double& v : y) v = 2 * stream.normal() - 0.3;
  const auto data = std::make_shared<const FcnData<double>>(n, inputs, x, y);
  const FcnSpec spec{inputs, {16, 16, 1}, Activation::tanh, true, Task::mean_regression};
  auto network = std::make_unique<Fcn<double>>(spec, data);
  const std::size_t d = network->layout().size();
  Vector position(d), full(d), part(d);
  lecun_initialise(network->layout(), {2, 0, Purpose::initialisation}, position);
  position[d - 1] = -0.4;  // log σ
  const double full_value = network->log_likelihood_and_gradient({}, position, full);
  const double scale = std::sqrt(kernels::norm2(full));

  auto prior = make_prior("StandardNormal", {}, network->layout());
  const auto flat_prior = prior;
  MinibatchPosterior<double> posterior(std::move(network), std::move(prior),
                                       BatchOrder(n, batch, mode, {6, 0, Purpose::batches}));
  Vector prior_gradient(d);
  const double prior_value =
      flat_prior->log_density_and_gradient(position.span(), 0.0, prior_gradient.span());
  for (std::size_t epoch : {0, 3}) {
    std::vector<double> sum(d);
    double value = 0, rows = 0;
    const std::size_t batches = posterior.batches().batches_per_epoch();
    for (std::size_t k = 0; k < batches; ++k) {
      const std::uint64_t t = epoch * batches + k;
      const double weight = double(posterior.batches().size(t)) / double(n);
      rows += weight;
      value += weight * (posterior.log_density_and_gradient(position, part, t) - prior_value);
      for (std::size_t j = 0; j < d; ++j) sum[j] += weight * (part[j] - prior_gradient[j]);
    }
    ASSERT_NEAR(rows, 1, 1e-12);
    EXPECT_NEAR(value, full_value, 1e-6 * std::fabs(full_value));
    for (std::size_t j = 0; j < d; ++j) ASSERT_NEAR(sum[j], full[j], 1e-6 * scale) << "entry " << j;
  }
}
TEST(EpochAverage, equals_the_full_gradient) {
  // `drop` leaves rows out, so it holds there only where B divides N.
  for (const auto mode : {BatchMode::even, BatchMode::keep}) {
    epoch_averages_to_the_full_gradient(1052, 256, mode);
    epoch_averages_to_the_full_gradient(537, 256, mode);
    epoch_averages_to_the_full_gradient(100, 256, mode);
  }
  epoch_averages_to_the_full_gradient(1024, 256, BatchMode::drop);
}
TEST(EpochAverage, of_equal_batches_needs_no_weights) {
  // 1052 = 4 · 263: the plain average of the scaled gradients, as a chain sees them.
  const std::size_t n = 1052;
  auto model = std::make_unique<test::GaussianMean>(n, 4);
  test::GaussianMean whole(n, 4);
  auto prior = make_prior("Normal", {{"loc", 0}, {"scale", 1e6}}, model->layout());
  MinibatchPosterior<double> posterior(std::move(model), std::move(prior),
                                       BatchOrder(n, 256, BatchMode::even, {6, 0, Purpose::batches}));
  Vector position(4, 0.7), full(4), part(4);
  whole.log_likelihood_and_gradient({}, position, full);
  std::vector<double> sum(4);
  for (std::uint64_t t = 0; t < 4; ++t) {
    posterior.log_density_and_gradient(position, part, t);
    for (std::size_t j = 0; j < 4; ++j) sum[j] += part[j] / 4;
  }
  for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(sum[j], full[j], 1e-6 * std::fabs(full[j]));
}

// Scenario "noise scale": the variance over the posterior's tends to 1, linearly in the step size. With a
// full batch and precision P it is 1/(1 − εP/2) exactly; pooled over coordinates and regressed on ε.
TEST(NoiseScale, variance_ratio_tends_to_one_linearly) {
  const std::size_t n = 1000, d = 40;
  const double prior_scale = 0.05, precision = double(n) + 1 / (prior_scale * prior_scale);
  double sw = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (double b : {0.04, 0.08, 0.12, 0.16, 0.2}) {  // εP
    auto model = std::make_unique<test::GaussianMean>(n, d);
    test::GaussianMean data(n, d);
    auto prior = make_prior("Normal", {{"loc", 0}, {"scale", prior_scale}}, model->layout());
    MinibatchPosterior<double> posterior(std::move(model), std::move(prior), BatchOrder(n));
    // Full batch and Gaussian: ∇L = P (mean − θ), so the target may be evaluated without its 1,000 rows. That
    // it is the posterior is asserted once.
    struct Exact final : Target<Vector> {
      std::vector<double> mean;
      double precision = 0;
      std::size_t dimension() const override { return mean.size(); }
      double log_density_and_gradient(const Vector& x, Vector& g, std::uint64_t) override {
        double value = 0;
        for (std::size_t j = 0; j < mean.size(); ++j) {
          g[j] = precision * (mean[j] - x[j]);
          value -= 0.5 * precision * (mean[j] - x[j]) * (mean[j] - x[j]);
        }
        return value;
      }
    } exact;
    exact.precision = precision;
    for (std::size_t j = 0; j < d; ++j) exact.mean.push_back(double(n) * data.mean_of(j) / precision);
    Vector start(d, 0.15), a(d), c(d);
    posterior.log_density_and_gradient(start, a, 1);
    exact.log_density_and_gradient(start, c, 1);
    for (std::size_t j = 0; j < d; ++j) ASSERT_NEAR(a[j], c[j], 1e-9 * precision);

    LangevinOptions options;
    options.step_size = b / precision;
    LangevinSampler<Vector> sampler(options, {1000, 60000});
    test::StreamNormals<double> normals(std::uint64_t(1000 * b));
    sampler.start(start, exact, normals);
    double sum = 0, count = 0;
    for (std::uint64_t t = 1; t <= sampler.total_steps(); ++t) {
      sampler.step(exact, normals, t);
      if (t <= 1000) continue;
      for (std::size_t j = 0; j < d; ++j) {
        const double x = sampler.position()[j] - exact.mean[j];
        sum += x * x;
        ++count;
      }
    }
    const double ratio = precision * sum / count;
    // x is a first-order autoregression with coefficient r = 1 − b: the mean of x² over T steps has relative
    // variance 2/T · (1 + r²)/(1 − r²).
    const double r = 1 - b, error = ratio * std::sqrt(2 / count * (1 + r * r) / (1 - r * r));
    EXPECT_LT(std::fabs(ratio - 1 / (1 - b / 2)) / error, 4.5) << "step " << b;
    const double w = 1 / (error * error);
    sw += w, sx += w * b, sy += w * ratio, sxx += w * b * b, sxy += w * b * ratio;
  }
  const double determinant = sw * sxx - sx * sx;
  const double slope = (sw * sxy - sx * sy) / determinant, at_zero = (sy - slope * sx) / sw;
  // 1/(1 − b/2) = 1 + b/2 + b²/4 …: the curvature moves intercept and slope by less than 0.004 and 0.07.
  EXPECT_NEAR(at_zero, 1, 0.004 + 4.5 * std::sqrt(sxx / determinant));
  EXPECT_NEAR(slope, 0.5, 0.07 + 4.5 * std::sqrt(sw / determinant));
}

}  // namespace
}  // namespace smile

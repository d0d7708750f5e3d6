// SPDX-License-Identifier: Apache-2.0
// hmc, nuts and mams, warmed up as a user's are, on densities whose moments are known; and the acceptance
// they were told to hold.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "moment_check.hpp"
#include "smile/samplers/hmc.hpp"
#include "smile/samplers/mams.hpp"
#include "smile/samplers/nuts.hpp"
#include "support/stream_normals.hpp"

namespace smile {
namespace {

using Vector = HostVector<double>;
using test::MomentCheck;

/// A density by its function, with the moments of its coordinates.
struct Density {
  std::string name;
  std::size_t dimension;
  std::function<double(const Vector&, Vector&)> value_and_gradient;
  std::vector<double> mean, variance;
};

class DensityTarget final : public Target<Vector> {
 public:
  explicit DensityTarget(const Density& density) : density_(density) {}
  std::size_t dimension() const override { return density_.dimension; }
  double log_density_and_gradient(const Vector& x, Vector& gradient, std::uint64_t) override {
    return density_.value_and_gradient(x, gradient);
  }

 private:
  const Density& density_;
};

/// Standard deviations from 0.1 to 10.
Density ill_conditioned() {
  constexpr std::size_t d = 20;
  std::vector<double> variance(d);
  for (std::size_t i = 0; i < d; ++i) variance[i] = std::pow(10, -2 + 4 * double(i) / double(d - 1));
  return {"Gaussian of condition 10000", d,
          [variance](const Vector& x, Vector& g) {
            double value = 0;
            for (std::size_t i = 0; i < variance.size(); ++i) {
              g[i] = -x[i] / variance[i];
              value += 0.5 * x[i] * g[i];
            }
            return value;
          },
          std::vector<double>(d, 0), variance};
}

/// x_i = ρ x_{i−1} + √(1−ρ²) z: variances 1, which a diagonal metric cannot make independent.
Density autoregressive() {
  constexpr std::size_t d = 10;
  constexpr double rho = 0.9, spread2 = 1 - rho * rho;
  return {"autoregressive Gaussian", d,
          [](const Vector& x, Vector& g) {
            double value = -0.5 * x[0] * x[0];
            for (std::size_t i = 0; i < d; ++i) g[i] = 0;
            g[0] = -x[0];
            for (std::size_t i = 1; i < d; ++i) {
              const double off = x[i] - rho * x[i - 1];
              value -= 0.5 * off * off / spread2;
              g[i] -= off / spread2;
              g[i - 1] += rho * off / spread2;
            }
            return value;
          },
          std::vector<double>(d, 0), std::vector<double>(d, 1)};
}

/// Student's t with ten degrees of freedom in every coordinate.
Density heavy_tailed() {
  constexpr std::size_t d = 8;
  constexpr double nu = 10;
  return {"Student t", d,
          [](const Vector& x, Vector& g) {
            double value = 0;
            for (std::size_t i = 0; i < d; ++i) {
              value -= 0.5 * (nu + 1) * std::log1p(x[i] * x[i] / nu);
              g[i] = -(nu + 1) * x[i] / (nu + x[i] * x[i]);
            }
            return value;
          },
          std::vector<double>(d, 0), std::vector<double>(d, nu / (nu - 2))};
}

/// Two bent ridges: a ~ N(0, 1), b | a ~ N(a² − 1, 1/4). E b = 0, Var b = 2 + 1/4.
Density bent() {
  return {"bent ridge",
          4,
          [](const Vector& x, Vector& g) {
            double value = 0;
            for (std::size_t i = 0; i < 4; i += 2) {
              const double off = x[i + 1] - (x[i] * x[i] - 1);
              value -= 0.5 * x[i] * x[i] + 2 * off * off;
              g[i] = -x[i] + 8 * x[i] * off;
              g[i + 1] = -4 * off;
            }
            return value;
          },
          {0, 0, 0, 0},
          {1, 2.25, 1, 2.25}};
}

/// Logarithms of Gamma variables, as scale parameters are sampled: L = k x − eˣ. Mean digamma(k), variance
/// trigamma(k); for whole k sums over 1/j and 1/j².
Density log_gamma() {
  const std::vector<double> shape{1, 2, 4, 8, 16};
  constexpr double kEuler = 0.57721566490153286, kBasel = 1.6449340668482264;
  std::vector<double> mean, variance;
  for (const double k : shape) {
    double digamma = -kEuler, trigamma = kBasel;
    for (int j = 1; j < int(k); ++j) digamma += 1.0 / j, trigamma -= 1.0 / (j * j);
    mean.push_back(digamma), variance.push_back(trigamma);
  }
  return {"log-Gamma", shape.size(),
          [shape](const Vector& x, Vector& g) {
            double value = 0;
            for (std::size_t i = 0; i < shape.size(); ++i) {
              value += shape[i] * x[i] - std::exp(x[i]);
              g[i] = shape[i] - std::exp(x[i]);
            }
            return value;
          },
          mean, variance};
}

using Make = std::function<std::unique_ptr<Sampler<Vector>>(const SamplingPlan&)>;
template <template <class> class Of>
Make maker(double acceptance) {
  return [acceptance](const SamplingPlan& plan) {
    AdjustedOptions options;
    options.target_acceptance = acceptance;
    return std::make_unique<Of<Vector>>(options, plan);
  };
}

double tuned(const Sampler<Vector>& sampler, const std::string& name) {
  for (const auto& [key, value] : sampler.tuned())
    if (key == name) return value;
  return StepReport::kNone;
}

// Ten to forty comparisons a case, corrected for their number: a right sampler is rejected with a probability
// of about 1e-4 a case (MomentCheck); z scores of single moments then lie within about 4.5.
void expect_right(const Make& make, double acceptance) {
  for (const Density& density : {ill_conditioned(), autoregressive(), heavy_tailed(), bent(), log_gamma()}) {
    SCOPED_TRACE(density.name);
    DensityTarget target(density);
    test::StreamNormals<double> normals(77);
    const auto sampler = make({1500, 30000});
    MomentCheck check(density.dimension);
    test::run(*sampler, target, normals, Vector(density.dimension, 0.5), 1, check);
    EXPECT_EQ(check.disagreement(density.mean, density.variance), "");
    // The mean lies above the target: the averaged step is the mean of ln ε, and acceptance bends downwards
    // in it.
    EXPECT_GT(tuned(*sampler, "acceptance"), acceptance - 0.03);
    EXPECT_LT(tuned(*sampler, "acceptance"), (1 + 2 * acceptance) / 3 + 0.1);
  }
}

TEST(AdjustedMoments, hmc) {
  expect_right(maker<HmcSampler>(0.8), 0.8);
}
TEST(AdjustedMoments, nuts) {
  expect_right(maker<NutsSampler>(0.8), 0.8);
}
TEST(AdjustedMoments, mams) {
  expect_right(maker<MamsSampler>(0.9), 0.9);
}

}  // namespace
}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
// Seeds are fixed: a test fails by chance only where the random numbers change. Exact draws reproduce the
// moments of the analytical densities, and noise has mean 0 and variance 1, within their standard errors.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "smile/targets/analytical_target.hpp"

namespace smile {
namespace {

/// A million; the test with the label `long` asks for ten (tests/CMakeLists.txt).
std::size_t draws() {
  const char* asked = std::getenv("SMILE_EXACT_DRAWS");
  return asked ? std::stoul(asked) : 1'000'000;
}
/// Of some 80 figures none should lie further off by chance: 1 in 1,800 for all together.
constexpr double kStandardErrors = 4.5;

void check_moments(const AnalyticalDensity& density, std::size_t count) {
  const std::size_t d = density.dimension();
  std::vector<double> theta(d), sum(d, 0.0), fourth(d, 0.0), eighth(d, 0.0);
  Stream stream({11, 0, Purpose::analytic_start});
  for (std::size_t i = 0; i < count; ++i) {
    density.draw(stream, theta);
    for (std::size_t j = 0; j < d; ++j) {
      const double square = theta[j] * theta[j];
      sum[j] += square, fourth[j] += square * square, eighth[j] += square * square * square * square;
    }
  }
  for (std::size_t j = 0; j < d; ++j) {
    const double n = double(count), mean = sum[j] / n, mean_fourth = fourth[j] / n;
    const double variance = density.variance_of_square()[j];
    EXPECT_NEAR(mean, density.second_moment()[j], kStandardErrors * std::sqrt(variance / n))
        << "coordinate " << j;
    // E θ⁴ by its own standard error. The tail of the funnel is too heavy for that: its θ⁴ has no useful one.
    if (density.kind() == AnalyticalKind::funnel && j > 0) continue;
    const double expected = variance + density.second_moment()[j] * density.second_moment()[j];
    EXPECT_NEAR(mean_fourth, expected,
                kStandardErrors * std::sqrt((eighth[j] / n - mean_fourth * mean_fourth) / n))
        << "fourth moment of coordinate " << j;
  }
}

TEST(ExactDraws, icg) {
  check_moments(AnalyticalDensity(AnalyticalKind::icg), draws());
}
TEST(ExactDraws, rosenbrock) {
  check_moments(AnalyticalDensity(AnalyticalKind::rosenbrock), draws());
}
TEST(ExactDraws, funnel) {
  check_moments(AnalyticalDensity(AnalyticalKind::funnel), draws());
}
/// The moments of the funnel are those of its far tail; ln θ_j² tells the rest sharply. With θ_j = e^{θ₀/2}
/// z, ln θ_j² = θ₀ + ln z²: mean −γ − ln 2, variance 9 + π²/2.
TEST(ExactDraws, funnel_logarithms) {
  const AnalyticalDensity density(AnalyticalKind::funnel);
  const std::size_t d = density.dimension(), count = draws();
  std::vector<double> theta(d), sum(d, 0.0);
  Stream stream({14, 0, Purpose::analytic_start});
  for (std::size_t i = 0; i < count; ++i) {
    density.draw(stream, theta);
    for (std::size_t j = 1; j < d; ++j) sum[j] += std::log(theta[j] * theta[j]);
  }
  const double expected = -0.57721566490153286 - std::log(2.0);
  const double allowed = kStandardErrors * std::sqrt((9 + 9.869604401089358 / 2) / double(count));
  for (std::size_t j = 1; j < d; ++j) EXPECT_NEAR(sum[j] / double(count), expected, allowed) << j;
}
TEST(ExactDraws, gmm) {
  check_moments(AnalyticalDensity(AnalyticalKind::gmm), draws());
}
TEST(ExactDraws, correlated_gaussian) {
  const std::vector<double> covariance{4, 1.5, -0.3, 1.5, 1, 0.1, -0.3, 0.1, 0.25};
  check_moments(AnalyticalDensity::gaussian(covariance, 3, "test"), draws() / 10);
}

/// The precision of a given covariance is its inverse.
TEST(ExactDraws, precision_is_the_inverse) {
  const std::vector<double> covariance{4, 1.5, -0.3, 1.5, 1, 0.1, -0.3, 0.1, 0.25};
  const auto density = AnalyticalDensity::gaussian(covariance, 3, "test");
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < 3; ++k) sum += density.precision()[i * 3 + k] * covariance[k * 3 + j];
      EXPECT_NEAR(sum, i == j ? 1 : 0, 1e-12);
    }
}

void check_noise(BaseNoise base, double parameter) {
  constexpr std::size_t kCount = 2'000'000;
  Stream stream({12, 0, Purpose::gradient_noise});
  double sum = 0, square = 0, fourth = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const double z1 = stream.normal(), z2 = stream.normal();
    const double n = standardise(base, parameter, raw_base_noise(base, parameter, z1, z2));
    sum += n, square += n * n, fourth += n * n * n * n;
  }
  const double count = double(kCount);
  EXPECT_NEAR(sum / count, 0, kStandardErrors / std::sqrt(count));
  EXPECT_NEAR(square / count, 1, kStandardErrors * std::sqrt((fourth / count - 1) / count));
}
TEST(BaseNoiseMoments, gaussian) {
  check_noise(BaseNoise::gaussian, 0);
}
TEST(BaseNoiseMoments, laplace) {
  check_noise(BaseNoise::laplace, 0);
}
TEST(BaseNoiseMoments, student_t) {
  check_noise(BaseNoise::student_t, 5);
}
TEST(BaseNoiseMoments, lognormal) {
  check_noise(BaseNoise::lognormal, 0.3);
}

/// Not only two moments: the share of Student's t beyond its 97.5 % point, and of Laplace beyond ln 20.
TEST(BaseNoiseMoments, tails_have_the_right_weight) {
  constexpr std::size_t kCount = 1'000'000;
  Stream stream({13, 0, Purpose::gradient_noise});
  std::size_t student = 0, laplace = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const double z1 = stream.normal(), z2 = stream.normal();
    student += std::fabs(raw_base_noise(BaseNoise::student_t, 5, z1, z2)) > 2.5705818366147395;
    laplace += std::fabs(raw_base_noise(BaseNoise::laplace, 0, z1, z2)) > std::log(20.0);
  }
  const double allowed = kStandardErrors * std::sqrt(0.05 * 0.95 / double(kCount));
  EXPECT_NEAR(double(student) / double(kCount), 0.05, allowed);
  EXPECT_NEAR(double(laplace) / double(kCount), 0.05, allowed);
}

}  // namespace
}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "smile/evaluation/mixture.hpp"
#include "smile/random/stream.hpp"

namespace smile {
namespace {

/// Plain, with the C library's function.
double cdf(const std::vector<float>& means, const std::vector<float>& sds, double y) {
  double sum = 0;
  for (std::size_t s = 0; s < means.size(); ++s)
    sum += 0.5 * std::erfc(-(y - double(means[s])) / double(sds[s]) / std::sqrt(2.0));
  return sum / double(means.size());
}

constexpr double kProbabilities[] = {1e-6, 0.01, 0.05, 0.25, 0.5, 0.9, 0.975, 1 - 1e-6};

TEST(Mixture, one_component_is_a_normal) {
  const std::vector<float> mean{2}, sd{0.5};
  EXPECT_DOUBLE_EQ(mixture_quantile({mean, sd}, 0.5), 2);
  EXPECT_NEAR(mixture_quantile({mean, sd}, 0.975), 2 + 0.5 * 1.959963984540054, 1e-12);
  EXPECT_NEAR(mixture_cdf({mean, sd}, 1.5), 0.15865525393145705, 1e-15);
}

TEST(Mixture, quantiles_solve_the_distribution_function) {
  Stream stream({5, 0, Purpose::diagnostics});
  for (const double spread : {1e-3, 1.0, 30.0}) {
    std::vector<float> means, sds;
    for (int s = 0; s < 301; ++s) {
      means.push_back(float(spread * stream.normal()));
      sds.push_back(float(std::exp(2 * stream.normal())));
    }
    double before = -std::numeric_limits<double>::infinity();
    for (const double p : kProbabilities) {
      const double y = mixture_quantile({means, sds}, p);
      EXPECT_NEAR(cdf(means, sds, y), p, 1e-11) << p;
      EXPECT_GT(y, before);
      before = y;
    }
  }
}

// Thousands of components are summed in single precision.
TEST(Mixture, quantiles_of_many_components) {
  Stream stream({6, 0, Purpose::diagnostics});
  for (const double place : {0.0, 1e3})
    for (const double spread : {1e-2, 1.0, 30.0}) {
      std::vector<float> means, sds;
      for (int s = 0; s < 8003; ++s) {
        means.push_back(float(place + spread * stream.normal()));
        sds.push_back(float(0.1 * std::exp(stream.normal())));
      }
      for (const double p : kProbabilities)
        EXPECT_NEAR(cdf(means, sds, mixture_quantile({means, sds}, p)), p, 1e-7) << place << ' ' << spread;
    }
}

TEST(Mixture, far_apart_components_with_nothing_between) {
  // The density is 0 to all digits around the median: Newton's step is of no use there.
  const std::vector<float> means{-1e4f, 1e4f, 1e4f}, sds{1e-3f, 1e-3f, 1e-3f};
  for (const double p : {0.1, 0.3, 0.4, 0.9})
    EXPECT_NEAR(cdf(means, sds, mixture_quantile({means, sds}, p)), p, 1e-9) << p;
  EXPECT_NEAR(mixture_quantile({means, sds}, 1.0 / 6), -1e4, 1e-9);
}

TEST(Mixture, nothing_and_no_numbers) {
  const std::vector<float> none, mean{1, NAN}, sd{1, 1};
  EXPECT_TRUE(std::isnan(mixture_quantile({none, none}, 0.5)));
  EXPECT_TRUE(std::isnan(mixture_quantile({mean, sd}, 0.5)));
}

}  // namespace
}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include "smile/evaluation/diagnostics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "smile/random/stream.hpp"

namespace smile {
namespace {

std::vector<double> normals(std::size_t n, std::uint64_t seed) {
  std::vector<double> out(n);
  fill_normals({seed, 0, Purpose::noise}, 0, std::span<double>(out));
  return out;
}

TEST(ChooseParameters, gives_different_coordinates_in_order_and_repeats) {
  const auto chosen = choose_parameters(1000, 50, 3);
  EXPECT_EQ(chosen.size(), 50u);
  EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
  EXPECT_EQ(std::set<std::size_t>(chosen.begin(), chosen.end()).size(), 50u);
  EXPECT_LT(chosen.back(), 1000u);
  EXPECT_EQ(chosen, choose_parameters(1000, 50, 3));
  EXPECT_NE(chosen, choose_parameters(1000, 50, 4));
  EXPECT_EQ(choose_parameters(3, 10, 1), (std::vector<std::size_t>{0, 1, 2}));
}

TEST(ChooseParameters, every_coordinate_is_equally_likely) {
  std::vector<int> hits(10);
  for (std::uint64_t seed = 0; seed < 3000; ++seed)
    for (std::size_t j : choose_parameters(10, 3, seed)) ++hits[j];
  // Binomial(3000, 0.3): mean 900, sd 25.
  for (int h : hits) EXPECT_NEAR(h, 900, 4.5 * 25);
}

TEST(Diagnose, sees_the_chain_that_stands_still_and_the_one_that_drifts) {
  auto draws = normals(4 * 100, 1);
  for (std::size_t i = 100; i < 200; ++i) draws[i] = 0.5;
  for (std::size_t i = 200; i < 300; ++i) draws[i] += 0.1 * static_cast<double>(i - 200);
  const std::vector<double> constant(400, 2.0);
  auto spoilt = normals(400, 2);
  spoilt[250] = std::numeric_limits<double>::quiet_NaN();
  const std::vector<QuantityDiagnostics> all = {diagnose("a", draws, 4), diagnose("b", normals(400, 3), 4),
                                                diagnose("c", constant, 4), diagnose("d", spoilt, 4)};
  EXPECT_EQ(all[0].name, "a");
  EXPECT_EQ(all[0].chainwise[1].condition, DrawsCondition::constant);
  EXPECT_GT(all[0].chainwise[2].rhat, 1.5);
  EXPECT_LT(all[0].chainwise[3].rhat, 1.2);
  EXPECT_NEAR(all[1].mean, 0, 0.2);
  EXPECT_NEAR(all[1].sd, 1, 0.15);

  const DiagnosticsSummary s = summarise(all);
  EXPECT_EQ(s.quantities, 4u);
  EXPECT_EQ(s.constant, 1u);
  EXPECT_EQ(s.with_nan, 1u);
  EXPECT_EQ(s.with_infinite, 0u);
  EXPECT_EQ(s.with_still_chain, 1u);
  EXPECT_EQ(s.rhat.count, 1u);
  EXPECT_EQ(s.rhat.missing, 3u);
  EXPECT_EQ(s.rhat.max, all[1].convergence.rhat);
  EXPECT_EQ(s.chain_still, (std::vector<std::size_t>{0, 1, 0, 0}));
  ASSERT_EQ(s.chain_median_rhat.size(), 4u);
  EXPECT_EQ(s.ess_bulk.min, 0);  // the constant quantity
}

TEST(SpreadOf, leaves_out_what_is_no_number) {
  const Spread s = spread_of({3, std::numeric_limits<double>::quiet_NaN(), 1, 2});
  EXPECT_EQ(s.count, 3u);
  EXPECT_EQ(s.missing, 1u);
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.median, 2);
  EXPECT_EQ(s.max, 3);
  EXPECT_TRUE(std::isnan(spread_of({}).median));
}

}  // namespace
}  // namespace smile

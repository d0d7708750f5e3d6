// SPDX-License-Identifier: Apache-2.0
#include "smile/statistics/convergence.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "smile/error.hpp"
#include "smile/random/stream.hpp"
#include "smile/statistics/normal.hpp"
#include "statistics/autocovariance.hpp"
#include "statistics/ranks.hpp"
#include "support/vectors.hpp"

namespace smile {
namespace {

using test::Json;
using test::mismatch;
using test::number;
using test::numbers;

const double kNan = std::numeric_limits<double>::quiet_NaN();

void expect_known(const Json& object, std::initializer_list<std::string_view> keys) {
  EXPECT_EQ(test::unknown_keys(object, keys), "");
}

std::vector<double> flat(const Json& rows) {
  std::vector<double> out;
  for (const Json& row : rows)
    for (double v : numbers(row)) out.push_back(v);
  return out;
}

std::vector<double> normals(std::size_t n, std::uint64_t seed) {
  std::vector<double> out(n);
  fill_normals({seed, 0, Purpose::diagnostics}, 0, std::span<double>(out));
  return out;
}

TEST(DiagnosticsVectors, all_cases_replay) {
  const Json file = test::load_vectors("diagnostics");
  expect_known(file, {"topic", "spec", "description", "tolerance", "chainwise", "cases"});
  const auto tolerance = test::tolerance(file.at("tolerance").at("float64"));
  const std::map<std::string, std::function<double(const Convergence&)>> statistics = {
      {"rhat", [](const Convergence& c) { return c.rhat; }},
      {"rhat_bulk", [](const Convergence& c) { return c.rhat_bulk; }},
      {"rhat_tail", [](const Convergence& c) { return c.rhat_tail; }},
      {"rhat_split", [](const Convergence& c) { return c.rhat_split; }},
      {"ess_mean", [](const Convergence& c) { return c.ess_mean; }},
      {"ess_bulk", [](const Convergence& c) { return c.ess_bulk; }},
      {"ess_tail", [](const Convergence& c) { return c.ess_tail; }}};
  for (const Json& c : file.at("cases")) {
    SCOPED_TRACE(c.at("name").get<std::string>());
    expect_known(c, {"name", "input", "expected", "note"});
    expect_known(c.at("input"), {"draws"});
    const Json& draws = c.at("input").at("draws");
    const auto values = flat(draws);
    const Convergence actual = convergence(values, draws.size());
    const Json& expected = c.at("expected");
    if (c.at("name") == "one chain of four stands still") {  // ArviZ gives numbers; here the chain is named
      EXPECT_EQ(actual.condition, DrawsCondition::still_chain);
      EXPECT_EQ(actual.place->chain, 2u);
      EXPECT_TRUE(std::isnan(actual.ess_bulk) && std::isnan(actual.rhat));
      continue;
    }
    for (const auto& [key, value] : expected.items()) {
      if (key == "reason") {
        EXPECT_EQ(reason(actual.condition), value.get<std::string>());
      } else if (key == "nan_draw") {
        expect_known(value, {"chain", "draw"});
        ASSERT_TRUE(actual.place.has_value());
        EXPECT_EQ(actual.place->chain, value.at("chain").get<std::size_t>());
        EXPECT_EQ(actual.place->draw, value.at("draw").get<std::size_t>());
        EXPECT_EQ(actual.condition, DrawsCondition::nan_draw);
      } else {
        ASSERT_TRUE(statistics.contains(key)) << "unknown key " << key;
        EXPECT_EQ(mismatch(statistics.at(key)(actual), number(value), tolerance), "") << key;
      }
    }
    if (!expected.contains("reason") && !expected.contains("nan_draw")) {
      EXPECT_EQ(actual.condition, DrawsCondition::usual);
    }
    // The single statistics are the same numbers.
    ConvergenceDiagnostics single(draws.size(), draws.at(0).size());
    EXPECT_EQ(mismatch(single.ess_bulk(values), actual.ess_bulk, {}), "");
    EXPECT_EQ(mismatch(single.ess_mean(values), actual.ess_mean, {}), "");
    EXPECT_EQ(mismatch(single.rhat(values), actual.rhat, {}), "");
  }
  for (const Json& c : file.at("chainwise")) {
    SCOPED_TRACE(c.at("name").get<std::string>());
    expect_known(c, {"name", "input", "expected", "note"});
    expect_known(c.at("input"), {"draws", "n_splits"});
    expect_known(c.at("expected"), {"rhat", "rhat_bulk", "rhat_tail"});
    const auto actual =
        chainwise_rhat(numbers(c.at("input").at("draws")), c.at("input").at("n_splits").get<std::size_t>());
    EXPECT_EQ(mismatch(actual.rhat, number(c.at("expected").at("rhat")), tolerance), "");
    EXPECT_EQ(mismatch(actual.rhat_bulk, number(c.at("expected").at("rhat_bulk")), tolerance), "");
    EXPECT_EQ(mismatch(actual.rhat_tail, number(c.at("expected").at("rhat_tail")), tolerance), "");
  }
}

TEST(Autocovariance, equals_the_double_sum_at_every_length) {
  for (std::size_t n : {1, 2, 3, 4, 7, 11, 16, 37, 100, 251}) {
    const auto x = normals(n, n);
    std::vector<double> fast(n, 0.25), slow(n, 0.25);
    const double mean = Autocovariance(n).add(x, fast);
    EXPECT_NEAR(mean, std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(n), 1e-14);
    for (std::size_t t = 0; t < n; ++t)
      for (std::size_t i = 0; i + t < n; ++i)
        slow[t] += (x[i] - mean) * (x[i + t] - mean) / static_cast<double>(n);
    EXPECT_EQ(mismatch(fast, slow, {1e-12, 1e-13}), "") << n;
  }
}

TEST(Ranks, ties_share_the_score_of_their_mean_rank) {
  const std::vector<double> values = {5, -1, 5, 7, 5, -1};
  std::vector<double> scores(6);
  RankNormaliser(6).normalise(values, scores);
  const auto score = [](double rank) { return normal_quantile((rank - 0.375) / 6.25); };
  EXPECT_EQ(mismatch(scores, {score(4), score(1.5), score(4), score(6), score(4), score(1.5)}, {1e-14, 0}),
            "");
}

TEST(EffectiveSampleSize, of_an_autoregression_is_near_its_known_value) {
  const double rho = 0.9;
  const std::size_t chains = 4, draws = 20000;
  auto x = normals(chains * draws, 1);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (i % draws) x[i] = rho * x[i - 1] + std::sqrt(1 - rho * rho) * x[i];
  const double known = static_cast<double>(x.size()) * (1 - rho) / (1 + rho);
  const Convergence c = convergence(x, chains);
  EXPECT_NEAR(c.ess_mean / known, 1, 0.1);
  EXPECT_NEAR(c.ess_bulk / known, 1, 0.1);
  EXPECT_NEAR(c.rhat, 1, 0.01);
}

TEST(EffectiveSampleSize, of_ten_thousand_draws_takes_milliseconds) {
  const std::size_t draws = 10000;
  const auto x = normals(draws, 2);
  ConvergenceDiagnostics diagnostics(1, draws);
  diagnostics.ess_bulk(x);
  double best = 1;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const auto start = std::chrono::steady_clock::now();
    diagnostics.ess_bulk(x);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  RecordProperty("milliseconds", std::to_string(1e3 * best));
#ifdef NDEBUG
  EXPECT_LT(best, 0.005);
#endif
}

TEST(Convergence, scaling_changes_nothing_and_shifting_only_the_rounding) {
  auto x = normals(300, 3);
  const Convergence before = convergence(x, 3);
  for (double& v : x) v *= 0x1p-20;
  const Convergence scaled = convergence(x, 3);
  EXPECT_EQ(before.rhat, scaled.rhat);
  EXPECT_EQ(before.ess_bulk, scaled.ess_bulk);
  EXPECT_EQ(before.ess_tail, scaled.ess_tail);
  EXPECT_NEAR(before.ess_mean, scaled.ess_mean, 1e-9);
  for (double& v : x) v += 1e-3;
  const Convergence shifted = convergence(x, 3);
  EXPECT_EQ(before.rhat_bulk, shifted.rhat_bulk);
  EXPECT_NEAR(before.rhat_split, shifted.rhat_split, 1e-9);
  EXPECT_NEAR(before.ess_mean, shifted.ess_mean, 1e-6);
}

TEST(Convergence, too_few_draws_and_infinite_ones_give_nan_not_a_crash) {
  const Convergence few = convergence(std::vector<double>{1, 2, 3}, 1);
  EXPECT_EQ(few.condition, DrawsCondition::too_few);
  EXPECT_TRUE(std::isnan(few.rhat) && std::isnan(few.ess_bulk));
  auto x = normals(40, 4);
  for (double& v : std::span(x).first(30)) v = std::numeric_limits<double>::infinity();
  const Convergence infinite = convergence(x, 2);
  EXPECT_TRUE(std::isnan(infinite.ess_mean));
  EXPECT_TRUE(std::isnan(infinite.rhat_tail));
  x[33] = kNan;
  const Convergence nan = convergence(x, 2);
  EXPECT_EQ(nan.condition, DrawsCondition::nan_draw);
  ASSERT_TRUE(nan.place);
  EXPECT_EQ(nan.place->chain, 1u);
  EXPECT_EQ(nan.place->draw, 13u);
}

void expect_nothing_but(const Convergence& c, DrawsCondition condition, std::size_t chain, std::size_t draw) {
  EXPECT_EQ(c.condition, condition);
  for (const double v : {c.rhat, c.rhat_bulk, c.rhat_tail, c.rhat_split, c.ess_mean, c.ess_bulk, c.ess_tail})
    EXPECT_TRUE(std::isnan(v)) << v;
  ASSERT_TRUE(c.place);
  EXPECT_EQ(c.place->chain, chain);
  EXPECT_EQ(c.place->draw, draw);
}

TEST(Convergence, a_chain_that_stands_still_among_others_gives_nan_and_its_name) {
  auto x = normals(4 * 500, 5);
  std::fill(x.begin() + 1000, x.begin() + 1500, 0.1);
  expect_nothing_but(convergence(x, 4), DrawsCondition::still_chain, 2, 0);
  EXPECT_TRUE(std::isnan(ConvergenceDiagnostics(4, 500).ess_bulk(x)));
  x = normals(4 * 500, 5);
  std::fill(x.begin() + 500, x.begin() + 760, -0.2);  // stuck at first, then moving
  expect_nothing_but(convergence(x, 4), DrawsCondition::still_chain, 1, 0);
  x = normals(4 * 500, 5);
  std::fill(x.begin() + 1740, x.end(), -0.2);  // stuck from some step on
  expect_nothing_but(convergence(x, 4), DrawsCondition::still_chain, 3, 250);
  std::fill(x.begin() + 1740, x.begin() + 1900, -0.2);
  for (std::size_t i = 1900; i < 2000; ++i) x[i] = double(i);  // both halves move
  EXPECT_EQ(convergence(x, 4).condition, DrawsCondition::usual);
  for (std::size_t c = 0; c < 4; ++c) std::fill_n(x.begin() + std::ptrdiff_t(c * 500), 500, double(c));
  expect_nothing_but(convergence(x, 4), DrawsCondition::still_chain, 0, 0);
}

TEST(Convergence, infinite_draws_give_nan_and_the_first_one_its_name) {
  auto x = normals(4 * 500, 6);
  for (std::size_t i = 7; i < x.size(); i += 10) x[i] = (i % 20 < 10 ? 1 : -1) * HUGE_VAL;
  expect_nothing_but(convergence(x, 4), DrawsCondition::infinite_draw, 0, 7);
  EXPECT_EQ(chainwise_rhat(std::span(x).first(500), 4).condition, DrawsCondition::infinite_draw);
  x.assign(40, HUGE_VAL);
  expect_nothing_but(convergence(x, 2), DrawsCondition::infinite_draw, 0, 0);
}

TEST(Convergence, wrong_shapes_are_refused) {
  const std::vector<double> x(10, 1.0);
  EXPECT_THROW(convergence(x, 3), Error);
  EXPECT_THROW(convergence(x, 0), Error);
  EXPECT_THROW(ConvergenceDiagnostics(2, 4).all(x), Error);
  EXPECT_THROW(chainwise_rhat(x, 1), Error);
}

TEST(Convergence, variance_between_and_within_by_hand) {
  const VarianceSplit v = between_within_variance(std::vector<double>{1, 3, 5, 7, 10, 13}, 2);
  EXPECT_EQ(v.within, (4 + 9) / 2.0);
  EXPECT_EQ(v.between, 3 * (10.0 - 3.0) * (10.0 - 3.0) / 2);
}

TEST(ChainwiseRhat, drops_what_is_left_over_and_sees_a_level_shift) {
  auto x = normals(102, 5);
  const auto whole = chainwise_rhat(std::span(x).first(100), 4);
  EXPECT_EQ(chainwise_rhat(x, 4).rhat, whole.rhat);
  EXPECT_LT(whole.rhat, 1.1);
  for (double& v : std::span(x).subspan(50, 50)) v += 5;
  EXPECT_GT(chainwise_rhat(x, 4).rhat, 1.5);
  const auto each = chainwise_rhat_of_each(std::span(x).first(100), 2, 5);
  ASSERT_EQ(each.size(), 2u);
  EXPECT_EQ(each[1].rhat, chainwise_rhat(std::span(x).subspan(50, 50), 5).rhat);
}

}  // namespace
}  // namespace smile

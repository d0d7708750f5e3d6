// SPDX-License-Identifier: Apache-2.0
// Members trained on small problems whose answer is known, and what happens when training goes wrong.
#include "smile/warmstart/member.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "smile/data/dataset.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

constexpr std::size_t kInputs = 2;

double line(double x0, double x1) {
  return 0.8 * x0 - 0.5 * x1 + 0.3;
}

/// Rows of y = 0.8 x₀ − 0.5 x₁ + 0.3 + noise.
DataPart rows_of_a_line(std::size_t rows, double noise, std::uint64_t seed) {
  DataPart part;
  part.rows = rows;
  Stream stream({.seed = seed, .purpose = Purpose::split});
  for (std::size_t r = 0; r < rows; ++r) {
    const double x0 = stream.normal(), x1 = stream.normal();
    part.features.insert(part.features.end(), {x0, x1});
    part.targets.push_back(line(x0, x1) + noise * stream.normal());
  }
  return part;
}

MemberData line_data(double noise = 0.2, std::size_t valid_rows = 40) {
  return member_data(rows_of_a_line(100, noise, 1), rows_of_a_line(valid_rows, noise, 2), kInputs);
}

FcnSpec linear_network() {
  return {kInputs, {1}, Activation::identity, true, Task::mean_regression};
}
FcnSpec hidden_network() {
  return {kInputs, {8, 1}, Activation::tanh, true, Task::mean_regression};
}

double log_sigma(const MemberResult& result) {
  return static_cast<double>(result.position[result.position.size() - 1]);
}

bool same(const MemberResult& a, const MemberResult& b) {
  return std::ranges::equal(a.position.span(), b.position.span());
}

TEST(Member, one_full_batch_step_of_sgd_follows_the_mean_squared_error) {
  // log σ stays out of it; factor 2 and 1/N are those of the mean of (y − m)².
  const DataPart train = rows_of_a_line(50, 0.2, 1);
  MemberOptions options{.optimizer = {.kind = OptimizerKind::sgd},
                        .learning_rate = {.learning_rate = 0.05},
                        .max_epochs = 1,
                        .batch_size = std::nullopt,
                        .keep = KeepEpoch::last,
                        .log_sigma = LogSigmaStart::zero,
                        .seed = 5};
  const MemberResult result = train_member(linear_network(), member_data(train, train, kInputs), options, 7);

  HostVector<float> start;
  lecun_initialise(linear_network().layout(), {5, 7, Purpose::initialisation}, start);
  const double w0 = static_cast<double>(start[0]), w1 = static_cast<double>(start[1]);
  double slope[3] = {}, loss = 0;
  for (std::size_t r = 0; r < train.rows; ++r) {
    const double x0 = train.features[2 * r], x1 = train.features[2 * r + 1];
    const double error = train.targets[r] - w0 * x0 - w1 * x1;
    loss += (0.5 * error * error + 0.5 * std::log(2 * std::numbers::pi)) / 50;
    slope[0] -= 2 * error * x0 / 50;
    slope[1] -= 2 * error * x1 / 50;
    slope[2] -= 2 * error / 50;
  }
  EXPECT_NEAR(static_cast<double>(result.position[0]), w0 - 0.05 * slope[0], 1e-6);
  EXPECT_NEAR(static_cast<double>(result.position[1]), w1 - 0.05 * slope[1], 1e-6);
  EXPECT_NEAR(static_cast<double>(result.position[2]), -0.05 * slope[2], 1e-6);
  EXPECT_EQ(log_sigma(result), 0.0);
  ASSERT_EQ(result.epochs.size(), 1u);
  EXPECT_NEAR(result.epochs[0].train_loss, loss, 1e-6) << "the loss before the update";
  EXPECT_LT(result.epochs[0].valid_loss, loss) << "the loss after it, here on the same rows";
}

TEST(Member, a_linear_network_finds_least_squares_and_the_noise) {
  for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw}) {
    const MemberOptions options{.optimizer = {.kind = kind, .weight_decay = 0},
                                .learning_rate = {.learning_rate = 0.02},
                                .max_epochs = 300,
                                .batch_size = 10,
                                .patience = std::nullopt};
    const MemberResult result = train_member(linear_network(), line_data(), options, 0);
    // Standard error 0.2/√100 and the wobble of mini-batches.
    EXPECT_NEAR(result.position[0], 0.8f, 0.08f);
    EXPECT_NEAR(result.position[1], -0.5f, 0.08f);
    EXPECT_NEAR(result.position[2], 0.3f, 0.08f);
    EXPECT_NEAR(result.residual_sd, 0.2, 0.06);
    EXPECT_NEAR(log_sigma(result), std::log(result.residual_sd), 1e-6);
    EXPECT_EQ(result.epochs.size(), 300u);
    EXPECT_FALSE(result.restarted || result.diverged || result.interrupted);
    EXPECT_TRUE(result.messages.empty());
  }
}

TEST(Member, residual_sd_is_the_root_mean_square_on_the_validation_rows) {
  const DataPart valid = rows_of_a_line(40, 0.2, 2);
  const MemberResult result = train_member(linear_network(), line_data(), {.max_epochs = 5}, 0);
  double squares = 0;
  for (std::size_t r = 0; r < valid.rows; ++r) {
    const double mean = static_cast<double>(result.position[0]) * valid.features[2 * r] +
                        static_cast<double>(result.position[1]) * valid.features[2 * r + 1] +
                        static_cast<double>(result.position[2]);
    squares += (valid.targets[r] - mean) * (valid.targets[r] - mean);
  }
  EXPECT_NEAR(result.residual_sd, std::sqrt(squares / 40), 1e-6);
}

TEST(Member, is_the_same_for_the_same_seed_and_another_for_another) {
  const MemberOptions options{.max_epochs = 10, .batch_size = 16, .seed = 3};
  const MemberResult first = train_member(hidden_network(), line_data(), options, 4);
  EXPECT_TRUE(same(first, train_member(hidden_network(), line_data(), options, 4)));
  EXPECT_FALSE(same(first, train_member(hidden_network(), line_data(), options, 5)));
  MemberOptions other_seed = options;
  other_seed.seed = 4;
  EXPECT_FALSE(same(first, train_member(hidden_network(), line_data(), other_seed, 4)));
}

TEST(Member, keeps_the_best_epoch_or_the_last) {
  // Few rows, many parameters and a large rate: the validation loss rises again after its minimum.
  const MemberData data = member_data(rows_of_a_line(12, 1.0, 1), rows_of_a_line(40, 1.0, 2), kInputs);
  MemberOptions options{.learning_rate = {.learning_rate = 0.05},
                        .max_epochs = 200,
                        .batch_size = 4,
                        .patience = 15,
                        .log_sigma = LogSigmaStart::zero};
  const MemberResult best = train_member(hidden_network(), data, options, 0);
  options.keep = KeepEpoch::last;
  const MemberResult last = train_member(hidden_network(), data, options, 0);

  const auto smallest = std::ranges::min_element(best.epochs, {}, &EpochReport::valid_loss);
  EXPECT_EQ(best.best_epoch, smallest->epoch);
  EXPECT_EQ(best.kept_epoch, best.best_epoch);
  EXPECT_EQ(best.epochs.size(), best.best_epoch + 1 + 15) << "patience ran out";
  EXPECT_EQ(last.best_epoch, best.best_epoch);
  EXPECT_EQ(last.kept_epoch, last.epochs.size() - 1);
  // Training is the same, so the kept vectors reproduce the losses of their epochs.
  Fcn<float> on_valid(hidden_network(), data.valid);
  EXPECT_DOUBLE_EQ(-on_valid.log_likelihood({}, best.position) / 40, smallest->valid_loss);
  EXPECT_DOUBLE_EQ(-on_valid.log_likelihood({}, last.position) / 40, last.epochs.back().valid_loss);
}

TEST(Member, that_diverges_once_goes_on_with_half_the_rate) {
  // Full-batch gradient descent on a quadratic converges below a rate of 2/(largest curvature), about 2/2.6
  // here: 1 diverges, 0.5 does not.
  const MemberOptions options{.optimizer = {.kind = OptimizerKind::sgd},
                              .learning_rate = {.learning_rate = 1.0},
                              .max_epochs = 2000,
                              .batch_size = std::nullopt,
                              .patience = std::nullopt};
  const MemberResult result = train_member(linear_network(), line_data(), options, 0);
  EXPECT_TRUE(result.restarted);
  EXPECT_FALSE(result.diverged);
  ASSERT_EQ(result.messages.size(), 1u);
  EXPECT_NE(result.messages[0].find("member 0 diverged in epoch"), std::string::npos) << result.messages[0];
  EXPECT_EQ(result.epochs.size(), 2000u);
  EXPECT_EQ(result.epochs.front().attempt, 1);
  EXPECT_EQ(result.epochs.front().learning_rate, 0.5);
  EXPECT_NEAR(result.residual_sd, 0.2, 0.06);
}

TEST(Member, that_diverges_twice_is_reported_and_finite) {
  for (const OptimizerKind kind : {OptimizerKind::sgd, OptimizerKind::adam, OptimizerKind::adamw}) {
    const MemberOptions options{.optimizer = {.kind = kind}, .learning_rate = {.learning_rate = 1e30}};
    std::vector<int> attempts;
    const MemberResult result =
        train_member(hidden_network(), line_data(), options, 6, [&](const EpochReport& report) {
          attempts.push_back(report.attempt);
          return true;
        });
    EXPECT_TRUE(result.restarted);
    EXPECT_TRUE(result.diverged);
    ASSERT_EQ(result.messages.size(), 2u);
    EXPECT_NE(result.messages[1].find("member 6 diverged again"), std::string::npos) << result.messages[1];
    EXPECT_EQ(result.position.size(), hidden_network().layout().size());
    for (float x : result.position.span()) EXPECT_TRUE(std::isfinite(x));
    EXPECT_EQ(log_sigma(result), 0.0);
  }
}

TEST(Member, without_validation_rows_keeps_the_last_epoch_and_says_so) {
  const MemberOptions options{.max_epochs = 30, .patience = 2};
  const MemberResult result = train_member(linear_network(), line_data(0.2, 0), options, 0);
  EXPECT_EQ(result.epochs.size(), 30u) << "no early stopping";
  EXPECT_EQ(result.kept_epoch, 29u);
  EXPECT_TRUE(std::isnan(result.epochs.back().valid_loss));
  EXPECT_EQ(result.messages.size(), 1u);
  EXPECT_GT(result.residual_sd, 0);
  EXPECT_NEAR(log_sigma(result), std::log(result.residual_sd), 1e-6);
}

TEST(Member, that_fits_exactly_starts_sigma_at_the_floor) {
  DataPart constant{
      .rows = 8, .features = std::vector<double>(16, 0.0), .targets = std::vector<double>(8, 0.0)};
  const MemberData data = member_data(constant, constant, kInputs);
  MemberOptions options{.max_epochs = 2};
  const MemberResult result = train_member(linear_network(), data, options, 0);
  EXPECT_LT(result.residual_sd, 1e-6);
  EXPECT_NEAR(log_sigma(result), std::log(kSmallestResidualSd), 1e-6);
  EXPECT_EQ(result.messages.size(), 1u);
  options.log_sigma = LogSigmaStart::zero;
  EXPECT_EQ(log_sigma(train_member(linear_network(), data, options, 0)), 0.0);
}

TEST(Member, is_stopped_by_its_observer) {
  std::uint64_t seen = 0;
  const MemberResult result =
      train_member(linear_network(), line_data(), {.max_epochs = 50}, 9, [&](const EpochReport& report) {
        EXPECT_EQ(report.member, 9u);
        EXPECT_EQ(report.epoch, seen);
        return ++seen < 3;
      });
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.epochs.size(), 3u);
}

TEST(Member, follows_the_schedule_by_updates) {
  // 100 rows in batches of 30: four updates an epoch (30, 30, 30, 10); the report has the last one's rate.
  const MemberOptions options{.learning_rate = {.kind = LearningRateKind::linear,
                                                .init_value = 0.1,
                                                .end_value = 0.0,
                                                .transition_steps = 10},
                              .max_epochs = 3,
                              .batch_size = 30};
  const MemberResult result = train_member(linear_network(), line_data(), options, 0);
  EXPECT_NEAR(result.epochs[0].learning_rate, 0.07, 1e-15);
  EXPECT_NEAR(result.epochs[1].learning_rate, 0.03, 1e-15);
  EXPECT_EQ(result.epochs[2].learning_rate, 0.0);
}

TEST(Member, regression_learns_a_noise_that_depends_on_the_input) {
  const auto rows = [](std::size_t n, std::uint64_t seed) {
    DataPart part;
    part.rows = n;
    Stream stream({.seed = seed, .purpose = Purpose::split});
    for (std::size_t r = 0; r < n; ++r) {
      const double side = r % 2 == 0 ? 1 : -1;
      part.features.insert(part.features.end(), {side, stream.normal()});
      part.targets.push_back((side > 0 ? 0.5 : 0.1) * stream.normal());
    }
    return part;
  };
  const MemberData data = member_data(rows(400, 1), rows(200, 2), kInputs);
  const FcnSpec spec{kInputs, {2}, Activation::identity, true, Task::regression};
  const MemberOptions options{.optimizer = {.weight_decay = 0},
                              .learning_rate = {.learning_rate = 0.03},
                              .max_epochs = 300,
                              .patience = std::nullopt};
  const MemberResult result = train_member(spec, data, options, 0);
  // Outputs (m, r): r = bias ± weight of the side.
  const float bias = result.position[5], weight = result.position[2];
  EXPECT_NEAR(std::exp(bias + weight), 0.5f, 0.1f);
  EXPECT_NEAR(std::exp(bias - weight), 0.1f, 0.02f);
  EXPECT_EQ(result.residual_sd, 0);
}

TEST(Member, classification_learns_the_side_of_a_line) {
  const auto rows = [](std::size_t n, std::uint64_t seed) {
    DataPart part = rows_of_a_line(n, 0, seed);
    for (double& y : part.targets) y = y > 0 ? 1 : 0;
    return part;
  };
  const MemberData data = member_data(rows(400, 1), rows(200, 2), kInputs);
  const FcnSpec spec{kInputs, {2}, Activation::identity, true, Task::classification};
  const MemberResult result = train_member(spec, data, {.max_epochs = 100}, 0);
  EXPECT_NEAR(result.epochs.front().train_loss, std::log(2), 0.5);
  EXPECT_LT(result.epochs[result.best_epoch].valid_loss, 0.15);
}

TEST(Member, options_out_of_range_are_refused) {
  for (const MemberOptions& options :
       {MemberOptions{.max_epochs = 0}, MemberOptions{.batch_size = 0}, MemberOptions{.patience = 0},
        MemberOptions{.learning_rate = {.learning_rate = -1}}})
    EXPECT_THROW(train_member(linear_network(), line_data(), options, 0), Error);
  const DataPart none{};
  EXPECT_THROW(train_member(linear_network(), member_data(none, none, kInputs), {}, 0), Error);
  EXPECT_EQ(parse_name<KeepEpoch>("last"), KeepEpoch::last);
  EXPECT_FALSE(parse_name<KeepEpoch>("first"));
  EXPECT_EQ(parse_name<LogSigmaStart>("zero"), LogSigmaStart::zero);
  EXPECT_FALSE(parse_name<LogSigmaStart>("one"));
}

MemberOptions ivon_options() {
  MemberOptions options;
  options.optimizer.kind = OptimizerKind::ivon;
  options.optimizer.ivon.beta2 = 0.999;
  options.optimizer.weight_decay = 0.02;  // δ: a prior precision of 2 for 100 rows
  options.learning_rate = {.kind = LearningRateKind::cosine_decay, .peak_value = 0.1, .decay_steps = 4000};
  options.max_epochs = 1000;
  options.batch_size = 25;
  options.patience = std::nullopt;
  options.keep = KeepEpoch::last;
  options.seed = 5;
  return options;
}

/// Of squared errors the bound's optimum has its mean at the ridge solution: (XᵀX·2/N + δ) w = XᵀY·2/N. The
/// learning rate ends at 0; what is left of the noise of batches and of the draws is below 0.02.
TEST(Member, ivon_ends_at_the_ridge_solution_of_a_linear_network) {
  const DataPart train = rows_of_a_line(100, 0.2, 1);
  MemberOptions options = ivon_options();
  for (const std::int64_t draws : {1, 3}) {
    options.optimizer.draws = draws;
    const MemberResult result =
        train_member(linear_network(), member_data(train, train, kInputs), options, 7);
    ASSERT_FALSE(result.diverged);
    double gradient[3] = {};
    for (std::size_t r = 0; r < train.rows; ++r) {
      const double x[3] = {train.features[2 * r], train.features[2 * r + 1], 1};
      double error = train.targets[r];
      for (int k = 0; k < 3; ++k) error -= double(result.position[std::size_t(k)]) * x[k];
      for (int k = 0; k < 3; ++k) gradient[k] -= 2 * error * x[k] / 100;
    }
    for (int k = 0; k < 3; ++k)  // curvature 2: a gradient of 0.04 is 0.02 away
      EXPECT_NEAR(gradient[k] + 0.02 * double(result.position[std::size_t(k)]), 0, 0.04) << draws << ' ' << k;
    EXPECT_NEAR(log_sigma(result), std::log(0.2), 0.3) << "of the residuals, not of what was drawn";
  }
}

TEST(Member, ivon_is_a_function_of_seed_and_member) {
  MemberOptions options = ivon_options();
  options.max_epochs = 20;
  const MemberResult first = train_member(hidden_network(), line_data(), options, 3);
  EXPECT_TRUE(same(first, train_member(hidden_network(), line_data(), options, 3)));
  EXPECT_FALSE(same(first, train_member(hidden_network(), line_data(), options, 4)));
  EXPECT_LT(first.epochs.back().valid_loss, first.epochs.front().valid_loss);
}

}  // namespace
}  // namespace smile

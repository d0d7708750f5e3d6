// SPDX-License-Identifier: Apache-2.0
// Replay of likelihoods.json: through the plain functions in double, and through the engines. A network of
// one layer with weight I and bias 0 puts out its inputs, and its bias gradient on a batch of one row is the
// derivative with respect to the outputs.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "smile/network/fcn.hpp"
#include "smile/targets/task_likelihood.hpp"
#include "support/vectors.hpp"

namespace smile {
namespace {

using test::Json;

/// The file's note: float can't hold logits near 1e5, nor log standard deviations beyond ±80.
constexpr double kLargestFloatLogit = 1e4;
constexpr double kLargestFloatLogSigma = 80;

struct Observation {
  std::vector<double> outputs;
  double target = 0;
  double log_likelihood = 0;
  std::vector<double> derivative;
};

/// One row's score and derivative by the engine with elements T.
template <class T>
void score_with_engine(Task task, double log_sigma, const Observation& one, double& value,
                       std::vector<double>& derivative) {
  const std::size_t outputs = one.outputs.size();
  FcnSpec spec;
  spec.inputs = outputs;
  spec.widths = {outputs};
  spec.task = task;
  const auto data = std::make_shared<const FcnData<T>>(1, outputs, one.outputs, std::span(&one.target, 1));
  Fcn<T> network(spec, data);
  HostVector<T> theta(network.layout().size()), gradient(network.layout().size());
  for (std::size_t i = 0; i < outputs; ++i) theta[i * outputs + i] = 1;
  if (task == Task::mean_regression) theta[theta.size() - 1] = static_cast<T>(log_sigma);
  value = network.log_likelihood_and_gradient({}, theta, gradient);
  derivative.clear();
  for (std::size_t i = outputs * outputs; i < gradient.size(); ++i)
    derivative.push_back(static_cast<double>(gradient[i]));
}

bool fits_in_float(Task task, const Observation& one) {
  if (task == Task::regression) return std::fabs(one.outputs[1]) <= kLargestFloatLogSigma;
  for (double output : one.outputs)
    if (std::fabs(output) > kLargestFloatLogit) return false;
  return true;
}

/// Compares values and derivatives of all observations as arrays, as the file's rule says.
template <class T>
void replay_engine(Task task, double log_sigma, const std::vector<Observation>& observations,
                   test::Tolerance tolerance) {
  std::vector<double> values, expected_values, derivatives, expected_derivatives;
  for (const Observation& one : observations) {
    if (sizeof(T) == sizeof(float) && !fits_in_float(task, one)) continue;
    double value = 0;
    std::vector<double> derivative;
    score_with_engine<T>(task, log_sigma, one, value, derivative);
    values.push_back(value);
    expected_values.push_back(one.log_likelihood);
    // Derivatives of a row are compared with each other's scale only: they span many decades between rows.
    derivative.resize(one.derivative.size());
    EXPECT_EQ("", test::mismatch(derivative, one.derivative, tolerance));
  }
  ASSERT_FALSE(values.empty());
  EXPECT_EQ("", test::mismatch(values, expected_values, tolerance));
}

void replay_everywhere(Task task, double log_sigma, const std::vector<Observation>& observations,
                       const Json& file) {
  replay_engine<double>(task, log_sigma, observations, test::tolerance(file.at("tolerance").at("float64")));
  replay_engine<float>(task, log_sigma, observations, test::tolerance(file.at("tolerance").at("float32")));
}

void replay_normal(const Json& input, const Json& expected, const Json& file) {
  const bool global = input.at("task") == "mean_regr";
  const test::Tolerance tolerance = test::tolerance(file.at("tolerance").at("float64"));
  EXPECT_EQ("", test::unknown_keys(input, {"task", "y", "mean", "log_sd", "log_sigma"}));
  EXPECT_EQ("",
            test::unknown_keys(expected, {"log_likelihood", "total", "d_mean", "d_log_sd", "d_log_sigma"}));
  const auto y = test::numbers(input.at("y")), mean = test::numbers(input.at("mean"));
  const auto log_likelihood = test::numbers(expected.at("log_likelihood"));
  const auto d_mean = test::numbers(expected.at("d_mean"));
  std::vector<double> value, by_mean, by_log_sigma;
  std::vector<Observation> observations;
  double total = 0, total_by_log_sigma = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double r = test::number(global ? input.at("log_sigma") : input.at("log_sd").at(i));
    const NormalScore score = normal_log_likelihood(y[i], mean[i], r);
    value.push_back(score.log_likelihood);
    by_mean.push_back(score.d_mean);
    by_log_sigma.push_back(score.d_log_sigma);
    total += score.log_likelihood;
    total_by_log_sigma += score.d_log_sigma;
    if (global)
      observations.push_back({{mean[i]}, y[i], log_likelihood[i], {d_mean[i]}});
    else
      observations.push_back(
          {{mean[i], r}, y[i], log_likelihood[i], {d_mean[i], test::number(expected.at("d_log_sd").at(i))}});
  }
  EXPECT_EQ("", test::mismatch(value, log_likelihood, tolerance));
  EXPECT_EQ("", test::mismatch(by_mean, d_mean, tolerance));
  if (expected.contains("d_log_sd")) {
    EXPECT_EQ("", test::mismatch(by_log_sigma, test::numbers(expected.at("d_log_sd")), tolerance));
  }
  if (expected.contains("d_log_sigma")) {
    EXPECT_EQ("", test::mismatch(total_by_log_sigma, test::number(expected.at("d_log_sigma")), tolerance));
  }
  if (expected.contains("total")) {
    EXPECT_EQ("", test::mismatch(total, test::number(expected.at("total")), tolerance));
  }
  replay_everywhere(global ? Task::mean_regression : Task::regression,
                    global ? test::number(input.at("log_sigma")) : 0, observations, file);
}

void replay_classes(const Json& input, const Json& expected, const Json& file) {
  const test::Tolerance tolerance = test::tolerance(file.at("tolerance").at("float64"));
  EXPECT_EQ("", test::unknown_keys(input, {"task", "y", "logits"}));
  EXPECT_EQ("", test::unknown_keys(expected, {"log_likelihood", "total", "d_logits"}));
  const auto logits = test::matrix(input.at("logits")), d_logits = test::matrix(expected.at("d_logits"));
  const auto log_likelihood = test::numbers(expected.at("log_likelihood"));
  std::vector<Observation> observations;
  double total = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    const auto label = input.at("y").at(i).get<std::size_t>();
    std::vector<double> derivative(logits[i].size());
    const double value = categorical_log_likelihood(logits[i], label, derivative);
    total += value;
    EXPECT_EQ("", test::mismatch(value, log_likelihood[i], tolerance));
    EXPECT_EQ("", test::mismatch(derivative, d_logits[i], tolerance));
    EXPECT_EQ(value, categorical_log_likelihood(logits[i], label, {}));
    observations.push_back({logits[i], static_cast<double>(label), log_likelihood[i], d_logits[i]});
  }
  EXPECT_EQ("", test::mismatch(total, test::number(expected.at("total")), tolerance));
  replay_everywhere(Task::classification, 0, observations, file);
}

void replay_windows(const Json& input, const Json& expected, const Json& file) {
  EXPECT_EQ("", test::unknown_keys(input, {"task", "y", "logits"}));
  EXPECT_EQ("", test::unknown_keys(expected, {"log_likelihood_per_window", "total", "d_logits"}));
  for (const char* precision : {"float64", "float32"}) {
    const test::Tolerance tolerance = test::tolerance(file.at("tolerance").at(precision));
    const bool single = std::string(precision) == "float32";
    double total = 0;
    for (std::size_t w = 0; w < input.at("y").size(); ++w) {
      const auto labels = input.at("y").at(w).get<std::vector<std::uint32_t>>();
      std::vector<double> logits, expected_derivative;
      for (const auto& row : test::matrix(input.at("logits").at(w)))
        for (double x : row) logits.push_back(single ? static_cast<double>(static_cast<float>(x)) : x);
      for (const auto& row : test::matrix(expected.at("d_logits").at(w)))
        expected_derivative.insert(expected_derivative.end(), row.begin(), row.end());
      std::vector<double> derivative(logits.size());
      const double value = multilabel_log_likelihood(logits, labels, derivative);
      total += value;
      EXPECT_EQ(
          "", test::mismatch(value, test::number(expected.at("log_likelihood_per_window").at(w)), tolerance));
      EXPECT_EQ("", test::mismatch(derivative, expected_derivative, tolerance));
      EXPECT_EQ(value, multilabel_log_likelihood(logits, labels, {}));
    }
    EXPECT_EQ("", test::mismatch(total, test::number(expected.at("total")), tolerance));
  }
}

TEST(LikelihoodVectors, tasks_match_in_plain_form_and_through_the_engines) {
  const Json file = test::load_vectors("likelihoods");
  EXPECT_EQ("", test::unknown_keys(file, {"topic", "spec", "description", "tolerance", "cases"}));
  ASSERT_FALSE(file.at("cases").empty());
  for (const Json& one : file.at("cases")) {
    SCOPED_TRACE(one.at("name").get<std::string>());
    EXPECT_EQ("", test::unknown_keys(one, {"name", "input", "expected", "note"}));
    const std::string task = one.at("input").at("task");
    if (task == "regr" || task == "mean_regr")
      replay_normal(one.at("input"), one.at("expected"), file);
    else if (task == "class")
      replay_classes(one.at("input"), one.at("expected"), file);
    else if (task == "class_multilabel")
      replay_windows(one.at("input"), one.at("expected"), file);
    else
      ADD_FAILURE() << "unknown task " << task;
  }
}

TEST(TaskLikelihood, a_non_finite_output_gives_a_non_finite_score) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(normal_log_likelihood(0, nan, 0).log_likelihood));
  EXPECT_TRUE(std::isnan(normal_log_likelihood(0, 0, nan).log_likelihood));
  EXPECT_EQ(-inf, normal_log_likelihood(0, inf, 0).log_likelihood);
  EXPECT_TRUE(std::isnan(categorical_log_likelihood(std::vector<double>{0, nan, 1}, 0, {})));
  EXPECT_TRUE(std::isnan(categorical_log_likelihood(std::vector<double>{nan, 0, 1}, 2, {})));
}

}  // namespace
}  // namespace smile

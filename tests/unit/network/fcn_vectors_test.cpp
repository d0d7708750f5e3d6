// SPDX-License-Identifier: Apache-2.0
// Replay of fcn.json: outputs, log-likelihood, gradient and log-density of small networks, in both precisions
// and in both forms of a batch.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <numeric>

#include "smile/network/fcn.hpp"
#include "support/vectors.hpp"

namespace smile {
namespace {

using test::Json;

const std::map<std::string, Activation> kActivations = {{"relu", Activation::relu},
                                                        {"tanh", Activation::tanh},
                                                        {"sigmoid", Activation::sigmoid},
                                                        {"gelu", Activation::gelu},
                                                        {"leaky_relu", Activation::leaky_relu},
                                                        {"identity", Activation::identity}};
const std::map<std::string, Task> kTasks = {
    {"mean_regr", Task::mean_regression}, {"regr", Task::regression}, {"class", Task::classification}};

/// N of the file's log-densities (its description): L = log prior + (N/B) log-likelihood.
constexpr double kDescribedObservations = 1000;

template <class T>
HostVector<T> host(const std::vector<double>& values) {
  HostVector<T> out(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) out[i] = static_cast<T>(values[i]);
  return out;
}

template <class T, class Range>
std::vector<double> doubles(const Range& range) {
  return std::vector<double>(range.begin(), range.end());
}

template <class T>
void replay(const Json& file, const Json& one, test::Tolerance tolerance) {
  const Json& input = one.at("input");
  const Json& expected = one.at("expected");
  EXPECT_EQ("", test::unknown_keys(one, {"name", "input", "expected", "tolerance", "note"}));
  EXPECT_EQ("",
            test::unknown_keys(input, {"widths", "activation", "task", "bias", "targets", "theta", "rows"}));
  EXPECT_EQ("", test::unknown_keys(expected, {"output", "log_likelihood", "gradient", "log_density",
                                              "log_density_gradient"}));

  FcnSpec spec;
  const auto widths = input.at("widths").get<std::vector<std::size_t>>();
  spec.inputs = widths.front();
  spec.widths.assign(widths.begin() + 1, widths.end());
  spec.activation = kActivations.at(input.at("activation"));
  spec.task = kTasks.at(input.at("task"));
  spec.bias = input.at("bias");

  const auto x = test::matrix(file.at("X"));
  const auto y = test::numbers(file.at(input.at("targets").get<std::string>()));
  const std::size_t batch = input.value("rows", x.size());
  std::vector<double> features;
  for (const auto& row : x) features.insert(features.end(), row.begin(), row.end());
  const auto all = std::make_shared<const FcnData<T>>(x.size(), spec.inputs, features, y);
  features.resize(batch * spec.inputs);
  const auto first =
      std::make_shared<const FcnData<T>>(batch, spec.inputs, features, std::span(y).first(batch));
  std::vector<std::uint32_t> rows(batch);
  std::iota(rows.begin(), rows.end(), 0U);

  const HostVector<T> theta = host<T>(test::numbers(input.at("theta")));
  const double expected_value = test::number(expected.at("log_likelihood"));
  const auto expected_gradient = test::numbers(expected.at("gradient"));
  HostVector<T> gradient(theta.size(), T{7});  // overwritten, not added to

  struct Form {
    std::shared_ptr<const FcnData<T>> data;
    std::span<const std::uint32_t> rows;
  };
  for (const Form& form : {Form{all, rows}, Form{first, {}}}) {
    Fcn<T> network(spec, form.data);
    ASSERT_EQ(theta.size(), network.layout().size());
    const double value = network.log_likelihood_and_gradient(form.rows, theta, gradient);
    EXPECT_EQ("", test::mismatch(value, expected_value, tolerance));
    EXPECT_EQ("", test::mismatch(doubles<T>(gradient.span()), expected_gradient, tolerance));
    EXPECT_EQ("", test::mismatch(network.log_likelihood(form.rows, theta), expected_value, tolerance));

    std::vector<double> expected_output;
    for (const auto& row : test::matrix(expected.at("output")))
      expected_output.insert(expected_output.end(), row.begin(), row.end());
    std::vector<T> output(batch * spec.outputs());
    network.predict(*first, theta, output);
    EXPECT_EQ("", test::mismatch(doubles<T>(output), expected_output, tolerance));

    if (expected.contains("log_density")) {
      const double scale = kDescribedObservations / static_cast<double>(batch);
      double density = scale * value;
      std::vector<double> density_gradient;
      for (std::size_t i = 0; i < theta.size(); ++i) {
        const double t = static_cast<double>(theta[i]);
        density -= 0.5 * t * t + 0.91893853320467274178;
        density_gradient.push_back(scale * static_cast<double>(gradient[i]) - t);
      }
      EXPECT_EQ("", test::mismatch(density, test::number(expected.at("log_density")), tolerance));
      EXPECT_EQ("", test::mismatch(density_gradient, test::numbers(expected.at("log_density_gradient")),
                                   tolerance));
    }
  }
}

TEST(FcnVectors, networks_match_in_both_precisions_and_both_batch_forms) {
  const Json file = test::load_vectors("fcn");
  EXPECT_EQ("", test::unknown_keys(file, {"topic", "spec", "description", "tolerance", "X", "y_regression",
                                          "y_two_classes", "y_three_classes", "cases"}));
  ASSERT_FALSE(file.at("cases").empty());
  for (const Json& one : file.at("cases")) {
    SCOPED_TRACE(one.at("name").get<std::string>());
    const Json& tolerance = one.contains("tolerance") ? one.at("tolerance") : file.at("tolerance");
    replay<double>(file, one, test::tolerance(tolerance.at("float64")));
    replay<float>(file, one, test::tolerance(tolerance.at("float32")));
  }
}

}  // namespace
}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
// The likelihood of a module over tensors of one's own.
#include "smile/torch/tensor_likelihood.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "smile/error.hpp"

namespace smile {
namespace {

FlatNetwork linear(std::int64_t outputs, Task task) {
  torch::manual_seed(3);
  return FlatNetwork(torch_module(std::make_shared<torch::nn::LinearImpl>(4, outputs)), task);
}

HostVector<float> parameters_of(const FlatNetwork& network) {
  HostVector<float> position(network.layout().size());
  torch::Tensor view = tensor_view(position.data(), position.size());
  network.read(view);
  return position;
}

TEST(TensorLikelihood, TheWholeIsTheSumOfItsRows) {
  const std::int64_t n = 601;  // three pieces
  torch::manual_seed(4);
  const torch::Tensor x = torch::randn({n, 4}), y = torch::randint(3, {n}, torch::kLong);
  FlatNetwork network = linear(3, Task::classification);
  const HostVector<float> position = parameters_of(network);
  const torch::Tensor logits = network.outputs(x, tensor_view(position.data(), position.size()));
  const double expected = -torch::nn::functional::cross_entropy(
                               logits.to(torch::kDouble), y,
                               torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum))
                               .item<double>();
  const auto likelihood = make_tensor_likelihood(std::move(network), x, y);
  EXPECT_EQ(likelihood->observations(), std::size_t(n));
  EXPECT_NEAR(likelihood->log_likelihood({}, position), expected, 1e-4);
  std::vector<std::uint32_t> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), 0u);
  HostVector<float> whole, by_rows;
  EXPECT_NEAR(likelihood->log_likelihood_and_gradient({}, position, whole), expected, 1e-4);
  EXPECT_NEAR(likelihood->log_likelihood_and_gradient(rows, position, by_rows), expected, 1e-4);
  double halves = 0;
  halves += likelihood->log_likelihood(std::span(rows).first(300), position);
  halves += likelihood->log_likelihood(std::span(rows).subspan(300), position);
  EXPECT_NEAR(halves, expected, 1e-4);
  ASSERT_EQ(whole.size(), by_rows.size());
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(whole[i], by_rows[i], 1e-3);
}

void expect_refused(FlatNetwork network, torch::Tensor x, torch::Tensor y, const std::string& part) {
  try {
    make_tensor_likelihood(std::move(network), std::move(x), std::move(y));
    ADD_FAILURE() << part;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(TensorLikelihood, WhatDoesNotFitTogetherIsRefused) {
  const torch::Tensor x = torch::randn({5, 4});
  const auto regression = [] { return linear(1, Task::mean_regression); };
  expect_refused(regression(), x, torch::randn({4}), "inputs and targets are not as many");
  expect_refused(regression(), torch::randn({0, 4}), torch::randn({0}), "inputs and targets are not as many");
  expect_refused(regression(), x, torch::randn({5, 2}), "the targets are not one number a row");
  expect_refused(linear(3, Task::classification), x, torch::zeros({5}), "the labels are no integers");
  // A column of targets, of another type, is taken.
  const auto likelihood = make_tensor_likelihood(regression(), x, torch::zeros({5, 1}, torch::kDouble));
  EXPECT_TRUE(std::isfinite(likelihood->log_likelihood({}, HostVector<float>(likelihood->layout().size()))));
}

}  // namespace
}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
// A LibTorch network over a data set: likelihoods with frozen parameters, memory of a gradient.
#include "torch/torch_network.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <vector>

#include "smile/experiment/network_engine.hpp"
#include "smile/network/row_jacobians.hpp"
#include "smile/targets/frozen.hpp"
#include "smile/torch/architectures.hpp"
#include "torch/device_memory.hpp"

namespace smile {
namespace {

NetworkData random_images(std::size_t side, std::size_t count) {
  auto set = std::make_shared<ImageSet>();
  set->shape = {1, side, side};
  set->pixels.resize(count * set->shape.size());
  Stream stream({1, 0, Purpose::diagnostics});
  for (auto& pixel : set->pixels) pixel = std::uint8_t(stream.below(256));
  for (std::size_t i = 0; i < count; ++i) set->labels.push_back(std::uint32_t(i % 4));
  std::vector<std::uint32_t> rows(count);
  std::iota(rows.begin(), rows.end(), 0u);
  auto images = std::make_shared<ImageDataset>();
  images->images = set;
  images->train = images->valid = images->test = ImageRows(set, rows, ImageNormalisation::unit(1));
  NetworkData data;
  data.images = images;
  return data;
}

deep::TorchNetwork lenet(const NetworkData& data, std::int64_t side) {
  return {[=] { return torch_module(make_lenet(1, side, side, 4, Activation::gelu, true)); },
          Task::classification,
          deep::Batches(data, Task::classification, torch::kCPU),
          4,
          false,
          "test"};
}

/// A table for a network with a global log σ.
deep::TorchNetwork regression(std::size_t count) {
  auto table = std::make_shared<Dataset>();
  Stream stream({2, 0, Purpose::diagnostics});
  table->train.rows = count;
  for (std::size_t i = 0; i < count * 3; ++i) table->train.features.push_back(stream.uniform());
  for (std::size_t i = 0; i < count; ++i) table->train.targets.push_back(stream.uniform());
  table->test = table->valid = table->train;
  NetworkData data;
  data.table = table;
  return {[] {
            return torch_module(make_fcn(3, {5, 1}, Activation::tanh, true));
          },
          Task::mean_regression,
          deep::Batches(data, Task::mean_regression, torch::kCPU),
          1,
          false,
          "test"};
}

/// The network's own conditional likelihood against the one that copies.
void expect_same_as_copies(const deep::TorchNetwork& network, const std::vector<std::string>& patterns) {
  const auto frozen = std::make_shared<const FrozenParameters>(network.layout(), patterns);
  HostVector<float> whole(network.layout().size()), other(whole.size());
  network.initialise({3, 0, Purpose::initialisation}, whole);
  network.initialise({4, 0, Purpose::initialisation}, other);
  for (float& x : other.span()) x += 0.03f;
  const auto own = network.conditional_likelihood(Part::train, frozen, whole);
  const auto copying = freeze(network.likelihood(Part::train), frozen, whole);
  HostVector<float> position, gradient(frozen->moving().size()), expected(gradient.size());
  frozen->take(other, position);
  const std::vector<std::uint32_t> rows{3, 1, 4, 15, 9, 2, 6, 5};
  for (const auto& chosen : {rows, std::vector<std::uint32_t>()}) {
    EXPECT_EQ(own->layout().size(), position.size());
    const double value = own->log_likelihood_and_gradient(chosen, position, gradient);
    EXPECT_EQ(value, copying->log_likelihood_and_gradient(chosen, position, expected));
    EXPECT_EQ(own->log_likelihood(chosen, position), copying->log_likelihood(chosen, position));
    double largest = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(gradient[i], expected[i]) << i;
      largest = std::max(largest, double(std::abs(expected[i])));
    }
    EXPECT_GT(largest, 0);
  }
}

TEST(TorchNetwork, FrozenParametersAreHeldWithoutCopies) {
  const NetworkData data = random_images(12, 40);
  const auto network = lenet(data, 12);
  expect_same_as_copies(network, {"conv1"});
  expect_same_as_copies(network, {"conv*", "dense1.weight"});
  expect_same_as_copies(network, {"*.bias"});
  expect_same_as_copies(regression(40), {"log_sigma"});
  expect_same_as_copies(regression(40), {"layer0", "*sigma"});
}

// The plan foresees from a few rows what a batch will take.
TEST(TorchNetwork, MemoryOfAGradientIsForeseen) {
  const NetworkData data = random_images(28, 128);
  const auto network = lenet(data, 28);
  FlatNetwork workspace = network.workspace();
  torch::Tensor theta = torch::zeros({std::int64_t(network.layout().size())}), gradient = theta.clone();
  for (const std::size_t batch : {16, 100}) {
    std::vector<std::uint32_t> rows(batch);
    std::iota(rows.begin(), rows.end(), 0u);
    const auto evaluate = [&] {
      deep::value_and_gradient(workspace, network.data(), Part::train, rows, theta, gradient);
    };
    evaluate();
    const double measured = double(deep::peak_allocation(torch::kCPU, evaluate));
    EXPECT_GT(measured, 1e4 * double(batch));
    EXPECT_NEAR(double(network.workspace_bytes(batch)), measured, 0.2 * measured) << batch;
  }
}

// Outputs are read as logits.
TEST(TorchNetwork, ANetworkThatEndsInASoftmaxIsRemarkedOn) {
  const NetworkData data = random_images(28, 40);
  const auto ending_in = [&](std::function<torch::Tensor(const torch::Tensor&)> last) {
    return deep::TorchNetwork(
        [=] {
          TorchModule module = torch_module(make_lenet(1, 28, 28, 4, Activation::gelu, true));
          module.forward = [forward = module.forward, last](const torch::Tensor& x) {
            return last(forward(x));
          };
          return module;
        },
        Task::classification, deep::Batches(data, Task::classification, torch::kCPU), 4, false, "net.pt");
  };
  const auto softmax = ending_in([](const torch::Tensor& x) { return torch::softmax(x, 1); });
  ASSERT_EQ(softmax.remarks().size(), 1u);
  EXPECT_NE(softmax.remarks()[0].find("net.pt: its outputs are probabilities"), std::string::npos);
  EXPECT_TRUE(ending_in([](const torch::Tensor& x) { return x; }).remarks().empty());
  // log p is as good as logits, and numbers of one sign are no probabilities.
  EXPECT_TRUE(ending_in([](const torch::Tensor& x) { return torch::log_softmax(x, 1); }).remarks().empty());
  EXPECT_TRUE(ending_in([](const torch::Tensor& x) { return torch::sigmoid(x); }).remarks().empty());
}

TEST(TorchNetwork, GivesTheDerivativesOfItsOutputsForSingleRows) {
  const NetworkData data = random_images(12, 6);
  const deep::TorchNetwork network = lenet(data, 12);
  HostVector<float> theta;
  network.initialise({3, 0, Purpose::initialisation}, theta);
  const auto jacobians = network.row_jacobians();
  ASSERT_TRUE(jacobians);
  jacobians->start(theta);
  const std::size_t d = theta.size(), outputs = network.outputs();
  std::vector<double> f(outputs), jacobian(outputs * d);
  jacobians->at(Part::train, 2, f, jacobian);
  const auto predictor = network.predictor();
  std::vector<float> up(6 * outputs), down(6 * outputs);
  predictor->predict(Part::train, theta, up);
  for (std::size_t c = 0; c < outputs; ++c) EXPECT_NEAR(f[c], double(up[2 * outputs + c]), 1e-5);
  // Along random directions: float outputs of order 1 with a step of 1e-2.
  Stream stream({5, 0, Purpose::diagnostics});
  for (int trial = 0; trial < 5; ++trial) {
    HostVector<float> forth = theta, back = theta;
    std::vector<double> direction(d);
    for (std::size_t i = 0; i < d; ++i) {
      direction[i] = stream.normal() / std::sqrt(double(d));
      forth[i] += float(1e-2 * direction[i]), back[i] -= float(1e-2 * direction[i]);
    }
    predictor->predict(Part::train, forth, up);
    predictor->predict(Part::train, back, down);
    for (std::size_t c = 0; c < outputs; ++c) {
      double slope = 0;
      for (std::size_t i = 0; i < d; ++i) slope += jacobian[c * d + i] * direction[i];
      EXPECT_NEAR(slope, (double(up[2 * outputs + c]) - double(down[2 * outputs + c])) / 2e-2, 2e-3);
    }
  }
}

}  // namespace
}  // namespace smile

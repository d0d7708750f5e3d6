// SPDX-License-Identifier: Apache-2.0
// A module bound to flat vectors: views without copies, frozen parameters, agreement with the native engine,
// refusal of what depends on the batch.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "networks.hpp"
#include "smile/error.hpp"
#include "smile/network/fcn.hpp"
#include "smile/warmstart/optimizer.hpp"
#include "unit/network/fcn_problem.hpp"

namespace smile {
namespace {

using test::DoubleNetwork;
using torch::Tensor;

template <class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// Two dense layers, kept so that the test can look into them.
struct Looked : torch::nn::Module {
  Looked() {
    first = register_module("first", torch::nn::Linear(3, 4));
    second = register_module("second", torch::nn::Linear(4, 2));
  }
  Tensor forward(Tensor x) { return second->forward(torch::tanh(first->forward(x))); }
  torch::nn::Linear first{nullptr}, second{nullptr};
};

TEST(FlatNetwork, ParametersAndGradientsAreViews) {
  const auto module = std::make_shared<Looked>();
  FlatNetwork network(torch_module(module), Task::classification);
  HostVector<float> position(network.layout().size(), 0.1f), gradient(position.size());
  Tensor theta = tensor_view(position.data(), position.size()),
         g = tensor_view(gradient.data(), gradient.size());
  const Tensor x = torch::randn({5, 3}), y = torch::randint(2, {5}, torch::kLong);
  network.add_gradient(x, y, theta, g);
  const std::size_t offset = network.layout().groups[2].offset;
  EXPECT_EQ(network.layout().groups[2].name, "second.weight");
  EXPECT_EQ(module->second->weight.data_ptr<float>(), position.data() + offset);
  EXPECT_EQ(module->second->weight.grad().data_ptr<float>(), gradient.data() + offset);
  // Another position is another view, not a copy into the first.
  HostVector<float> other(position);
  network.log_likelihood(x, y, tensor_view(other.data(), other.size()));
  EXPECT_EQ(module->second->weight.data_ptr<float>(), other.data() + offset);
}

TEST(FlatNetwork, GradientsAddUpOverPiecesOfABatch) {
  torch::manual_seed(1);
  const auto cases = test::tiny_networks();
  DoubleNetwork n(cases[1]);
  const Tensor x = cases[1].inputs(6), y = cases[1].targets(6);
  Tensor whole = torch::zeros_like(n.position), pieces = torch::zeros_like(n.position);
  const double value = n.network.add_gradient(x, y, n.position, whole);
  double sum = 0;
  for (const auto& [from, to] : {std::pair{0, 4}, {4, 6}})
    sum += n.network.add_gradient(x.slice(0, from, to), y.slice(0, from, to), n.position, pieces);
  EXPECT_NEAR(value, sum, 1e-10);
  EXPECT_TRUE(torch::allclose(whole, pieces, 1e-10, 1e-12));
}

TEST(FlatNetwork, FrozenParametersStayAndAreNoPartOfTheVector) {
  torch::manual_seed(2);
  const auto module = std::make_shared<Looked>();
  const Tensor before = module->first->weight.detach().clone();
  FlatNetwork network(torch_module(module), Task::classification, {"first"});
  ASSERT_EQ(network.layout().groups.size(), 2u);
  EXPECT_EQ(network.layout().groups[0].name, "second.weight");
  EXPECT_EQ(network.layout().size(), 10u);
  EXPECT_EQ(network.frozen_layout().size(), 16u);
  Tensor theta = torch::randn({10}), gradient = torch::zeros({10});
  const Tensor x = torch::randn({5, 3}), y = torch::randint(2, {5}, torch::kLong);
  network.add_gradient(x, y, theta, gradient);
  EXPECT_TRUE(torch::equal(module->first->weight.detach(), before));
  EXPECT_FALSE(module->first->weight.grad().defined());
  EXPECT_GT(gradient.norm().item<double>(), 0);
  const auto frozen = [](std::vector<std::string> patterns) {
    return FlatNetwork(torch_module(std::make_shared<Looked>()), Task::classification, patterns)
        .layout()
        .size();
  };
  EXPECT_EQ(frozen({"*.bias"}), 20u);
  EXPECT_EQ(frozen({"first.weight", "sec*t"}), 4u + 2u);
  EXPECT_NE(message_of([&] { frozen({"third"}); }).find("`third` matches no parameter"), std::string::npos);
  EXPECT_THROW(frozen({"*"}), Error);
}

// The same function, likelihood and gradient in both engines.
TEST(FlatNetwork, FcnAgreesWithTheNativeEngine) {
  for (const Activation activation : test::kAllActivations)
    for (const Task task : test::kAllTasks)
      for (const bool bias : {true, false}) {
        const test::FcnProblem problem(test::fcn_spec(6, {9, 5}, activation, task, bias), 40, 3);
        Fcn<float> native(problem.spec, problem.data<float>(40));
        const HostVector<float> position = problem.position<float>();
        HostVector<float> expected(position.size());
        const double value = native.log_likelihood_and_gradient({}, position, expected);
        std::vector<float> outputs(40 * problem.spec.outputs());
        native.predict(*problem.data<float>(40), position, outputs);

        const std::vector<std::int64_t> widths(problem.spec.widths.begin(), problem.spec.widths.end());
        FlatNetwork network(torch_module(make_fcn(6, widths, activation, bias)), task);
        ASSERT_EQ(network.layout().size(), position.size());
        const Tensor x = torch::tensor(problem.features, torch::kFloat).view({40, 6});
        const Tensor y =
            torch::tensor(problem.targets, task == Task::classification ? torch::kLong : torch::kFloat);
        const Tensor theta = tensor_view(position.data(), position.size());
        Tensor gradient = torch::zeros({std::int64_t(position.size())});
        EXPECT_NEAR(network.add_gradient(x, y, theta, gradient), value, 1e-5 * std::abs(value));
        const Tensor native_gradient = tensor_view(expected.data(), expected.size());
        EXPECT_LT((gradient - native_gradient).abs().max().item<double>(),
                  1e-5 * native_gradient.abs().max().item<double>());
        const Tensor native_outputs = tensor_view(outputs.data(), outputs.size());
        EXPECT_LT((network.outputs(x, theta).reshape({-1}) - native_outputs).abs().max().item<double>(),
                  1e-5 * (1 + native_outputs.abs().max().item<double>()));
      }
}

// Where σ is clipped its derivative is 0 (spec 2.1).
TEST(FlatNetwork, AClippedSigmaHasNoGradient) {
  FlatNetwork network(torch_module(make_fcn(2, {1}, Activation::relu, true)), Task::mean_regression);
  Tensor theta = torch::tensor({0.1f, 0.2f, 0.3f, 20.f}), gradient = torch::zeros({4});
  network.add_gradient(torch::randn({3, 2}), torch::randn({3}), theta, gradient);
  EXPECT_EQ(gradient[3].item<float>(), 0);
  theta[3] = 1.f;
  network.add_gradient(torch::randn({3, 2}), torch::randn({3}), theta, gradient);
  EXPECT_NE(gradient[3].item<float>(), 0);
}

TEST(FlatNetwork, NumericalTroubleComesBackAsItIs) {
  FlatNetwork network(torch_module(std::make_shared<Looked>()), Task::classification);
  Tensor theta = torch::full({std::int64_t(network.layout().size())}, std::nan("")), gradient = theta.clone();
  EXPECT_TRUE(std::isnan(
      network.add_gradient(torch::randn({5, 3}), torch::randint(2, {5}, torch::kLong), theta, gradient)));
}

TEST(FlatNetwork, WeightsAreLeCunNormalAndTheRestAsMade) {
  FlatNetwork network(torch_module(make_resnet7(3, 10)), Task::classification);
  HostVector<float> position(network.layout().size()), again(network.layout().size());
  network.initialise({5, 2, Purpose::initialisation}, tensor_view(position.data(), position.size()));
  network.initialise({5, 2, Purpose::initialisation}, tensor_view(again.data(), again.size()));
  EXPECT_TRUE(std::equal(position.span().begin(), position.span().end(), again.span().begin()));
  for (const ParameterGroup& group : network.layout().groups) {
    const Tensor values = tensor_view(position.data() + group.offset, group.size());
    if (group.name == "conv4.weight") {
      EXPECT_EQ(group.fan_in, 9u * 128);
      EXPECT_NEAR(values.std().item<double>() * std::sqrt(9.0 * 128), 1, 0.02);
    }
    if (group.name.ends_with("gamma")) {
      EXPECT_EQ(values.min().item<float>(), 1);
    } else if (group.name.ends_with("bias")) {
      EXPECT_EQ(values.abs().max().item<float>(), 0);
    } else if (group.name.ends_with("epsilon")) {
      EXPECT_EQ(values[0].item<float>(), 1e-6f);
    }
  }
}

TEST(FlatNetwork, EmbeddingsAreWeightsWithTheVocabularyAsFanIn) {
  GptShape shape;
  shape.blocks = 1;
  const FlatNetwork network(torch_module(make_gpt(shape)), Task::multilabel);
  const ParameterGroup& tokens = network.layout().groups[0];
  EXPECT_EQ(tokens.name, "token_embedding.weight");
  EXPECT_EQ(int(tokens.kind), int(ParameterKind::weight));
  EXPECT_EQ(tokens.fan_in, 65u);
  EXPECT_EQ(tokens.fan_out, 384u);
}

struct WithBatchNorm : torch::nn::Module {
  WithBatchNorm() { norm = register_module("norm", torch::nn::BatchNorm2d(3)); }
  Tensor forward(Tensor x) { return norm->forward(x); }
  torch::nn::BatchNorm2d norm{nullptr};
};
struct WithDropout : torch::nn::Module {
  explicit WithDropout(double rate) {
    layer = register_module("layer", torch::nn::Linear(2, 2));
    drop = register_module("drop", torch::nn::Dropout(rate));
  }
  Tensor forward(Tensor x) { return drop->forward(layer->forward(x)); }
  torch::nn::Linear layer{nullptr};
  torch::nn::Dropout drop{nullptr};
};

TEST(FlatNetwork, RefusesWhatDependsOnTheBatchOrOnChance) {
  EXPECT_NE(
      message_of([] { torch_module(std::make_shared<WithBatchNorm>()); }).find("layer norm: batch norm"),
      std::string::npos);
  EXPECT_NE(message_of([] { torch_module(std::make_shared<WithDropout>(0.1)); }).find("layer drop: dropout"),
            std::string::npos);
  EXPECT_NO_THROW(torch_module(std::make_shared<WithDropout>(0.0)));
  const auto evaluating = std::make_shared<WithBatchNorm>();
  evaluating->eval();
  EXPECT_NO_THROW(torch_module(evaluating));
}

// Our optimisers and LibTorch's are the same functions.
TEST(Optimisers, AreLibTorchs) {
  torch::manual_seed(6);
  const auto follow = [](const OptimizerOptions& ours, const auto& make) {
    HostVector<float> position(50), gradient(50);
    Tensor theta = torch::randn({50});
    tensor_view(position.data(), 50).copy_(theta);
    Optimizer<float> own(ours, 50);
    auto optimizer = make(std::vector<Tensor>{theta});
    for (int i = 0; i < 30; ++i) {
      const Tensor g = torch::randn({50});
      tensor_view(gradient.data(), 50).copy_(g);
      own.update(position, gradient, 0.01);
      theta.mutable_grad() = g;
      optimizer.step();
    }
    return (tensor_view(position.data(), 50) - theta).abs().max().template item<double>();
  };
  OptimizerOptions sgd{.kind = OptimizerKind::sgd, .momentum = 0.9, .nesterov = true};
  EXPECT_LT(follow(sgd,
                   [](auto p) {
                     return torch::optim::SGD(p, torch::optim::SGDOptions(0.01).momentum(0.9).nesterov(true));
                   }),
            2e-6);
  OptimizerOptions adam{.kind = OptimizerKind::adam};
  EXPECT_LT(follow(adam, [](auto p) { return torch::optim::Adam(p, torch::optim::AdamOptions(0.01)); }),
            2e-6);
  OptimizerOptions adamw{.kind = OptimizerKind::adamw, .weight_decay = 0.05};
  EXPECT_LT(follow(adamw,
                   [](auto p) {
                     return torch::optim::AdamW(p, torch::optim::AdamWOptions(0.01).weight_decay(0.05));
                   }),
            2e-6);
}

}  // namespace
}  // namespace smile

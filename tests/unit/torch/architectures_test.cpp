// SPDX-License-Identifier: Apache-2.0
// The architectures: exact numbers of parameters, gradients against finite differences, what a layer is
// defined as, and what must not depend on what.
#include <gtest/gtest.h>

#include <cmath>

#include "networks.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

using test::Case;
using test::DoubleNetwork;
using torch::Tensor;

std::size_t parameters(TorchModule module) {
  return FlatNetwork(std::move(module), Task::classification).layout().size();
}

// 28×28×1, 10 classes: 6·(25+1) + 16·(150+1) + 120·(400+1) + 84·(120+1) + 10·(84+1).
TEST(Architectures, LeNetHas61706Parameters) {
  EXPECT_EQ(parameters(torch_module(make_lenet(1, 28, 28, 10, Activation::gelu, true))), 61706u);
  EXPECT_EQ(parameters(torch_module(make_lenet(3, 32, 32, 10, Activation::gelu, true))),
            std::size_t{6 * 76 + 16 * 151 + 120 * 577 + 84 * 121 + 850});
}

// An FRN of C channels has 3C + 1; convolutions 9·in·out + out.
TEST(Architectures, ResNet7Has428272Parameters) {
  const std::size_t convolutions = 9 * (3 * 32 + 32 * 64 + 64 * 64 + 64 * 128 + 128 * 128 + 128 * 128);
  const std::size_t channels = 32 + 64 + 64 + 128 + 128 + 128;
  EXPECT_EQ(convolutions + channels + 3 * channels + 6 + 1290, 428272u);
  EXPECT_EQ(parameters(torch_module(make_resnet7(3, 10))), 428272u);
}

TEST(Architectures, ResNet18Has11178782Parameters) {
  std::size_t count = 27 * 64 + 193;
  std::size_t in = 64;
  for (const std::size_t out : {64u, 128u, 256u, 512u}) {
    const std::size_t norm = 3 * out + 1;
    count += 9 * in * out + 3 * 9 * out * out + 4 * norm;
    if (in != out) count += in * out + norm;
    in = out;
  }
  count += 512 * 10 + 10;
  EXPECT_EQ(count, 11178782u);
  EXPECT_EQ(parameters(torch_module(make_resnet(3, 10, {2, 2, 2, 2}))), count);
}

TEST(Architectures, ViTHas22234762Parameters) {
  const std::size_t e = 384, f = 1536;
  const std::size_t block = 4 * (e * e + e) + (e * f + f) + (f * e + e) + 4 * e;
  const std::size_t count = (3 * 16 * 16 * e + e) + e + 101 * e + 12 * block + (e * f + f) + (f * 10 + 10);
  EXPECT_EQ(count, 22234762u);
  EXPECT_EQ(parameters(torch_module(make_vit({}))), count);
}

TEST(Architectures, GptHas10770048Parameters) {
  const std::size_t e = 384;
  const std::size_t block = 4 * e * e + 8 * e * e + 2 * e;
  EXPECT_EQ(65 * e + 256 * e + 6 * block + e + 65 * e, 10770048u);
  EXPECT_EQ(parameters(torch_module(make_gpt({}))), 10770048u);
}

TEST(Architectures, FcnHasTheNativeLayout) {
  const FcnSpec spec{5, {16, 16, 16, 1}, Activation::relu, true, Task::mean_regression};
  const FlatNetwork network(torch_module(make_fcn(5, {16, 16, 16, 1}, Activation::relu, true)),
                            Task::mean_regression);
  const ParameterLayout native = spec.layout();
  ASSERT_EQ(network.layout().groups.size(), native.groups.size());
  for (std::size_t i = 0; i < native.groups.size(); ++i) {
    EXPECT_EQ(network.layout().groups[i].name, native.groups[i].name);
    EXPECT_EQ(network.layout().groups[i].shape, native.groups[i].shape);
    EXPECT_EQ(network.layout().groups[i].offset, native.groups[i].offset);
    EXPECT_EQ(int(network.layout().groups[i].kind), int(native.groups[i].kind));
    EXPECT_EQ(network.layout().groups[i].fan_in, native.groups[i].fan_in);
    EXPECT_EQ(network.layout().groups[i].fan_out, native.groups[i].fan_out);
  }
}

// For each tensor of parameters, along a random direction in it: (f(θ+hv) − f(θ−hv)) / 2h = g·v.
TEST(Architectures, GradientsAgreeWithFiniteDifferences) {
  torch::manual_seed(1);
  for (const Case& one : test::tiny_networks()) {
    DoubleNetwork n(one);
    const Tensor x = one.inputs(3), y = one.targets(3);
    Tensor gradient = torch::zeros_like(n.position);
    const double value = n.network.add_gradient(x, y, n.position, gradient);
    EXPECT_NEAR(value, n.network.log_likelihood(x, y, n.position), 1e-12 * std::abs(value)) << one.name;
    for (const ParameterGroup& group : n.network.layout().groups) {
      Tensor direction = torch::zeros_like(n.position);
      const auto begin = std::int64_t(group.offset), end = std::int64_t(group.offset + group.size());
      direction.slice(0, begin, end).copy_(torch::randn({end - begin}, torch::kDouble));
      direction /= direction.norm();
      // |ε| of an FRN is 1e−6: the step must be smaller than what it is measured from.
      const double h = 1e-6;
      const Tensor up = n.position + h * direction, down = n.position - h * direction;
      const double slope =
          (n.network.log_likelihood(x, y, up) - n.network.log_likelihood(x, y, down)) / (2 * h);
      const double expected = gradient.dot(direction).item<double>();
      EXPECT_NEAR(slope, expected, 2e-6 * (1 + std::abs(expected))) << one.name << ": " << group.name;
    }
  }
}

TEST(Architectures, FrnIsItsFormula) {
  torch::manual_seed(2);
  FilterResponseNorm norm(2);
  torch::NoGradGuard guard;
  norm.to(torch::kDouble);
  norm.gamma.copy_(torch::tensor({1.5, -0.5}, torch::kDouble));
  norm.beta.copy_(torch::tensor({0.1, -0.2}, torch::kDouble));
  norm.tau.copy_(torch::tensor({-0.3, 0.2}, torch::kDouble));
  norm.epsilon.fill_(-0.04);
  const Tensor x = torch::randn({2, 2, 3, 4}, torch::kDouble), y = norm.forward(x);
  for (int n = 0; n < 2; ++n)
    for (int c = 0; c < 2; ++c) {
      double square = 0;
      for (int i = 0; i < 12; ++i) square += std::pow(x[n][c].view({12})[i].item<double>(), 2);
      const double scale = 1 / std::sqrt(square / 12 + 0.04);
      for (int i = 0; i < 12; ++i) {
        const double plain = norm.gamma[c].item<double>() * x[n][c].view({12})[i].item<double>() * scale +
                             norm.beta[c].item<double>();
        EXPECT_NEAR(y[n][c].view({12})[i].item<double>(), std::max(plain, norm.tau[c].item<double>()), 1e-12);
      }
    }
}

// A row's outputs are a function of the row: not of its place in the batch, nor of the other rows.
TEST(Architectures, RowsDoNotSeeEachOther) {
  torch::manual_seed(3);
  for (const Case& one : test::tiny_networks()) {
    DoubleNetwork n(one);
    const Tensor x = one.inputs(4), whole = n.network.outputs(x, n.position);
    const Tensor order = torch::tensor({2, 0, 3, 1}, torch::kLong);
    EXPECT_TRUE(torch::allclose(n.network.outputs(x.index_select(0, order), n.position),
                                whole.index_select(0, order), 1e-12, 1e-12))
        << one.name;
    EXPECT_TRUE(
        torch::allclose(n.network.outputs(x.slice(0, 1, 2), n.position), whole.slice(0, 1, 2), 1e-12, 1e-12))
        << one.name;
  }
}

TEST(Architectures, ALaterTokenNeverChangesAnEarlierLogit) {
  torch::manual_seed(4);
  for (const Case& one : test::tiny_networks()) {
    if (one.task != Task::multilabel) continue;
    DoubleNetwork n(one);
    const Tensor tokens = one.inputs(2), before = n.network.outputs(tokens, n.position);
    for (std::int64_t place = 1; place < tokens.size(1); ++place) {
      Tensor changed = tokens.clone();
      changed.slice(1, place).copy_((tokens.slice(1, place) + 1).remainder(7));
      const Tensor after = n.network.outputs(changed, n.position);
      EXPECT_TRUE(torch::equal(before.slice(1, 0, place), after.slice(1, 0, place))) << one.name;
      EXPECT_FALSE(torch::allclose(before.slice(1, place), after.slice(1, place))) << one.name;
    }
  }
}

// Self-attention without position embedding is blind to the order of the patches; the embedding is not.
TEST(Architectures, ViTKnowsPlacesByItsEmbeddingAlone) {
  torch::manual_seed(5);
  const auto cases = test::tiny_networks();
  const Case& one = cases[4];
  ASSERT_EQ(one.name, "ViT");
  DoubleNetwork n(one);
  const Tensor x = one.inputs(1);
  // The four patches of 3×3, the first and the last exchanged.
  Tensor moved = x.clone();
  moved.slice(2, 0, 3).slice(3, 0, 3).copy_(x.slice(2, 3, 6).slice(3, 3, 6));
  moved.slice(2, 3, 6).slice(3, 3, 6).copy_(x.slice(2, 0, 3).slice(3, 0, 3));
  EXPECT_FALSE(torch::allclose(n.network.outputs(x, n.position), n.network.outputs(moved, n.position)));
  for (const ParameterGroup& group : n.network.layout().groups)
    if (group.name == "position_embedding.weight")
      n.position.slice(0, std::int64_t(group.offset), std::int64_t(group.offset + group.size())).zero_();
  EXPECT_TRUE(
      torch::allclose(n.network.outputs(x, n.position), n.network.outputs(moved, n.position), 1e-12, 1e-12));
}

TEST(Architectures, GiveTheShapesOfTheTask) {
  const auto shape = [](TorchModule module, const Tensor& x) {
    FlatNetwork network(std::move(module), Task::classification);
    Tensor theta = torch::zeros({std::int64_t(network.layout().size())});
    network.initialise({1, 0, Purpose::initialisation}, theta);
    const auto sizes = network.outputs(x, theta).sizes();
    return std::vector<std::int64_t>(sizes.begin(), sizes.end());
  };
  using Sizes = std::vector<std::int64_t>;
  EXPECT_EQ(shape(torch_module(make_resnet(3, 10, {2, 2, 2, 2})), torch::randn({2, 3, 32, 32})),
            (Sizes{2, 10}));
  EXPECT_EQ(shape(torch_module(make_resnet7(3, 10)), torch::randn({2, 3, 32, 32})), (Sizes{2, 10}));
  EXPECT_EQ(
      shape(torch_module(make_lenet(3, 32, 32, 10, Activation::relu, false)), torch::randn({2, 3, 32, 32})),
      (Sizes{2, 10}));
  GptShape gpt;
  gpt.blocks = 1;
  EXPECT_EQ(shape(torch_module(make_gpt(gpt)), torch::randint(65, {2, 256}, torch::kLong)),
            (Sizes{2, 256, 65}));
  EXPECT_EQ(shape(torch_module(make_gpt(gpt)), torch::randint(65, {2, 9}, torch::kLong)), (Sizes{2, 9, 65}));
}

TEST(Architectures, RefuseShapesThatDoNotFit) {
  VitShape vit;
  vit.patch = 7;
  EXPECT_THROW(make_vit(vit), Error);
  vit = {};
  vit.heads = 7;
  EXPECT_THROW(make_vit(vit), Error);
  GptShape gpt;
  gpt.heads = 5;
  EXPECT_THROW(make_gpt(gpt), Error);
  EXPECT_THROW(make_lenet(1, 8, 8, 10, Activation::relu, true), Error);
  EXPECT_THROW(make_resnet(3, 10, {}), Error);
}

}  // namespace
}  // namespace smile

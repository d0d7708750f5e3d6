// SPDX-License-Identifier: Apache-2.0
/// Small versions of every architecture and checks that they share.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <string>
#include <vector>

#include "smile/torch/architectures.hpp"
#include "smile/torch/flat_network.hpp"

namespace smile::test {

/// An architecture with the inputs and labels it takes.
struct Case {
  std::string name;
  std::function<TorchModule()> make;
  std::function<torch::Tensor(std::int64_t rows)> inputs;   // double, or int64 tokens
  std::function<torch::Tensor(std::int64_t rows)> targets;  // labels
  Task task = Task::classification;
};

inline torch::Tensor images(std::int64_t rows, std::int64_t channels, std::int64_t side) {
  return torch::randn({rows, channels, side, side}, torch::kDouble);
}
inline torch::Tensor labels(std::int64_t rows, std::int64_t classes) {
  return torch::randint(classes, {rows}, torch::kLong);
}

/// Tiny enough for finite differences.
inline std::vector<Case> tiny_networks() {
  const auto image_case = [](std::string name, std::int64_t channels, std::int64_t side,
                             std::function<TorchModule()> make) {
    return Case{std::move(name), std::move(make),
                [=](std::int64_t rows) { return images(rows, channels, side); },
                [](std::int64_t rows) { return labels(rows, 4); }};
  };
  std::vector<Case> cases;
  cases.push_back(image_case("FCN", 1, 3, [] {
    return torch_module(make_fcn(9, {7, 5, 4}, Activation::tanh, true));
  }));
  cases.push_back(image_case("LeNet", 1, 12,
                             [] { return torch_module(make_lenet(1, 12, 12, 4, Activation::gelu, true)); }));
  cases.push_back(image_case("ResNet7", 2, 8, [] { return torch_module(make_resnet7(2, 4)); }));
  cases.push_back(image_case("ResNet", 3, 7, [] { return torch_module(make_resnet(3, 4, {1, 1})); }));
  cases.push_back(image_case("ViT", 3, 6, [] {
    VitShape shape{3, 6, 6, 4, 3, 8, 2, 2, 12, 10};
    return torch_module(make_vit(shape));
  }));
  for (const bool authors : {false, true}) {
    const auto make = [=] {
      GptShape shape{7, 5, 8, 2, 2, 8, !authors, authors};
      return torch_module(make_gpt(shape));
    };
    cases.push_back({authors ? "GPT, authors' block" : "GPT", make,
                     [](std::int64_t rows) {
                       return torch::randint(7, {rows, 5}, torch::kLong);
                     },
                     [](std::int64_t rows) {
                       return torch::randint(7, {rows, 5}, torch::kLong);
                     },
                     Task::multilabel});
  }
  return cases;
}

/// In double precision, with parameters that are nowhere special.
struct DoubleNetwork {
  FlatNetwork network;
  torch::Tensor position;
  explicit DoubleNetwork(const Case& of, const std::vector<std::string>& frozen = {})
      : network(of.make(), of.task, frozen) {
    network.to(torch::kCPU, torch::kDouble);
    position = torch::zeros({std::int64_t(network.layout().size())}, torch::kDouble);
    network.initialise({7, 0, Purpose::initialisation}, position);
    position += 0.05 * torch::randn_like(position);
  }
};

}  // namespace smile::test

// SPDX-License-Identifier: Apache-2.0
#include "torch/module_match.hpp"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace smile::deep {
namespace {

/// Every difference is told, the transposed tensor of as many numbers among them.
TEST(ModuleMatch, ListsAllDifferences) {
  ParameterLayout layout;
  layout.add("fc.weight", {8, 5}, ParameterKind::weight, 5, 8);
  layout.add("fc.bias", {8}, ParameterKind::other);
  layout.add("out.weight", {1, 8}, ParameterKind::weight, 8, 1);
  layout.add("out.bias", {1}, ParameterKind::other);
  TorchModule module;
  const auto add = [&](const char* name, torch::Tensor tensor) {
    module.parameters.push_back({name, std::move(tensor)});
  };
  add("fc.weight", torch::zeros({8, 5}));
  add("fc.bias", torch::zeros({8}));
  add("out.weight", torch::zeros({1, 8}));
  add("out.bias", torch::zeros({1}));
  EXPECT_TRUE(module_differences(layout.groups, module).empty());
  module.parameters.clear();
  add("fc.weight", torch::zeros({5, 8}));
  add("fc.bias", torch::zeros({8}, torch::kHalf));
  add("out.bias", torch::zeros({1}));
  add("head.bias", torch::zeros({3}));
  const std::vector<std::string> expected{
      "fc.weight is [5, 8] where [8, 5] is wanted", "fc.bias is of type Half where Float is wanted",
      "out.weight [1, 8] is missing", "head.bias [3] is none of the network's"};
  EXPECT_EQ(module_differences(layout.groups, module), expected);
  // Asked for a subset, what is there has to fit all the same.
  EXPECT_EQ(module_differences(layout.groups, module, true),
            std::vector<std::string>(expected.begin(), expected.begin() + 2));
  module.parameters.erase(module.parameters.begin(), module.parameters.begin() + 2);
  EXPECT_TRUE(module_differences(layout.groups, module, true).empty());
  module.parameters.erase(module.parameters.begin());
  EXPECT_EQ(module_differences(layout.groups, module, true).size(), 1u) << "nothing is shared";
}

}  // namespace
}  // namespace smile::deep

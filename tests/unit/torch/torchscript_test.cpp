// SPDX-License-Identifier: Apache-2.0
// TorchScript files whose parameters are tied, and networks that end in a softmax.
#include <gtest/gtest.h>
#include <torch/script.h>

#include "smile/error.hpp"
#include "support/temporary_folder.hpp"
#include "torch/torchscript.hpp"

namespace smile {
namespace {

/// y = (x A) Bᵀ, where A and B are given.
std::string saved(const test::TemporaryFolder& folder, const torch::Tensor& a, const torch::Tensor& b) {
  torch::jit::Module module("pair");
  module.register_parameter("first", a, false);
  module.register_parameter("second", b, false);
  module.define(
      "def forward(self, x):\n  return torch.matmul(torch.matmul(x, self.first), self.second.t())\n");
  const std::string path = (folder / "pair.pt").string();
  module.save(path);
  return path;
}

TEST(TorchScript, ParametersOfOneMemoryAreOne) {
  test::TemporaryFolder folder;
  const torch::Tensor shared = torch::randn({3, 2});
  TorchModule module = deep::load_torchscript(saved(folder, shared, shared));
  ASSERT_EQ(module.parameters.size(), 1u);
  EXPECT_EQ(module.parameters[0].name, "first");
  EXPECT_EQ(module.parameters[0].other_names, std::vector<std::string>{"second"});
  FlatNetwork network(module, Task::classification);
  ASSERT_EQ(network.layout().size(), 6u);
  ASSERT_EQ(network.remarks().size(), 1u);
  EXPECT_NE(network.remarks()[0].find("first and second are one parameter"), std::string::npos);

  // Values and gradients are those of x W Wᵀ.
  const torch::Tensor x = torch::randn({5, 3}), classes = torch::tensor({0, 2, 1, 1, 0}, torch::kLong);
  torch::Tensor theta = torch::randn({6}), gradient = torch::zeros({6});
  EXPECT_TRUE(torch::allclose(network.outputs(x, theta),
                              torch::matmul(torch::matmul(x, theta.view({3, 2})), theta.view({3, 2}).t())));
  const double value = network.add_gradient(x, classes, theta, gradient);
  torch::Tensor leaf = theta.clone().view({3, 2}).set_requires_grad(true);
  const torch::Tensor logp = torch::log_softmax(torch::matmul(torch::matmul(x, leaf), leaf.t()), 1);
  const torch::Tensor expected = logp.gather(1, classes.reshape({-1, 1})).sum();
  expected.backward();
  EXPECT_NEAR(value, expected.item<double>(), 1e-5);
  EXPECT_TRUE(torch::allclose(gradient, leaf.grad().reshape({-1}), 1e-4, 1e-5));
}

TEST(TorchScript, MemorySharedInParts) {
  test::TemporaryFolder folder;
  const torch::Tensor whole = torch::randn({3, 2});
  EXPECT_EQ(deep::load_torchscript(saved(folder, whole, whole.clone())).parameters.size(), 2u);
  try {
    deep::load_torchscript(saved(folder, whole, whole.view({2, 3}).t()));
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("first and second share memory"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace smile

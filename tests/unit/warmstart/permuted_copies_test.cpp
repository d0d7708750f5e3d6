// SPDX-License-Identifier: Apache-2.0
#include "smile/warmstart/permuted_copies.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "smile/error.hpp"

namespace smile {
namespace {

constexpr std::size_t kRows = 37, kInputs = 3;

template <class T>
std::shared_ptr<const FcnData<T>> random_rows() {
  std::vector<double> features(kRows * kInputs), targets(kRows, 0.0);
  Stream stream({.seed = 3, .purpose = Purpose::split});
  for (double& x : features) x = stream.normal();
  return std::make_shared<FcnData<T>>(kRows, kInputs, features, targets);
}

template <class T>
HostVector<T> random_position(const FcnSpec& spec) {
  HostVector<T> position(spec.layout().size());
  Stream stream({.seed = 4, .purpose = Purpose::prior});
  for (T& x : position.span()) x = static_cast<T>(0.7 * stream.normal());
  return position;
}

template <class T>
double largest_difference_of_outputs(const FcnSpec& spec, const HostVector<T>& a, const HostVector<T>& b) {
  const auto data = random_rows<T>();
  Fcn<T> network(spec, data);
  std::vector<T> of_a(kRows * spec.outputs()), of_b(of_a.size());
  network.predict(*data, a, of_a);
  network.predict(*data, b, of_b);
  double largest = 0;
  for (std::size_t i = 0; i < of_a.size(); ++i)
    largest = std::max(largest, static_cast<double>(std::abs(of_a[i] - of_b[i])));
  return largest;
}

std::vector<FcnSpec> every_kind_of_network() {
  std::vector<FcnSpec> specs;
  for (const Activation activation : {Activation::relu, Activation::tanh, Activation::sigmoid,
                                      Activation::gelu, Activation::leaky_relu, Activation::identity})
    for (const bool bias : {true, false})
      for (const std::vector<std::size_t>& hidden :
           {std::vector<std::size_t>{7}, {5, 9}, {16, 16, 16}, {2, 17, 3, 8}})
        for (const Task task : {Task::mean_regression, Task::regression, Task::classification}) {
          std::vector<std::size_t> widths = hidden;
          widths.push_back(task == Task::mean_regression ? 1 : task == Task::regression ? 2 : 4);
          specs.push_back({kInputs, widths, activation, bias, task});
        }
  return specs;
}

TEST(PermutedCopies, compute_the_same_function) {
  for (const FcnSpec& spec : every_kind_of_network()) {
    const HostVector<double> position = random_position<double>(spec);
    const HostVector<double> copy = permute_hidden_units(spec, position, 11, 2);
    EXPECT_LE(largest_difference_of_outputs(spec, position, copy), 1e-11);
    const HostVector<float> single = random_position<float>(spec);
    EXPECT_LE(largest_difference_of_outputs(spec, single, permute_hidden_units(spec, single, 11, 2)), 2e-3);
  }
}

TEST(PermutedCopies, are_other_points_with_the_same_numbers_in_every_tensor) {
  const FcnSpec spec{kInputs, {16, 16, 1}, Activation::relu, true, Task::mean_regression};
  const HostVector<double> position = random_position<double>(spec);
  const HostVector<double> copy = permute_hidden_units(spec, position, 11, 0);
  for (const ParameterGroup& group : spec.layout().groups) {
    const auto first = position.span().subspan(group.offset, group.size());
    const auto second = copy.span().subspan(group.offset, group.size());
    const bool touches_hidden_units = group.name != "layer2.bias" && group.name != "log_sigma";
    EXPECT_EQ(!std::ranges::equal(first, second), touches_hidden_units) << group.name;
    EXPECT_TRUE(std::ranges::is_permutation(first, second)) << group.name;
  }
}

TEST(PermutedCopies, depend_on_seed_and_copy_alone) {
  const FcnSpec spec{kInputs, {16, 16, 1}, Activation::tanh, true, Task::mean_regression};
  const HostVector<double> position = random_position<double>(spec);
  const auto copy = [&](std::uint64_t seed, std::uint32_t number) {
    const HostVector<double> x = permute_hidden_units(spec, position, seed, number);
    return std::vector<double>(x.span().begin(), x.span().end());
  };
  EXPECT_EQ(copy(1, 3), copy(1, 3));
  EXPECT_NE(copy(1, 3), copy(1, 4));
  EXPECT_NE(copy(1, 3), copy(2, 3));
}

TEST(PermutedCopies, leave_a_network_without_hidden_units_alone) {
  const FcnSpec spec{kInputs, {2}, Activation::relu, true, Task::regression};
  const HostVector<double> position = random_position<double>(spec);
  EXPECT_TRUE(std::ranges::equal(position.span(), permute_hidden_units(spec, position, 1, 1).span()));
}

TEST(PermutedCopies, a_position_of_another_network_is_refused) {
  const FcnSpec spec{kInputs, {4, 1}, Activation::relu, true, Task::mean_regression};
  EXPECT_THROW(permute_hidden_units(spec, HostVector<float>(3), 1, 1), Error);
}

}  // namespace
}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// Random networks and data for the tests of the engines.
#pragma once

#include <cmath>
#include <memory>
#include <vector>

#include "smile/network/fcn.hpp"

namespace smile::test {

inline constexpr Activation kAllActivations[] = {Activation::relu,       Activation::tanh,
                                                 Activation::sigmoid,    Activation::gelu,
                                                 Activation::leaky_relu, Activation::identity};
inline constexpr Task kAllTasks[] = {Task::mean_regression, Task::regression, Task::classification};

/// A spec whose output width suits the task (3 classes).
inline FcnSpec fcn_spec(std::size_t inputs, std::vector<std::size_t> hidden, Activation activation, Task task,
                        bool bias = true) {
  FcnSpec spec;
  spec.inputs = inputs;
  spec.widths = std::move(hidden);
  spec.widths.push_back(task == Task::mean_regression ? 1 : task == Task::regression ? 2 : 3);
  spec.activation = activation;
  spec.task = task;
  spec.bias = bias;
  return spec;
}

struct FcnProblem {
  FcnSpec spec;
  std::size_t rows;
  std::vector<double> features, targets,
      theta;  // rounded to single precision, so that both engines see the same

  FcnProblem(FcnSpec the_spec, std::size_t the_rows, std::uint64_t seed)
      : spec(std::move(the_spec)), rows(the_rows) {
    Stream stream({.seed = seed, .chain = 0, .purpose = Purpose::diagnostics});
    const auto normal = [&](double scale) {
      return static_cast<double>(static_cast<float>(scale * stream.normal()));
    };
    for (std::size_t i = 0; i < rows * spec.inputs; ++i) features.push_back(normal(1));
    for (std::size_t r = 0; r < rows; ++r)
      targets.push_back(spec.task == Task::classification ? static_cast<double>(stream.below(3)) : normal(1));
    for (const ParameterGroup& group : spec.layout().groups)
      for (std::size_t i = 0; i < group.size(); ++i)
        theta.push_back(normal(
            group.kind == ParameterKind::weight ? 1.0 / std::sqrt(static_cast<double>(group.fan_in)) : 0.3));
  }

  template <class T>
  std::shared_ptr<const FcnData<T>> data(std::size_t first_rows) const {
    return std::make_shared<const FcnData<T>>(first_rows, spec.inputs,
                                              std::span(features).first(first_rows * spec.inputs),
                                              std::span(targets).first(first_rows));
  }
  template <class T>
  HostVector<T> position() const {
    HostVector<T> out(theta.size());
    for (std::size_t i = 0; i < theta.size(); ++i) out[i] = static_cast<T>(theta[i]);
    return out;
  }
};

}  // namespace smile::test

// SPDX-License-Identifier: Apache-2.0
/// Where the layers of a network lie in θ.
#pragma once

#include <cstddef>
#include <vector>

#include "smile/network/fcn.hpp"

namespace smile {

struct FcnGeometry {
  struct Layer {
    std::size_t inputs = 0;
    std::size_t outputs = 0;
    std::size_t weight = 0;  ///< offset in θ of the weight [outputs, inputs]
    std::size_t bias = 0;    ///< offset in θ of the bias [outputs], where there is one
  };
  std::vector<Layer> layers;
  Activation activation = Activation::relu;
  Task task = Task::mean_regression;
  bool has_bias = true;
  std::size_t log_sigma = 0;  ///< offset in θ, for mean_regression
  std::size_t parameters = 0;

  std::size_t inputs() const { return layers.front().inputs; }
  std::size_t outputs() const { return layers.back().outputs; }
};

FcnGeometry fcn_geometry(const FcnSpec& spec);

}  // namespace smile

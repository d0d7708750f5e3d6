// SPDX-License-Identifier: Apache-2.0
#include "network/fcn_geometry.hpp"

namespace smile {

FcnGeometry fcn_geometry(const FcnSpec& spec) {
  FcnGeometry net;
  net.activation = spec.activation;
  net.task = spec.task;
  net.has_bias = spec.bias;
  const ParameterLayout layout = spec.layout();
  std::size_t inputs = spec.inputs;
  std::size_t group = 0;
  for (std::size_t outputs : spec.widths) {
    FcnGeometry::Layer layer{inputs, outputs, layout.groups[group++].offset, 0};
    if (spec.bias) layer.bias = layout.groups[group++].offset;
    net.layers.push_back(layer);
    inputs = outputs;
  }
  if (spec.task == Task::mean_regression) net.log_sigma = layout.groups[group].offset;
  net.parameters = layout.size();
  return net;
}

}  // namespace smile

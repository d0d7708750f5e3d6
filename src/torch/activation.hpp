// SPDX-License-Identifier: Apache-2.0
/// Activations on tensors, as the native engine defines them (spec 2.1, 2.3).
#pragma once

#include <torch/torch.h>

#include "smile/network/fcn.hpp"

namespace smile::deep {

/// gelu is the exact a·Φ(a); the slope of leaky_relu is 0.01.
inline torch::Tensor activate(const torch::Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::relu:
      return torch::relu(x);
    case Activation::tanh:
      return torch::tanh(x);
    case Activation::sigmoid:
      return torch::sigmoid(x);
    case Activation::gelu:
      return torch::gelu(x);
    case Activation::leaky_relu:
      return torch::leaky_relu(x, 0.01);
    case Activation::identity:
      break;
  }
  return x;
}

/// A dense layer with a bias of zeros.
inline torch::nn::Linear dense(std::int64_t in, std::int64_t out, bool bias = true) {
  torch::nn::Linear layer(torch::nn::LinearOptions(in, out).bias(bias));
  if (bias) torch::nn::init::zeros_(layer->bias);
  return layer;
}

/// A convolution without padding, with a bias of zeros.
inline torch::nn::Conv2d convolution(std::int64_t in, std::int64_t out, std::int64_t side,
                                     std::int64_t stride = 1, std::int64_t padding = 0, bool bias = true) {
  torch::nn::Conv2d layer(torch::nn::Conv2dOptions(in, out, side).stride(stride).padding(padding).bias(bias));
  if (bias) torch::nn::init::zeros_(layer->bias);
  return layer;
}

}  // namespace smile::deep

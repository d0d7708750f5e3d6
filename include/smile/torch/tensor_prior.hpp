// SPDX-License-Identifier: Apache-2.0
/// Prior densities on tensors (spec 2.2); the constants are those of a Prior.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "smile/targets/priors.hpp"

namespace smile {

class TensorPrior {
 public:
  /// @throws Error for EpsStandardNormal, whose constants are one an element
  TensorPrior(const Prior& prior, torch::Device device);
  /// gradient ← factor · gradient + ∇ log p(θ); returns log p(θ) as a tensor on the device (double).
  torch::Tensor add_gradient(const torch::Tensor& position, double factor, torch::Tensor gradient) const;
  torch::Tensor log_density(const torch::Tensor& position) const;

 private:
  /// log p of a section, and its derivative where `slope` is not null.
  static torch::Tensor section(const PriorSection& section, const torch::Tensor& x, torch::Tensor* slope);
  std::vector<PriorSection> sections_;  ///< neighbours with the same constants are one
};

}  // namespace smile

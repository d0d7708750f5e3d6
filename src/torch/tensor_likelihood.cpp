// SPDX-License-Identifier: Apache-2.0
#include "smile/torch/tensor_likelihood.hpp"

#include <string>
#include <utility>

#include "smile/error.hpp"
#include "torch_network.hpp"

namespace smile {

std::unique_ptr<Likelihood<float>> make_tensor_likelihood(FlatNetwork network, torch::Tensor inputs,
                                                          torch::Tensor targets) {
  const auto refuse = [](const std::string& what, const std::string& mend) {
    throw Error("make_tensor_likelihood", what, mend);
  };
  if (!inputs.defined() || !targets.defined() || inputs.dim() == 0 || targets.dim() == 0 ||
      inputs.size(0) != targets.size(0) || inputs.size(0) == 0)
    refuse("inputs and targets are not as many", "give an observation in each row of both");
  if (!inputs.is_cpu() || !targets.is_cpu())
    refuse("the tensors are on a device, and vectors of the samplers are not", "move them with .cpu()");
  const bool labels = network.task() == Task::classification || network.task() == Task::multilabel;
  if (labels && targets.scalar_type() != torch::kLong)
    refuse("the labels are no integers", "give a tensor of int64 (.to(torch::kLong))");
  if (!labels && targets.numel() != inputs.size(0))
    refuse("the targets are not one number a row", "give a tensor of shape [N]");
  if (!labels) targets = targets.reshape({targets.size(0)}).to(torch::kFloat);
  return deep::likelihood_over(std::move(network), deep::Batches(std::move(inputs), std::move(targets)),
                               Part::train);
}

}  // namespace smile

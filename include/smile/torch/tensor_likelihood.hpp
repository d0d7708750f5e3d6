// SPDX-License-Identifier: Apache-2.0
/// The likelihood of a module over tensors: with it any torch::nn::Module and any data become a target of the
/// samplers (examples/03_torch_module.cpp).
#pragma once

#include <torch/torch.h>

#include <memory>

#include "smile/targets/likelihood.hpp"
#include "smile/torch/flat_network.hpp"

namespace smile {

/// Σ log p(y | x, θ) over observations of a training set, for MinibatchPosterior. It belongs to one thread;
/// tensors may be shared between many. LibTorch computes on the calling thread alone.
/// @param inputs   @shape [N, …], on the CPU; what the module takes, observations first
/// @param targets  @shape [N] numbers, or labels (int64) of a classification; [N, T] of a language model
/// @throws Error where the two do not fit together or are not on the CPU
std::unique_ptr<Likelihood<float>> make_tensor_likelihood(FlatNetwork network, torch::Tensor inputs,
                                                          torch::Tensor targets);

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// The networks of the experiments as LibTorch modules.
///
/// Weights are named as they are registered ("conv1.weight", "block0.attention.query.weight"); dense weights
/// are [out, in], kernels [out, in, height, width]. A module comes with zero biases and with normalisations
/// that change nothing yet; its weights are filled by `TorchNetwork::initialise`.
/// @source spec 2.3
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "smile/network/fcn.hpp"

namespace smile {

/// A module that maps a batch of inputs to network outputs.
struct NetworkModule : torch::nn::Module {
  /// @param input  @shape [rows, ...]; images are [rows, channels, height, width], tokens [rows, context] of
  ///               int64
  /// @return @shape [rows, outputs], or [rows, context, vocabulary] for a language model
  virtual torch::Tensor forward(torch::Tensor input) = 0;
};

/// Filter response normalisation with thresholded linear unit (Singh & Krishnan 2020):
///     ν² = mean over height and width of x²;  x̂ = x / sqrt(ν² + |ε|);  y = max(γ x̂ + β, τ)
/// γ, β, τ per channel; ε one number, 1e−6 at the start. All four are parameters.
struct FilterResponseNorm : torch::nn::Module {
  explicit FilterResponseNorm(std::int64_t channels);
  torch::Tensor forward(const torch::Tensor& x);
  torch::Tensor gamma, beta, tau, epsilon;
};

/// Dense layers; names and order are those of the native engine ("layer0.weight", "layer0.bias", …).
/// @param inputs  features of a row; inputs of more dimensions are flattened
std::shared_ptr<NetworkModule> make_fcn(std::int64_t inputs, const std::vector<std::int64_t>& widths,
                                        Activation activation, bool bias);

/// conv 5×5 pad 2 → 6, average-pool 2; conv 5×5 → 16, average-pool 2; dense 120, 84, classes.
std::shared_ptr<NetworkModule> make_lenet(std::int64_t channels, std::int64_t height, std::int64_t width,
                                          std::int64_t classes, Activation activation, bool bias);

/// Seven layers with FRN: 32, 64, pool, 64, 128, pool, 128, pool, a residual 128, mean, dense.
std::shared_ptr<NetworkModule> make_resnet7(std::int64_t channels, std::int64_t classes);

/// Four stages of blocks of 64, 128, 256, 512 channels with FRN; {2, 2, 2, 2} is ResNet-18.
std::shared_ptr<NetworkModule> make_resnet(std::int64_t channels, std::int64_t classes,
                                           const std::vector<std::int64_t>& layers);

struct VitShape {
  std::int64_t channels = 3, height = 160, width = 160, classes = 10;
  std::int64_t patch = 16, dim = 384, depth = 12, heads = 8;
  std::int64_t transformer_width = 1536;  ///< of the dense layer inside a block
  std::int64_t classifier_width = 1536;
};
/// Vision transformer (Dosovitskiy et al. 2021) with class token.
/// @throws Error where the image is no whole number of patches or the width no multiple of the heads
std::shared_ptr<NetworkModule> make_vit(const VitShape& shape);

struct GptShape {
  std::int64_t vocabulary = 65, context = 256, embedding = 384, blocks = 6, heads = 6;
  std::int64_t qkv = 384;  ///< width of query, key and value, all heads together
  bool bias = false;
  bool authors_block = false;  ///< x = LN(x), x + f(x) in place of x + f(LN(x)) (spec 1.12)
};
/// Causal language model. A shorter window than `context` is allowed.
/// @throws Error where the width of query and key is no multiple of the heads
std::shared_ptr<NetworkModule> make_gpt(const GptShape& shape);

}  // namespace smile

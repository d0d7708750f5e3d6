// SPDX-License-Identifier: Apache-2.0
/// Vision transformer and language model.
#include <cmath>
#include <limits>

#include "activation.hpp"
#include "smile/error.hpp"
#include "smile/torch/architectures.hpp"

namespace smile {
namespace {

using deep::convolution;
using deep::dense;
using torch::Tensor;

/// Layer normalisation with an optional shift.
struct ScaleNorm final : torch::nn::Module {
  ScaleNorm(std::int64_t width, bool bias) : width_(width) {
    weight_ = register_parameter("weight", torch::ones({width}));
    if (bias) bias_ = register_parameter("bias", torch::zeros({width}));
  }
  Tensor forward(const Tensor& x) { return torch::layer_norm(x, {width_}, weight_, bias_, 1e-5); }
  std::int64_t width_;
  Tensor weight_, bias_;
};

/// Multi-head self-attention.
struct Attention final : torch::nn::Module {
  Attention(std::int64_t width, std::int64_t qkv, std::int64_t heads, bool bias, bool causal)
      : heads_(heads), causal_(causal) {
    query_ = register_module("query", dense(width, qkv, bias));
    key_ = register_module("key", dense(width, qkv, bias));
    value_ = register_module("value", dense(width, qkv, bias));
    output_ = register_module("output", dense(qkv, width, bias));
  }
  /// @shape [rows, positions, width]
  Tensor forward(const Tensor& x) {
    const std::int64_t rows = x.size(0), positions = x.size(1);
    const auto split = [&](const Tensor& y) {
      return y.view({rows, positions, heads_, -1}).transpose(1, 2);  // [rows, heads, positions, width/heads]
    };
    const Tensor q = split(query_->forward(x)), k = split(key_->forward(x)), v = split(value_->forward(x));
    Tensor scores = torch::matmul(q * (1 / std::sqrt(double(q.size(3)))), k.transpose(2, 3));
    if (causal_) {
      if (!later_.defined() || later_.size(0) != positions || later_.device() != x.device())
        later_ = torch::ones({positions, positions}, torch::TensorOptions(torch::kBool).device(x.device()))
                     .triu(1);
      scores = scores.masked_fill(later_, -std::numeric_limits<double>::infinity());
    }
    const Tensor mixed = torch::matmul(torch::softmax(scores, -1), v);
    return output_->forward(mixed.transpose(1, 2).reshape({rows, positions, -1}));
  }
  std::int64_t heads_;
  bool causal_;
  Tensor later_;  // a mask, made once; not a parameter
  torch::nn::Linear query_{nullptr}, key_{nullptr}, value_{nullptr}, output_{nullptr};
};

/// Dense, gelu, dense.
struct Feedforward final : torch::nn::Module {
  Feedforward(std::int64_t width, std::int64_t inner, bool bias) {
    in_ = register_module("in", dense(width, inner, bias));
    out_ = register_module("out", dense(inner, width, bias));
  }
  Tensor forward(const Tensor& x) { return out_->forward(torch::gelu(in_->forward(x))); }
  torch::nn::Linear in_{nullptr}, out_{nullptr};
};

struct TransformerBlock final : torch::nn::Module {
  struct Shape {
    std::int64_t width, qkv, heads, inner;
    bool bias, norm_bias, causal, authors;
  };
  explicit TransformerBlock(const Shape& s) : authors_(s.authors) {
    norm1_ = register_module("norm1", std::make_shared<ScaleNorm>(s.width, s.norm_bias));
    attention_ =
        register_module("attention", std::make_shared<Attention>(s.width, s.qkv, s.heads, s.bias, s.causal));
    norm2_ = register_module("norm2", std::make_shared<ScaleNorm>(s.width, s.norm_bias));
    feedforward_ = register_module("feedforward", std::make_shared<Feedforward>(s.width, s.inner, s.bias));
  }
  Tensor forward(Tensor x) {
    if (authors_) {
      x = norm1_->forward(x);
      x = x + attention_->forward(x);
      x = norm2_->forward(x);
      return x + feedforward_->forward(x);
    }
    x = x + attention_->forward(norm1_->forward(x));
    return x + feedforward_->forward(norm2_->forward(x));
  }
  bool authors_;
  std::shared_ptr<ScaleNorm> norm1_, norm2_;
  std::shared_ptr<Attention> attention_;
  std::shared_ptr<Feedforward> feedforward_;
};

struct Vit final : NetworkModule {
  explicit Vit(const VitShape& s) {
    patches_ = register_module("patches", convolution(s.channels, s.dim, s.patch, s.patch));
    class_token_ = register_parameter("class_token", torch::zeros({1, 1, s.dim}));
    const std::int64_t positions = (s.height / s.patch) * (s.width / s.patch) + 1;
    position_ = register_module("position_embedding", torch::nn::Embedding(positions, s.dim));
    for (std::int64_t i = 0; i < s.depth; ++i)
      blocks_.push_back(
          register_module("block" + std::to_string(i),
                          std::make_shared<TransformerBlock>(TransformerBlock::Shape{
                              s.dim, s.dim, s.heads, s.transformer_width, true, true, false, false})));
    classifier1_ = register_module("classifier1", dense(s.dim, s.classifier_width));
    classifier2_ = register_module("classifier2", dense(s.classifier_width, s.classes));
  }
  Tensor forward(Tensor x) override {
    x = patches_->forward(x).flatten(2).transpose(1, 2);
    x = torch::cat({class_token_.expand({x.size(0), 1, x.size(2)}), x}, 1) + position_->weight;
    for (const auto& block : blocks_) x = block->forward(x);
    return classifier2_->forward(torch::gelu(classifier1_->forward(x.select(1, 0))));
  }
  torch::nn::Conv2d patches_{nullptr};
  Tensor class_token_;
  torch::nn::Embedding position_{nullptr};
  std::vector<std::shared_ptr<TransformerBlock>> blocks_;
  torch::nn::Linear classifier1_{nullptr}, classifier2_{nullptr};
};

struct Gpt final : NetworkModule {
  explicit Gpt(const GptShape& s) : context_(s.context) {
    token_ = register_module("token_embedding", torch::nn::Embedding(s.vocabulary, s.embedding));
    position_ = register_module("position_embedding", torch::nn::Embedding(s.context, s.embedding));
    for (std::int64_t i = 0; i < s.blocks; ++i)
      blocks_.push_back(register_module(
          "block" + std::to_string(i),
          std::make_shared<TransformerBlock>(TransformerBlock::Shape{
              s.embedding, s.qkv, s.heads, 4 * s.embedding, s.bias, s.bias, true, s.authors_block})));
    norm_ = register_module("norm", std::make_shared<ScaleNorm>(s.embedding, s.bias));
    output_ = register_module("output", dense(s.embedding, s.vocabulary, false));
  }
  Tensor forward(Tensor tokens) override {
    const std::int64_t positions = tokens.size(1);
    TORCH_CHECK(positions <= context_, "a window of ", positions,
                " tokens, and the network has a context of ", context_);
    Tensor x = token_->forward(tokens) + position_->weight.slice(0, 0, positions);
    for (const auto& block : blocks_) x = block->forward(x);
    return output_->forward(norm_->forward(x));
  }
  std::int64_t context_;
  torch::nn::Embedding token_{nullptr}, position_{nullptr};
  std::vector<std::shared_ptr<TransformerBlock>> blocks_;
  std::shared_ptr<ScaleNorm> norm_;
  torch::nn::Linear output_{nullptr};
};

void check_heads(const char* key, std::int64_t width, std::int64_t heads) {
  if (width % heads == 0) return;
  throw Error(key, std::to_string(width) + " is no multiple of the " + std::to_string(heads) + " heads",
              "give a multiple, or another number of heads");
}

}  // namespace

std::shared_ptr<NetworkModule> make_vit(const VitShape& shape) {
  check_heads("model.dim", shape.dim, shape.heads);
  if (shape.height % shape.patch != 0 || shape.width % shape.patch != 0)
    throw Error("model.patch_size",
                "images of " + std::to_string(shape.width) + "×" + std::to_string(shape.height) +
                    " are no whole number of patches of " + std::to_string(shape.patch),
                "give a divisor of the side, or another data.image_size");
  return std::make_shared<Vit>(shape);
}

std::shared_ptr<NetworkModule> make_gpt(const GptShape& shape) {
  check_heads("model.qkv_dim", shape.qkv, shape.heads);
  return std::make_shared<Gpt>(shape);
}

}  // namespace smile

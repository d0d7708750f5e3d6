// SPDX-License-Identifier: Apache-2.0
/// Dense and convolutional networks.
#include <algorithm>
#include <limits>

#include "activation.hpp"
#include "smile/error.hpp"
#include "smile/torch/architectures.hpp"

namespace smile {
namespace {

using deep::activate;
using deep::convolution;
using deep::dense;
using torch::Tensor;

/// Padding "SAME" of a window with a stride: as many outputs as ceil(size/stride), the odd element at the
/// end.
Tensor pad_same(const Tensor& x, std::int64_t side, std::int64_t stride, double value) {
  const auto total = [&](std::int64_t size) {
    return std::max<std::int64_t>(((size + stride - 1) / stride - 1) * stride + side - size, 0);
  };
  const std::int64_t h = total(x.size(2)), w = total(x.size(3));
  if (h == 0 && w == 0) return x;
  return torch::constant_pad_nd(x, {w / 2, w - w / 2, h / 2, h - h / 2}, value);
}

struct Fcn_ final : NetworkModule {
  Fcn_(std::int64_t inputs, const std::vector<std::int64_t>& widths, Activation activation, bool bias)
      : activation_(activation) {
    for (const std::int64_t width : widths) {
      layers_.push_back(
          register_module("layer" + std::to_string(layers_.size()), dense(inputs, width, bias)));
      inputs = width;
    }
  }
  Tensor forward(Tensor x) override {
    x = x.flatten(1);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      x = layers_[i]->forward(x);
      if (i + 1 < layers_.size()) x = activate(x, activation_);
    }
    return x;
  }
  Activation activation_;
  std::vector<torch::nn::Linear> layers_;
};

struct LeNet final : NetworkModule {
  LeNet(std::int64_t channels, std::int64_t height, std::int64_t width, std::int64_t classes,
        Activation activation, bool bias)
      : activation_(activation) {
    conv1_ = register_module("conv1", convolution(channels, 6, 5, 1, 2, bias));
    conv2_ = register_module("conv2", convolution(6, 16, 5, 1, 0, bias));
    const std::int64_t flat = 16 * ((height / 2 - 4) / 2) * ((width / 2 - 4) / 2);
    dense1_ = register_module("dense1", dense(flat, 120, bias));
    dense2_ = register_module("dense2", dense(120, 84, bias));
    dense3_ = register_module("dense3", dense(84, classes, bias));
  }
  Tensor forward(Tensor x) override {
    x = torch::avg_pool2d(activate(conv1_->forward(x), activation_), 2);
    x = torch::avg_pool2d(activate(conv2_->forward(x), activation_), 2);
    x = activate(dense1_->forward(x.flatten(1)), activation_);
    return dense3_->forward(activate(dense2_->forward(x), activation_));
  }
  Activation activation_;
  torch::nn::Conv2d conv1_{nullptr}, conv2_{nullptr};
  torch::nn::Linear dense1_{nullptr}, dense2_{nullptr}, dense3_{nullptr};
};

using Norm = std::shared_ptr<FilterResponseNorm>;

struct ResNet7 final : NetworkModule {
  ResNet7(std::int64_t channels, std::int64_t classes) {
    for (const std::int64_t out : {32, 64, 64, 128, 128, 128}) {
      const std::string number = std::to_string(convs_.size());
      convs_.push_back(register_module("conv" + number, convolution(channels, out, 3, 1, 1)));
      norms_.push_back(register_module("norm" + number, std::make_shared<FilterResponseNorm>(out)));
      channels = out;
    }
    dense_ = register_module("dense", dense(channels, classes));
  }
  Tensor layer(const Tensor& x, std::size_t i) { return norms_[i]->forward(convs_[i]->forward(x)); }
  Tensor forward(Tensor x) override {
    x = torch::max_pool2d(layer(layer(x, 0), 1), 2);
    x = torch::max_pool2d(layer(layer(x, 2), 3), 2);
    x = torch::max_pool2d(layer(x, 4), 2);
    x = x + layer(x, 5);
    return dense_->forward(x.mean({2, 3}));
  }
  std::vector<torch::nn::Conv2d> convs_;
  std::vector<Norm> norms_;
  torch::nn::Linear dense_{nullptr};
};

/// conv, FRN, conv, add, FRN.
struct Block final : torch::nn::Module {
  Block(std::int64_t in, std::int64_t out, std::int64_t stride) : stride_(stride) {
    conv1_ = register_module("conv1", convolution(in, out, 3, stride, stride == 1 ? 1 : 0, false));
    norm1_ = register_module("norm1", std::make_shared<FilterResponseNorm>(out));
    conv2_ = register_module("conv2", convolution(out, out, 3, 1, 1, false));
    if (stride != 1 || in != out) {
      shortcut_ = register_module("shortcut", convolution(in, out, 1, stride, 0, false));
      shortcut_norm_ = register_module("shortcut_norm", std::make_shared<FilterResponseNorm>(out));
    }
    norm2_ = register_module("norm2", std::make_shared<FilterResponseNorm>(out));
  }
  Tensor forward(const Tensor& x) {
    const Tensor padded = stride_ == 1 ? x : pad_same(x, 3, stride_, 0);
    const Tensor inner = conv2_->forward(norm1_->forward(conv1_->forward(padded)));
    const Tensor skip = shortcut_ ? shortcut_norm_->forward(shortcut_->forward(x)) : x;
    return norm2_->forward(inner + skip);
  }
  std::int64_t stride_;
  torch::nn::Conv2d conv1_{nullptr}, conv2_{nullptr}, shortcut_{nullptr};
  Norm norm1_, norm2_, shortcut_norm_;
};

struct ResNet final : NetworkModule {
  ResNet(std::int64_t channels, std::int64_t classes, const std::vector<std::int64_t>& layers) {
    stem_ = register_module("stem", convolution(channels, 64, 3, 1, 1, false));
    stem_norm_ = register_module("stem_norm", std::make_shared<FilterResponseNorm>(64));
    std::int64_t in = 64;
    for (std::size_t stage = 0; stage < layers.size(); ++stage) {
      const std::int64_t out = std::int64_t{64} << stage;
      for (std::int64_t i = 0; i < layers[stage]; ++i) {
        const std::int64_t stride = stage > 0 && i == 0 ? 2 : 1;
        blocks_.push_back(register_module("stage" + std::to_string(stage) + "_block" + std::to_string(i),
                                          std::make_shared<Block>(in, out, stride)));
        in = out;
      }
    }
    dense_ = register_module("dense", dense(in, classes));
  }
  Tensor forward(Tensor x) override {
    x = stem_norm_->forward(stem_->forward(x));
    x = torch::max_pool2d(pad_same(x, 3, 2, -std::numeric_limits<double>::infinity()), 3, 2);
    for (const auto& block : blocks_) x = block->forward(x);
    return dense_->forward(x.mean({2, 3}));
  }
  torch::nn::Conv2d stem_{nullptr};
  Norm stem_norm_;
  std::vector<std::shared_ptr<Block>> blocks_;
  torch::nn::Linear dense_{nullptr};
};

}  // namespace

FilterResponseNorm::FilterResponseNorm(std::int64_t channels) {
  gamma = register_parameter("gamma", torch::ones({channels}));
  beta = register_parameter("beta", torch::zeros({channels}));
  tau = register_parameter("tau", torch::zeros({channels}));
  epsilon = register_parameter("epsilon", torch::full({1}, 1e-6));
}

torch::Tensor FilterResponseNorm::forward(const torch::Tensor& x) {
  const auto channelwise = [](const torch::Tensor& p) { return p.view({1, -1, 1, 1}); };
  const torch::Tensor scale = (x.square().mean({2, 3}, true) + epsilon.abs()).rsqrt() * channelwise(gamma);
  return torch::max(torch::addcmul(channelwise(beta), x, scale), channelwise(tau));
}

std::shared_ptr<NetworkModule> make_fcn(std::int64_t inputs, const std::vector<std::int64_t>& widths,
                                        Activation activation, bool bias) {
  return std::make_shared<Fcn_>(inputs, widths, activation, bias);
}

std::shared_ptr<NetworkModule> make_lenet(std::int64_t channels, std::int64_t height, std::int64_t width,
                                          std::int64_t classes, Activation activation, bool bias) {
  if (height < 12 || width < 12)
    throw Error("model.model",
                "LeNet cannot take images of " + std::to_string(width) + "×" + std::to_string(height),
                "give images of at least 12×12 pixels (data.image_size)");
  return std::make_shared<LeNet>(channels, height, width, classes, activation, bias);
}

std::shared_ptr<NetworkModule> make_resnet7(std::int64_t channels, std::int64_t classes) {
  return std::make_shared<ResNet7>(channels, classes);
}

std::shared_ptr<NetworkModule> make_resnet(std::int64_t channels, std::int64_t classes,
                                           const std::vector<std::int64_t>& layers) {
  if (layers.empty() || layers.size() > 6)
    throw Error("model.layers", std::to_string(layers.size()) + " stages",
                "give one to six numbers of blocks");
  return std::make_shared<ResNet>(channels, classes, layers);
}

}  // namespace smile

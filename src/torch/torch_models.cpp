// SPDX-License-Identifier: Apache-2.0
#include "torch_models.hpp"

#include <algorithm>
#include <string>

#include "smile/error.hpp"
#include "smile/torch/architectures.hpp"
#include "torchscript.hpp"

namespace smile::deep {
namespace {

using Maker = TorchNetwork::Maker;

struct ImageSides {
  std::int64_t channels, height, width;
};
ImageSides sides_of(const NetworkData& data) {
  const ImageShape& image = data.images->train.shape();
  return {std::int64_t(image.channels), std::int64_t(image.height), std::int64_t(image.width)};
}

Maker fcn(const Config& config, const NetworkData& data) {
  std::int64_t inputs = 0;
  if (data.table) {
    const DataPart& train = data.table->train;
    inputs = std::int64_t(train.features.size() / train.rows);
  } else {
    inputs = std::int64_t(data.images->train.shape().size());
  }
  const ModelConfig& model = config.model;
  return [inputs, widths = model.hidden_structure, activation = model.activation, bias = model.use_bias] {
    return torch_module(make_fcn(inputs, widths, activation, bias));
  };
}

Maker lenet(const Config& config, const NetworkData& data) {
  const ImageSides image = sides_of(data);
  const ModelConfig& model = config.model;
  return [image, classes = model.out_dim, activation = model.activation, bias = model.use_bias] {
    return torch_module(make_lenet(image.channels, image.height, image.width, classes, activation, bias));
  };
}

Maker resnet7(const Config& config, const NetworkData& data) {
  const ImageSides image = sides_of(data);
  if (std::min(image.height, image.width) < 8)
    throw Error(
        config.place("model.model"),
        "ResNet7 cannot take images of " + std::to_string(image.width) + "×" + std::to_string(image.height),
        "give images of at least 8×8 pixels (data.image_size)");
  return [channels = image.channels, classes = config.model.out_dim] {
    return torch_module(make_resnet7(channels, classes));
  };
}

Maker resnet(const Config& config, const NetworkData& data) {
  return [channels = sides_of(data).channels, classes = config.model.out_dim, layers = config.model.layers] {
    return torch_module(make_resnet(channels, classes, layers));
  };
}

Maker vit(const Config& config, const NetworkData& data) {
  const ImageSides image = sides_of(data);
  const ModelConfig& model = config.model;
  VitShape shape;
  shape.channels = image.channels;
  shape.height = image.height;
  shape.width = image.width;
  shape.classes = model.out_dim;
  shape.patch = model.patch_size;
  shape.dim = model.dim;
  shape.depth = model.depth;
  shape.heads = model.num_heads;
  shape.transformer_width = model.transformer_fc_dim;
  shape.classifier_width = model.classifier_fc_dim;
  return [shape] { return torch_module(make_vit(shape)); };
}

Maker gpt(const Config& config, const NetworkData&) {
  const ModelConfig& model = config.model;
  GptShape shape;
  shape.vocabulary = model.vocab_size;
  shape.context = model.context_len;
  shape.embedding = model.emb_size;
  shape.blocks = model.n_blocks;
  shape.heads = model.n_heads;
  shape.qkv = model.qkv_dim;
  shape.bias = model.bias;
  shape.authors_block = model.gpt_authors_block;
  return [shape] { return torch_module(make_gpt(shape)); };
}

Maker torchscript(const Config& config, const NetworkData&) {
  return [path = *config.model.path] { return load_torchscript(path); };
}

}  // namespace

const std::vector<TorchModel>& torch_models() {
  static const std::vector<TorchModel> table{
      {"FCN", fcn}, {"LeNet", lenet}, {"ResNet7", resnet7},        {"ResNet", resnet},
      {"ViT", vit}, {"GPT", gpt},     {"torchscript", torchscript}};
  return table;
}

}  // namespace smile::deep

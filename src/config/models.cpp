// SPDX-License-Identifier: Apache-2.0
#include "smile/config/models.hpp"

#include <algorithm>

#include "smile/error.hpp"

namespace smile {
namespace {

std::deque<ModelRow>& rows() {
  using enum DataKind;
  static std::deque<ModelRow> table{
      {.name = "FCN",
       .doc = "fully connected network of any widths and depth, on the native engine",
       .kinds = {tabular, image},
       .keys = {"hidden_structure", "activation", "use_bias", "engine"},
       .native = true},
      {.name = "LeNet",
       .doc = "convolutional network for 28×28 or 32×32 images",
       .kinds = {image},
       .keys = {"activation", "use_bias", "out_dim"}},
      {.name = "ResNet7",
       .doc = "small residual network with filter response normalisation",
       .kinds = {image},
       .keys = {"out_dim"}},
      {.name = "ResNet",
       .doc = "residual network; layers [2, 2, 2, 2] is ResNet-18",
       .kinds = {image},
       .keys = {"out_dim", "layers"}},
      {.name = "ViT",
       .doc = "vision transformer",
       .kinds = {image},
       .keys = {"out_dim", "patch_size", "dim", "depth", "num_heads", "transformer_fc_dim",
                "classifier_fc_dim"}},
      {.name = "GPT",
       .doc = "decoder-only transformer for text",
       .kinds = {text},
       .keys = {"vocab_size", "emb_size", "n_blocks", "n_heads", "qkv_dim", "bias", "dropout", "dtype",
                "gpt_block"}},
      {.name = "torchscript",
       .doc = "any TorchScript module; its parameters become θ",
       .kinds = {tabular, image, text},
       .keys = {"out_dim", "path"}},
  };
  return table;
}

}  // namespace

bool ModelRow::takes(DataKind kind) const {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}
bool ModelRow::has_key(std::string_view key) const {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

namespace {
bool torch_here = false;
}

bool torch_is_here() {
  return torch_here;
}
void set_torch_is_here(bool here) {
  torch_here = here;
}

const std::deque<ModelRow>& model_rows() {
  return rows();
}

const ModelRow& model_row(std::string_view name) {
  for (const ModelRow& row : rows())
    if (row.name == name) return row;
  throw Error("model.model", "`" + std::string(name) + "` is not known",
              "use one of " + model_names([](const ModelRow&) { return true; }));
}

void add_model(ModelRow row) {
  for (const ModelRow& known : rows())
    if (known.name == row.name)
      throw Error("model", "there is a model `" + std::string(row.name) + "` already",
                  "give it another name");
  rows().push_back(std::move(row));
}

}  // namespace smile

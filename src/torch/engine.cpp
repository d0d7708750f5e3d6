#include "smile/torch/engine.hpp"

#include <algorithm>
#include <string>

#include "blas.hpp"
#include "device_chain.hpp"
#include "smile/error.hpp"
#include "smile/experiment/network_engine.hpp"
#include "smile/torch/architectures.hpp"
#include "torch_network.hpp"
#include "torchscript.hpp"

namespace smile {
namespace {

torch::Device device_of(const Config& config, const std::string& why_no_cuda) {
  if (config.device == "cpu" || (config.device == "auto" && !why_no_cuda.empty())) return torch::kCPU;
  if (!why_no_cuda.empty())
    throw Error(config.place("device"), "`cuda` is not available in this build: " + why_no_cuda,
                "write cpu or auto, or configure with a LibTorch that has CUDA (CMAKE_PREFIX_PATH)");
  return torch::kCUDA;
}

/// Makes the module that `model` names, for data of this shape.
deep::TorchNetwork::Maker maker_of(const Config& config, const NetworkData& data) {
  const ModelConfig& model = config.model;
  const std::string& name = model.model;
  if (name == "torchscript") {
    const std::string path = *model.path;
    return [path] { return deep::load_torchscript(path); };
  }
  if (name == "FCN") {
    std::int64_t inputs = 0;
    if (data.table) {
      const DataPart& train = data.table->train;
      inputs = std::int64_t(train.features.size() / train.rows);
    } else {
      inputs = std::int64_t(data.images->train.shape().size());
    }
    const auto widths = model.hidden_structure;
    const auto activation = model.activation_kind();
    const bool bias = model.use_bias;
    return [=] { return torch_module(make_fcn(inputs, widths, activation, bias)); };
  }
  if (name == "GPT") {
    GptShape shape;
    shape.vocabulary = model.vocab_size;
    shape.context = model.context_len;
    shape.embedding = model.emb_size;
    shape.blocks = model.n_blocks;
    shape.heads = model.n_heads;
    shape.qkv = model.qkv_dim;
    shape.bias = model.bias;
    shape.authors_block = model.gpt_block == "authors";
    return [=] { return torch_module(make_gpt(shape)); };
  }
  const ImageShape& image = data.images->train.shape();
  const std::int64_t channels = std::int64_t(image.channels), height = std::int64_t(image.height),
                     width = std::int64_t(image.width), classes = model.out_dim;
  if (name == "LeNet") {
    const auto activation = model.activation_kind();
    const bool bias = model.use_bias;
    return [=] { return torch_module(make_lenet(channels, height, width, classes, activation, bias)); };
  }
  if (name == "ResNet7" && std::min(height, width) < 8)
    throw Error(config.place("model.model"),
                "ResNet7 cannot take images of " + std::to_string(width) + "×" + std::to_string(height),
                "give images of at least 8×8 pixels (data.image_size)");
  if (name == "ResNet7") return [=] { return torch_module(make_resnet7(channels, classes)); };
  if (name == "ResNet") {
    const auto layers = model.layers;
    return [=] { return torch_module(make_resnet(channels, classes, layers)); };
  }
  VitShape shape;
  shape.channels = channels;
  shape.height = height;
  shape.width = width;
  shape.classes = classes;
  shape.patch = model.patch_size;
  shape.dim = model.dim;
  shape.depth = model.depth;
  shape.heads = model.num_heads;
  shape.transformer_width = model.transformer_fc_dim;
  shape.classifier_width = model.classifier_fc_dim;
  return [=] { return torch_module(make_vit(shape)); };
}

class TorchLanguageModel final : public LanguageModel {
 public:
  TorchLanguageModel(TorchModule module, torch::Device device)
      : network_(std::move(module), Task::multilabel), device_(device) {
    network_.to(device, torch::kFloat);
  }
  void next(std::span<const std::uint32_t> tokens, const HostVector<float>& position,
            std::span<float> logits) override {
    deep::compute_on_one_thread();
    torch::Tensor input = torch::empty({1, std::int64_t(tokens.size())}, torch::kLong);
    std::copy(tokens.begin(), tokens.end(), input.data_ptr<std::int64_t>());
    const torch::Tensor out =
        network_.outputs(input.to(device_), tensor_view(position.data(), position.size()).to(device_));
    tensor_view(logits.data(), logits.size()).copy_(out.select(1, -1).reshape({-1}));
  }

 private:
  FlatNetwork network_;
  torch::Device device_;
};

class TorchEngine final : public NetworkEngine {
 public:
  std::unique_ptr<LanguageModel> language_model(const Config& config) const override {
    return std::make_unique<TorchLanguageModel>(maker_of(config, {})(), device_of(config, why_no_cuda()));
  }

  std::shared_ptr<const Network> network(const Config& config, const NetworkData& data) const override {
    const torch::Device device = device_of(config, why_no_cuda());
    std::size_t classes = 0;
    if (config.task() == Task::classification)
      classes = config.model.model == "FCN" ? std::size_t(config.model.hidden_structure.back())
                                            : std::size_t(config.model.out_dim);
    if (config.task() == Task::multilabel) classes = data.text->vocabulary.size();
    const bool augments = data.images && config.data.augment == "basic";
    const std::string where =
        config.model.model == "torchscript" ? *config.model.path : config.place("model.model");
    try {
      return std::make_shared<deep::TorchNetwork>(maker_of(config, data), config.task(),
                                                  deep::Batches(data, config.task(), device), classes,
                                                  augments, where);
    } catch (const Error&) {
      throw;
    } catch (const std::exception&) {  // of LibTorch's allocator
      throw Error(where, "the network does not fit into memory", "make it smaller");
    }
  }

  HostVector<float> read_parameters(const std::string& file, const Network& network) const override {
    const auto& own = dynamic_cast<const deep::TorchNetwork&>(network);
    return own.parameters_of(deep::load_torchscript(file), file);
  }

  std::optional<ChainSetup> device_chain(const Config& config, const Network& network,
                                         const FrozenParameters* frozen, const HostVector<float>& member,
                                         std::shared_ptr<const Prior> prior, const RunLengths& lengths,
                                         std::uint32_t chain) const override {
    const auto& own = dynamic_cast<const deep::TorchNetwork&>(network);
    if (own.data().device().is_cpu()) return std::nullopt;  // the host's fused passes are faster
    return deep::make_device_chain(config.training.sampler, own, frozen, member, std::move(prior), lengths,
                                   config.rng, chain);
  }

  std::string why_one_thread() const override {
    if (deep::is_blas_thread_safe()) return {};
    return "this OpenBLAS was built without threads and is not safe for several chains at a time; "
           "install libopenblas0-pthread";
  }

  std::string why_no_cuda() const override {
    if (torch::cuda::is_available()) return "";
    return torch::cuda::device_count() == 0 && !torch::hasCUDA() ? "its LibTorch was built without CUDA"
                                                                 : "LibTorch finds no CUDA device";
  }
};

}  // namespace

void use_torch_networks() {
  set_network_engine(std::make_unique<TorchEngine>());
}

}  // namespace smile

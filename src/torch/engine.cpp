// SPDX-License-Identifier: Apache-2.0
#include "smile/torch/engine.hpp"

#include <algorithm>
#include <string>

#include "blas.hpp"
#include "device_chain.hpp"
#include "smile/error.hpp"
#include "smile/experiment/network_engine.hpp"
#include "torch_models.hpp"
#include "torch_network.hpp"
#include "torchscript.hpp"

namespace smile {
namespace {

torch::Device device_of(const Config& config, const std::string& why_no_cuda) {
  if (config.device == Device::cpu || (config.device == Device::automatic && !why_no_cuda.empty()))
    return torch::kCPU;
  if (!why_no_cuda.empty())
    throw Error(config.place("device"), "`cuda` is not available in this build: " + why_no_cuda,
                "write cpu or auto, or configure with a LibTorch that has CUDA (CMAKE_PREFIX_PATH)");
  return torch::kCUDA;
}

deep::TorchNetwork::Maker maker_of(const Config& config, const NetworkData& data) {
  const ModelRow& row = config.model.row();
  for (const deep::TorchModel& model : deep::torch_models())
    if (model.name == row.name) return model.maker(config, data);
  throw Error(config.place("model.model"), std::string(row.name) + " is no model of LibTorch",
              "take a model of `smile list models`");
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
      classes = config.model.row().has_key("hidden_structure")
                    ? std::size_t(config.model.hidden_structure.back())
                    : std::size_t(config.model.out_dim);
    if (config.task() == Task::multilabel) classes = data.text->vocabulary.size();
    const bool augments = data.images && config.data.augment;
    const std::string where =
        config.model.row().has_key("path") ? *config.model.path : config.place("model.model");
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

  HostVector<float> read_parameters(const std::string& file, const Network& network,
                                    const StreamKey* rest) const override {
    const auto& own = dynamic_cast<const deep::TorchNetwork&>(network);
    return own.parameters_of(deep::load_torchscript(file), file, rest);
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

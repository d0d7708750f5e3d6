// SPDX-License-Identifier: Apache-2.0
#include "torchscript.hpp"

#include <torch/script.h>

#include <filesystem>

#include "smile/error.hpp"

namespace smile::deep {
namespace {

/// "BatchNorm2d" of "__torch__.torch.nn.modules.batchnorm.BatchNorm2d" (and of a mangled name).
std::string kind_of(const torch::jit::Module& module) {
  const auto name = module.type()->name();
  const std::string qualified = name ? name->name() : std::string();
  return qualified;
}

bool is_true(const torch::jit::Module& module, const char* attribute) {
  return module.hasattr(attribute) && module.attr(attribute).isBool() && module.attr(attribute).toBool();
}

double rate_of(const torch::jit::Module& module) {
  if (!module.hasattr("p") || !module.attr("p").isDouble()) return 0.5;
  return module.attr("p").toDouble();
}

void refuse(const std::string& path, const std::string& layer, const std::string& what, const char* mend) {
  throw Error(path,
              "layer " + (layer.empty() ? "(the module itself)" : layer) + ": " + what +
                  ", so that a row's output is no function of the row",
              mend);
}

void check_layer(const std::string& path, const std::string& layer, const torch::jit::Module& module) {
  const std::string kind = kind_of(module);
  const bool training = is_true(module, "training");
  const char* const mend = "call eval() before torch.jit.script, or use another layer";
  if (kind.find("BatchNorm") != std::string::npos) {
    if (training) refuse(path, layer, kind + " in training mode", mend);
    if (!module.hasattr("running_mean") || module.attr("running_mean").isNone())
      refuse(path, layer, kind + " without running statistics", "keep them (track_running_stats=True)");
  }
  if (kind.find("Dropout") != std::string::npos && training && rate_of(module) > 0)
    refuse(path, layer, kind + " is active", mend);
}

}  // namespace

TorchModule load_torchscript(const std::string& path) {
  if (!std::filesystem::is_regular_file(path))
    throw Error(path, "there is no such file", "give a file that torch.jit.save has written");
  auto module = std::make_shared<torch::jit::Module>();
  try {
    *module = torch::jit::load(path, torch::kCPU);
  } catch (const std::exception&) {
    throw Error(path, "this is no TorchScript file",
                "save the network with torch.jit.script(network).save(file); a state_dict is not enough");
  }
  TorchModule out;
  for (const auto& layer : module->named_modules()) {
    check_layer(path, layer.name, layer.value);
    const bool embedding = kind_of(layer.value).find("Embedding") != std::string::npos;
    for (const auto& p : layer.value.named_parameters(false))
      out.parameters.push_back(
          classify_parameter(layer.name.empty() ? p.name : layer.name + "." + p.name, p.value, embedding));
  }
  tie(out.parameters, path);
  if (out.parameters.empty())
    throw Error(path, "the module has no parameters", "give a network with weights");
  out.forward = [module](const torch::Tensor& x) {
    const auto result = module->forward({x});
    TORCH_CHECK(result.isTensor(), "its forward does not return one tensor");
    return result.toTensor();
  };
  out.move_to = [module](torch::Device device, torch::Dtype dtype) { module->to(device, dtype); };
  out.module = module;
  return out;
}

}  // namespace smile::deep

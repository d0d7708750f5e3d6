// SPDX-License-Identifier: Apache-2.0
#include "smile/torch/flat_network.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "smile/error.hpp"
#include "smile/network/fcn.hpp"
#include "smile/targets/frozen.hpp"
#include "smile/targets/task_likelihood.hpp"

namespace smile {
namespace {

using torch::Tensor;

}  // namespace

TorchModule::Parameter classify_parameter(const std::string& name, const Tensor& tensor, bool embedding) {
  TorchModule::Parameter parameter{name, tensor};
  if (tensor.dim() < 2 || name.substr(name.rfind('.') + 1) != "weight") return parameter;
  std::size_t field = 1;
  for (std::int64_t i = 2; i < tensor.dim(); ++i) field *= std::size_t(tensor.size(i));
  parameter.kind = ParameterKind::weight;
  parameter.fan_in = std::size_t(tensor.size(embedding ? 0 : 1)) * field;
  parameter.fan_out = std::size_t(tensor.size(embedding ? 1 : 0)) * field;
  return parameter;
}

void tie(std::vector<TorchModule::Parameter>& parameters, const std::string& where) {
  const auto begin = [](const Tensor& t) { return static_cast<const char*>(t.data_ptr()); };
  const auto bytes = [](const Tensor& t) { return t.numel() * std::int64_t(t.element_size()); };
  std::vector<TorchModule::Parameter> kept;
  for (TorchModule::Parameter& p : parameters) {
    const auto first = std::find_if(kept.begin(), kept.end(), [&](const TorchModule::Parameter& other) {
      return begin(p.tensor) < begin(other.tensor) + bytes(other.tensor) &&
             begin(other.tensor) < begin(p.tensor) + bytes(p.tensor);
    });
    if (first == kept.end()) {
      kept.push_back(std::move(p));
      continue;
    }
    if (begin(p.tensor) != begin(first->tensor) || p.tensor.sizes() != first->tensor.sizes() ||
        p.tensor.strides() != first->tensor.strides())
      throw Error(where,
                  "the parameters " + first->name + " and " + p.name + " share memory in different shapes",
                  "tie whole parameters of one shape, or clone one of them");
    if (!p.tensor.is_same(first->tensor)) first->also.push_back(p.tensor);
    first->other_names.push_back(p.name);
  }
  parameters = std::move(kept);
}

std::vector<TorchModule::Parameter> parameters_of(const torch::nn::Module& module) {
  std::vector<TorchModule::Parameter> out;
  for (const auto& layer : module.named_modules("", true)) {
    const bool embedding = layer.value()->as<torch::nn::EmbeddingImpl>() != nullptr;
    for (const auto& p : layer.value()->named_parameters(false)) {
      const std::string name = layer.key().empty() ? p.key() : layer.key() + "." + p.key();
      out.push_back(classify_parameter(name.starts_with('.') ? name.substr(1) : name, p.value(), embedding));
    }
  }
  tie(out, "the module");
  return out;
}

void refuse_batch_state(const torch::nn::Module& module) {
  const auto refuse = [](std::string layer, const char* what) {
    if (layer.starts_with('.')) layer.erase(0, 1);
    throw Error("layer " + layer, std::string(what) + ", so that a row's output is no function of the row",
                "put the module into evaluation mode (eval()), or use another layer");
  };
  for (const auto& layer : module.named_modules("", true)) {
    const torch::nn::Module& m = *layer.value();
    if (!m.is_training()) continue;
    if (m.as<torch::nn::BatchNorm1dImpl>() || m.as<torch::nn::BatchNorm2dImpl>() ||
        m.as<torch::nn::BatchNorm3dImpl>())
      refuse(layer.key(), "batch normalisation in training mode");
    const auto* dropout = m.as<torch::nn::DropoutImpl>();
    const auto* dropout2 = m.as<torch::nn::Dropout2dImpl>();
    if ((dropout && dropout->options.p() > 0) || (dropout2 && dropout2->options.p() > 0))
      refuse(layer.key(), "dropout is active");
  }
}

FlatNetwork::FlatNetwork(TorchModule module, Task task, const std::vector<std::string>& frozen)
    : module_(std::move(module)), task_(task) {
  for (std::size_t i = 0; i < module_.parameters.size(); ++i) {
    TorchModule::Parameter& p = module_.parameters[i];
    const auto sizes = p.tensor.sizes();
    std::vector<std::size_t> shape(sizes.begin(), sizes.end());
    if (shape.empty()) shape = {1};
    const bool fixed = is_frozen(p.name, frozen);
    (fixed ? frozen_layout_ : layout_).add(p.name, std::move(shape), p.kind, p.fan_in, p.fan_out);
    p.tensor.set_requires_grad(!fixed);
    for (Tensor& other : p.also) other.set_requires_grad(!fixed);
    if (fixed) continue;
    moving_.push_back(i);
    initial_.push_back(p.tensor.detach().clone());
  }
  const bool has_sigma = task_ == Task::mean_regression;
  std::vector<std::string> names;
  for (const TorchModule::Parameter& p : module_.parameters) names.push_back(p.name);
  if (has_sigma) names.push_back("log_sigma");
  require_matches(names, frozen);
  if (has_sigma) {
    log_sigma_moves_ = !is_frozen("log_sigma", frozen);
    (log_sigma_moves_ ? layout_ : frozen_layout_).add("log_sigma", {1}, ParameterKind::other);
    log_sigma_ = torch::zeros({1}).set_requires_grad(log_sigma_moves_);
    if (log_sigma_moves_) initial_.push_back(torch::zeros({1}));
  }
  if (layout_.size() == 0)
    throw Error("model", "no parameter is left to sample", "freeze fewer (training.sampler.params_frozen)");
}

std::vector<std::string> FlatNetwork::remarks() const {
  std::vector<std::string> lines;
  for (const TorchModule::Parameter& p : module_.parameters) {
    if (p.other_names.empty()) continue;
    std::string names;
    for (const std::string& name : p.other_names) names += (names.empty() ? "" : ", ") + name;
    lines.push_back(p.name + " and " + names + " are one parameter; its draws stand under the first name");
  }
  return lines;
}

void FlatNetwork::read(Tensor out) const {
  torch::NoGradGuard guard;
  for (std::size_t k = 0; k < layout_.groups.size(); ++k) {
    const auto& group = layout_.groups[k];
    const Tensor& from = k < moving_.size() ? module_.parameters[moving_[k]].tensor : log_sigma_;
    out.slice(0, std::int64_t(group.offset), std::int64_t(group.offset + group.size()))
        .copy_(from.reshape({-1}));
  }
}

/// The numbers of the native engine for a network of the same layout.
void FlatNetwork::initialise(StreamKey key, Tensor out) const {
  torch::NoGradGuard guard;
  HostVector<float> weights;
  lecun_initialise(layout_, key, weights);
  out.copy_(tensor_view(weights.data(), weights.size()));
  for (std::size_t k = 0; k < layout_.groups.size(); ++k) {
    const auto& group = layout_.groups[k];
    if (group.kind == ParameterKind::weight) continue;
    out.slice(0, std::int64_t(group.offset), std::int64_t(group.offset + group.size()))
        .copy_(initial_[k].reshape({-1}));
  }
}

void FlatNetwork::hold(const Tensor& whole) {
  torch::NoGradGuard guard;
  std::int64_t offset = 0;
  const auto take = [&](Tensor& tensor, bool frozen) {
    const std::int64_t size = tensor.numel();
    if (frozen) tensor.copy_(whole.slice(0, offset, offset + size).view(tensor.sizes()));
    offset += size;
  };  // tied tensors still share their memory here
  for (std::size_t i = 0, moving = 0; i < module_.parameters.size(); ++i) {
    const bool moves = moving < moving_.size() && moving_[moving] == i;
    moving += moves;
    take(module_.parameters[i].tensor, !moves);
  }
  if (log_sigma_.defined()) take(log_sigma_, !log_sigma_moves_);
  TORCH_CHECK(offset == whole.numel(), "a vector of ", whole.numel(), " parameters, and the network has ",
              offset);
}

void FlatNetwork::to(torch::Device device, torch::Dtype dtype) {
  views_.clear();
  if (module_.move_to) module_.move_to(device, dtype);
  if (log_sigma_.defined())
    log_sigma_ = log_sigma_.detach().to(device, dtype).set_requires_grad(log_sigma_moves_);
}

const std::vector<Tensor>& FlatNetwork::views(const Tensor& flat) {
  for (const Views& known : views_)
    if (known.data == flat.data_ptr() && known.size == flat.numel()) return known.tensors;
  if (views_.size() > 12) views_.clear();  // vectors that are gone
  Views fresh{flat.data_ptr(), flat.numel(), {}};
  const Tensor base = flat.detach();
  for (std::size_t k = 0; k < layout_.groups.size(); ++k) {
    const auto& group = layout_.groups[k];
    const Tensor slice = base.slice(0, std::int64_t(group.offset), std::int64_t(group.offset + group.size()));
    fresh.tensors.push_back(k < moving_.size() ? slice.view(initial_[k].sizes()) : slice);
  }
  views_.push_back(std::move(fresh));
  return views_.back().tensors;
}

void FlatNetwork::bind(const Tensor& position, const Tensor* gradient) {
  TORCH_CHECK(position.numel() == std::int64_t(layout_.size()), "a position of ", position.numel(),
              " parameters, and the network has ", layout_.size());
  const auto leaf = [&](std::size_t k) -> Tensor& {
    return k < moving_.size() ? module_.parameters[moving_[k]].tensor : log_sigma_;
  };
  {
    const auto& values = views(position);
    for (std::size_t k = 0; k < values.size(); ++k) {
      leaf(k).set_data(values[k]);
      if (k < moving_.size())
        for (Tensor& other : module_.parameters[moving_[k]].also) other.set_data(values[k]);
    }
  }
  if (gradient == nullptr) return;
  const auto& gradients = views(*gradient);
  for (std::size_t k = 0; k < gradients.size(); ++k) {
    leaf(k).mutable_grad() = gradients[k];
    if (k < moving_.size())  // both add to one memory
      for (Tensor& other : module_.parameters[moving_[k]].also) other.mutable_grad() = gradients[k];
  }
}

/// Sums accumulate in double precision.
Tensor FlatNetwork::score(const Tensor& outputs, const Tensor& targets, const Tensor& log_sigma) const {
  const double half_log_2pi = 0.5 * std::log(2 * std::numbers::pi);
  const double low = std::log(kSigmaMin), high = std::log(kSigmaMax);
  switch (task_) {
    case Task::classification:
    case Task::multilabel: {
      const Tensor logp = torch::log_softmax(outputs.reshape({-1, outputs.size(-1)}), 1);
      return logp.gather(1, targets.reshape({-1, 1})).sum(torch::kDouble);
    }
    case Task::mean_regression: {
      const Tensor r = log_sigma.clamp(low, high);
      const Tensor z = (targets - outputs.reshape({-1})) * torch::exp(-r);
      return (-0.5 * z.square() - r - half_log_2pi).sum(torch::kDouble);
    }
    case Task::regression: {
      const Tensor r = outputs.select(1, 1).clamp(low, high);
      const Tensor z = (targets - outputs.select(1, 0)) * torch::exp(-r);
      return (-0.5 * z.square() - r - half_log_2pi).sum(torch::kDouble);
    }
  }
  return {};
}

Tensor FlatNetwork::outputs(const Tensor& inputs, const Tensor& position) {
  torch::NoGradGuard guard;
  bind(position, nullptr);
  return module_.forward(inputs);
}

double FlatNetwork::log_likelihood(const Tensor& inputs, const Tensor& targets, const Tensor& position) {
  torch::NoGradGuard guard;
  bind(position, nullptr);
  return score(module_.forward(inputs), targets, log_sigma_).item<double>();
}

double FlatNetwork::add_gradient(const Tensor& inputs, const Tensor& targets, const Tensor& position,
                                 Tensor& gradient) {
  torch::AutoGradMode with_gradient(true);
  bind(position, &gradient);
  const Tensor sum = score(module_.forward(inputs), targets, log_sigma_);
  sum.backward();
  return sum.item<double>();
}

Tensor FlatNetwork::outputs_and_jacobian(const Tensor& inputs, const Tensor& position, Tensor& jacobian) {
  torch::AutoGradMode with_gradient(true);
  Tensor gradient = torch::zeros_like(position);
  bind(position, &gradient);
  const Tensor outputs = module_.forward(inputs).reshape({-1});
  for (std::int64_t c = 0; c < outputs.numel(); ++c) {
    gradient.zero_();
    outputs[c].backward({}, /*retain_graph=*/c + 1 < outputs.numel());
    jacobian[c].copy_(gradient);
  }
  views_.clear();  // those of `gradient`, whose memory goes
  return outputs.detach();
}

}  // namespace smile

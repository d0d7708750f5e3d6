// SPDX-License-Identifier: Apache-2.0
/// A LibTorch network whose parameters and gradients are views into flat buffers: nothing is copied between
/// module and sampler (spec 2.3).
#pragma once

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "smile/random/stream.hpp"
#include "smile/targets/likelihood.hpp"
#include "smile/targets/parameters.hpp"

namespace smile {

/// A module of whatever kind, as the rest needs it.
struct TorchModule {
  struct Parameter {
    std::string name;
    torch::Tensor tensor;
    ParameterKind kind = ParameterKind::other;
    std::size_t fan_in = 0, fan_out = 0;
    std::vector<torch::Tensor> also{};  ///< the same parameter in other places of the module
    std::vector<std::string> other_names{};
  };
  std::vector<Parameter> parameters;  ///< in registration order
  std::function<torch::Tensor(const torch::Tensor&)> forward;
  std::function<void(torch::Device, torch::Dtype)> move_to;  ///< of buffers; parameters are views anyway
  std::shared_ptr<void> module;                              ///< kept alive
};

/// Kernels of dense layers and convolutions ([out, in, …], fans count the receptive field) and embeddings
/// (V×E: fan_in V, fan_out E) are weights, all else is not (spec 2.1, 2.2).
/// @param embedding  whether the tensor is the table of an embedding
TorchModule::Parameter classify_parameter(const std::string& name, const torch::Tensor& tensor,
                                          bool embedding);

/// Parameters of several names and one memory (tied weights) become one, under its first name: one entry of
/// θ, whose gradient is the sum over its places. @throws Error where two share a part of their memory, or its
/// shape differs
void tie(std::vector<TorchModule::Parameter>& parameters, const std::string& where);

/// Any module with `forward(Tensor) → Tensor`. @throws Error as refuse_batch_state()
template <class Module>
TorchModule torch_module(std::shared_ptr<Module> module);

/// Refuses what makes the output of a row depend on its batch or on chance, naming the layer: BatchNorm in
/// training mode, active dropout. @throws Error
void refuse_batch_state(const torch::nn::Module& module);
/// The parameters of a module with their kinds.
std::vector<TorchModule::Parameter> parameters_of(const torch::nn::Module& module);

/// The module bound to flat vectors; one thread's. log σ of `mean_regr` is the last entry of θ.
class FlatNetwork {
 public:
  /// @param frozen  patterns: a parameter whose name one of them matches (`*` stands for any text, and a
  ///                pattern for the start of a name up to a dot) stays as it is and is no part of θ
  FlatNetwork(TorchModule module, Task task, const std::vector<std::string>& frozen = {});

  /// θ: what is not frozen.
  const ParameterLayout& layout() const { return layout_; }
  /// What is frozen, stored once.
  const ParameterLayout& frozen_layout() const { return frozen_layout_; }
  Task task() const { return task_; }

  /// Which parameters are tied, one line each.
  std::vector<std::string> remarks() const;
  /// The parameters as they are now, into a flat vector. @param out @shape [d]
  void read(torch::Tensor out) const;
  /// LeCun-normal weights; all else as the module was made (spec 2.5).
  void initialise(StreamKey key, torch::Tensor out) const;
  /// Gives the frozen parameters their values. @param whole  every parameter in registration order, log σ
  /// last
  void hold(const torch::Tensor& whole);
  /// Moves the frozen tensors and buffers.
  void to(torch::Device device, torch::Dtype dtype);

  /// Outputs of a batch with the parameters at `position`. No gradient is taken.
  torch::Tensor outputs(const torch::Tensor& inputs, const torch::Tensor& position);
  /// Σ log p(y|x, θ) of a batch; `scored` > 0: of the last so many positions of each row only.
  double log_likelihood(const torch::Tensor& inputs, const torch::Tensor& targets,
                        const torch::Tensor& position);
  /// The same, and its gradient added to `gradient`.
  double add_gradient(const torch::Tensor& inputs, const torch::Tensor& targets,
                      const torch::Tensor& position, torch::Tensor& gradient);
  /// Outputs of a batch, and the gradient of each of them. @param jacobian @shape [outputs in all, d],
  /// overwritten
  torch::Tensor outputs_and_jacobian(const torch::Tensor& inputs, const torch::Tensor& position,
                                     torch::Tensor& jacobian);

 private:
  void bind(const torch::Tensor& position, const torch::Tensor* gradient);
  torch::Tensor score(const torch::Tensor& outputs, const torch::Tensor& targets,
                      const torch::Tensor& log_sigma) const;
  /// Views of one flat tensor, by parameter; kept for the few vectors a sampler takes turns with.
  const std::vector<torch::Tensor>& views(const torch::Tensor& flat);

  TorchModule module_;
  Task task_;
  ParameterLayout layout_, frozen_layout_;
  std::vector<std::size_t> moving_;  // indices of the parameters in θ
  std::vector<torch::Tensor> initial_;
  torch::Tensor log_sigma_;  // leaf; defined for mean_regr
  bool log_sigma_moves_ = false;
  struct Views {
    const void* data;
    std::int64_t size;
    std::vector<torch::Tensor> tensors;
  };
  std::vector<Views> views_;
};

/// A flat vector in memory as a tensor, without a copy.
template <class T>
torch::Tensor tensor_view(const T* data, std::size_t size) {
  const auto type = torch::TensorOptions(c10::CppTypeToScalarType<T>::value);
  return torch::from_blob(const_cast<T*>(data), {static_cast<std::int64_t>(size)}, type);
}

template <class Module>
TorchModule torch_module(std::shared_ptr<Module> module) {
  refuse_batch_state(*module);
  TorchModule out;
  out.parameters = parameters_of(*module);
  out.forward = [module](const torch::Tensor& x) { return module->forward(x); };
  out.move_to = [module](torch::Device device, torch::Dtype dtype) { module->to(device, dtype); };
  out.module = module;
  return out;
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// A LibTorch module over the parts of a data set, as the experiment sees a network.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "batches.hpp"
#include "smile/network/network.hpp"
#include "smile/torch/flat_network.hpp"

namespace smile::deep {

/// LibTorch computes on the calling thread alone: chains run in parallel, and a sum then does not depend on
/// how many do. Cheap; called where a thread begins to compute.
void compute_on_one_thread();

class TorchNetwork final : public Network {
 public:
  using Maker = std::function<TorchModule()>;
  /// @param make  called once for each workspace, from its thread
  /// @param where  what errors name: the module's file, or the place in the configuration
  /// @throws Error where the module's outputs do not fit the task and the data
  TorchNetwork(Maker make, Task task, Batches batches, std::size_t classes, bool augment, std::string where);

  const ParameterLayout& layout() const override { return prototype_->layout(); }
  std::size_t outputs() const override { return outputs_; }
  std::size_t rows(Part part) const override { return batches_.rows(part); }
  std::size_t points(Part part) const override { return batches_.points(part); }
  std::size_t points_per_row() const override { return batches_.points_per_row(); }
  std::vector<std::string> remarks() const override { return remarks_; }
  std::unique_ptr<Likelihood<float>> likelihood(Part part) const override;
  /// Nothing is copied, and no gradient is taken of what is frozen.
  std::unique_ptr<Likelihood<float>> conditional_likelihood(Part part,
                                                            std::shared_ptr<const FrozenParameters> frozen,
                                                            const HostVector<float>& whole) const override;
  std::size_t workspace_bytes(std::size_t batch) const override;
  std::optional<double> free_device_bytes() const override;
  std::unique_ptr<Predictor> predictor() const override;
  /// One backward pass for each output of each point. Null for texts.
  std::unique_ptr<RowJacobians> row_jacobians() const override;
  BatchOrder batches(std::size_t batch_size, BatchMode mode, StreamKey key) const override {
    return batches_.order(batch_size, mode, key);
  }
  void initialise(StreamKey key, HostVector<float>& position) const override;
  std::unique_ptr<Trainer> trainer(const OptimizerOptions& options, StreamKey key) const override;

  Task task() const { return task_; }
  const Batches& data() const { return batches_; }
  /// A workspace on the network's device.
  /// @param frozen  null: every parameter moves   @param whole  of use where some are frozen
  FlatNetwork workspace(const FrozenParameters* frozen = nullptr, const HostVector<float>& whole = {}) const;
  /// The parameters of a module with the same names and shapes. @throws Error at `where` for others
  /// @param rest  where given, the module may have more tensors and lack some, which are those of a network
  ///              initialised with this key
  HostVector<float> parameters_of(const TorchModule& module, const std::string& where,
                                  const StreamKey* rest = nullptr) const;

 private:
  void look_for_probabilities(FlatNetwork& probe, const torch::Tensor& theta);

  Maker make_;
  Task task_;
  Batches batches_;
  bool augment_;
  std::string where_;
  std::size_t outputs_ = 0;
  std::vector<std::string> remarks_;
  std::unique_ptr<FlatNetwork> prototype_;
};

/// Gradient and value of a batch in pieces, so that memory stays bounded: @return Σ log p; `gradient` is
/// overwritten.
/// @param rows  empty: the whole part
double value_and_gradient(FlatNetwork& network, const Batches& batches, Part part,
                          std::span<const std::uint32_t> rows, const torch::Tensor& position,
                          torch::Tensor& gradient);
/// The value alone.
double value_of(FlatNetwork& network, const Batches& batches, Part part, std::span<const std::uint32_t> rows,
                const torch::Tensor& position);
/// The two as a likelihood, for one chain.
std::unique_ptr<Likelihood<float>> likelihood_over(FlatNetwork network, Batches batches, Part part);

}  // namespace smile::deep

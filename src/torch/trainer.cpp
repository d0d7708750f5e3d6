// SPDX-License-Identifier: Apache-2.0
#include "trainer.hpp"

#include <cmath>
#include <limits>

namespace smile::deep {
namespace {

using torch::Tensor;

/// θ is one flat tensor for the optimiser, which does not need to know that a network looks into it.
class TorchTrainer final : public Trainer {
 public:
  TorchTrainer(const TorchNetwork& network, const OptimizerOptions& options, StreamKey key, bool augment)
      : network_(network.workspace()),
        batches_(network.data()),
        options_(options),
        key_(key),
        augment_(augment),
        has_log_sigma_(network.task() == Task::mean_regression) {
    const auto where = torch::TensorOptions(torch::kFloat).device(batches_.device());
    theta_ = torch::zeros({std::int64_t(network.layout().size())}, where);
    gradient_ = torch::zeros_like(theta_);
    theta_.mutable_grad() = gradient_;
  }

  void start(const HostVector<float>& position) override {
    compute_on_one_thread();
    theta_.copy_(tensor_view(position.data(), position.size()));
    optimizer_ = make_optimizer();
  }

  double update(std::span<const std::uint32_t> rows, std::size_t count, std::uint64_t number,
                double learning_rate) override {
    compute_on_one_thread();
    double value = 0;
    if (augment_ && !rows.empty()) {
      gradient_.zero_();
      const Batch batch = batches_.augmented(rows, key_, number);
      value = network_.add_gradient(batch.inputs, batch.targets, theta_, gradient_);
    } else {
      value = value_and_gradient(network_, batches_, Part::train, rows, theta_, gradient_);
    }
    if (!std::isfinite(value)) return value;
    // The mean over points; the squared error is twice the negative log-likelihood at σ = 1, but for a
    // constant.
    const double points = double(count) * double(batches_.points_per_row());
    gradient_.mul_(-(has_log_sigma_ ? 2.0 : 1.0) / points);
    // With no gradient and a value of 0, which no weight decay can shrink, log σ stays at 0.
    if (has_log_sigma_) gradient_.slice(0, -1).zero_();
    if (!gradient_.isfinite().all().item<bool>()) return std::numeric_limits<double>::quiet_NaN();
    set_learning_rate(learning_rate);
    optimizer_->step();
    return value;
  }

  double log_likelihood(Part part) override {
    compute_on_one_thread();
    return value_of(network_, batches_, part, {}, theta_);
  }
  bool finite() const override { return theta_.isfinite().all().item<bool>(); }
  void position(HostVector<float>& position) const override {
    if (position.size() != std::size_t(theta_.numel())) position.resize(std::size_t(theta_.numel()));
    tensor_view(position.data(), position.size()).copy_(theta_);
  }

 private:
  std::unique_ptr<torch::optim::Optimizer> make_optimizer() {
    const std::vector<Tensor> parameters{theta_};
    switch (options_.kind) {
      case OptimizerKind::sgd:
        return std::make_unique<torch::optim::SGD>(parameters,
                                                   torch::optim::SGDOptions(0)
                                                       .momentum(options_.momentum)
                                                       .nesterov(options_.nesterov && options_.momentum > 0));
      case OptimizerKind::adam:
        return std::make_unique<torch::optim::Adam>(
            parameters, torch::optim::AdamOptions(0).betas({options_.b1, options_.b2}).eps(options_.epsilon));
      default:
        break;
    }
    return std::make_unique<torch::optim::AdamW>(parameters, torch::optim::AdamWOptions(0)
                                                                 .betas({options_.b1, options_.b2})
                                                                 .eps(options_.epsilon)
                                                                 .weight_decay(options_.weight_decay));
  }

  void set_learning_rate(double rate) {
    auto& options = optimizer_->param_groups().front().options();
    if (options_.kind == OptimizerKind::sgd)
      static_cast<torch::optim::SGDOptions&>(options).lr(rate);
    else if (options_.kind == OptimizerKind::adam)
      static_cast<torch::optim::AdamOptions&>(options).lr(rate);
    else
      static_cast<torch::optim::AdamWOptions&>(options).lr(rate);
  }

  FlatNetwork network_;
  Batches batches_;
  OptimizerOptions options_;
  StreamKey key_;
  bool augment_, has_log_sigma_;
  Tensor theta_, gradient_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
};

}  // namespace

std::unique_ptr<Trainer> make_trainer(const TorchNetwork& network, const OptimizerOptions& options,
                                      StreamKey key, bool augment) {
  switch (options.kind) {
    case OptimizerKind::sgd:
    case OptimizerKind::adam:
    case OptimizerKind::adamw:
      return std::make_unique<TorchTrainer>(network, options, key, augment);
    default:
      return nullptr;
  }
}

}  // namespace smile::deep

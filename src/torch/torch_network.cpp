// SPDX-License-Identifier: Apache-2.0
#include "torch_network.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "blas.hpp"
#include "device_memory.hpp"
#include "module_match.hpp"
#include "smile/error.hpp"
#include "smile/network/row_jacobians.hpp"
#include "trainer.hpp"

namespace smile::deep {
namespace {

using torch::Tensor;

/// Rows whose activations are kept together. Enough for the arithmetic to be efficient, small enough for
/// ResNet-18 with a batch of 512 to run in a few GB.
std::size_t piece_rows(const Batches& batches) {
  if (batches.device().is_cuda()) return std::numeric_limits<std::size_t>::max();
  return batches.points_per_row() > 1 ? std::max<std::size_t>(1, 8192 / batches.points_per_row()) : 128;
}

/// Σ of `term` over pieces of the rows, or over a whole part where `rows` is empty.
template <class Term>
double sum_over(const Batches& batches, Part part, std::span<const std::uint32_t> rows, const Term& term) {
  double sum = 0;
  if (rows.empty()) {
    for (std::size_t i = 0; i < batches.chunks(part); ++i) sum += term(batches.chunk(part, i));
    return sum;
  }
  const std::size_t piece = piece_rows(batches);
  for (; !rows.empty(); rows = rows.subspan(std::min(piece, rows.size())))
    sum += term(batches.of(part, rows.first(std::min(piece, rows.size()))));
  return sum;
}

/// The sentence of LibTorch's message that says what is wrong; a traceback stands before or behind it.
std::string cause_of(std::string message) {
  const std::string mark = "RuntimeError: ";
  if (const auto at = message.rfind(mark); at != std::string::npos) message.erase(0, at + mark.size());
  message.resize(std::min(message.size(), message.find('\n')));
  return message;
}

class TorchLikelihood final : public Likelihood<float> {
 public:
  TorchLikelihood(FlatNetwork network, Batches batches, Part part)
      : network_(std::move(network)), batches_(std::move(batches)), part_(part) {}

  const ParameterLayout& layout() const override { return network_.layout(); }
  std::size_t observations() const override { return batches_.rows(part_); }

  double log_likelihood_and_gradient(std::span<const std::uint32_t> rows, const HostVector<float>& position,
                                     HostVector<float>& gradient) override {
    compute_on_one_thread();
    if (gradient.size() != position.size()) gradient.resize(position.size());
    Tensor g = tensor_view(gradient.data(), gradient.size());
    const Tensor theta = tensor_view(position.data(), position.size());
    if (batches_.device().is_cpu()) return value_and_gradient(network_, batches_, part_, rows, theta, g);
    // Only monitors and the warm start of other optimisers come here: chains of a device stay there.
    Tensor there = torch::empty_like(theta, torch::TensorOptions().device(batches_.device()));
    const double value =
        value_and_gradient(network_, batches_, part_, rows, theta.to(batches_.device()), there);
    g.copy_(there);
    return value;
  }

  double log_likelihood(std::span<const std::uint32_t> rows, const HostVector<float>& position) override {
    compute_on_one_thread();
    return value_of(network_, batches_, part_, rows,
                    tensor_view(position.data(), position.size()).to(batches_.device()));
  }

 private:
  FlatNetwork network_;
  Batches batches_;
  Part part_;
};

class TorchPredictor final : public Predictor {
 public:
  TorchPredictor(FlatNetwork network, Batches batches)
      : network_(std::move(network)), batches_(std::move(batches)) {}

  void predict(Part part, const HostVector<float>& position, std::span<float> outputs) override {
    compute_on_one_thread();
    const Tensor theta = tensor_view(position.data(), position.size()).to(batches_.device());
    Tensor to = tensor_view(outputs.data(), outputs.size());
    std::int64_t done = 0;
    for (std::size_t i = 0; i < batches_.chunks(part); ++i) {
      const Tensor made = network_.outputs(batches_.chunk(part, i).inputs, theta).reshape({-1});
      to.slice(0, done, done + made.numel()).copy_(made);
      done += made.numel();
    }
  }

 private:
  FlatNetwork network_;
  Batches batches_;
};

class TorchJacobians final : public RowJacobians {
 public:
  TorchJacobians(FlatNetwork network, Batches batches, std::size_t outputs)
      : network_(std::move(network)), batches_(std::move(batches)) {
    jacobian_ = torch::zeros({std::int64_t(outputs), std::int64_t(network_.layout().size())},
                             torch::TensorOptions(torch::kFloat).device(batches_.device()));
  }
  void start(const HostVector<float>& position) override {
    theta_ = tensor_view(position.data(), position.size()).to(batches_.device(), torch::kFloat, false, true);
  }
  void at(Part part, std::size_t point, std::span<double> outputs, std::span<double> jacobian) override {
    compute_on_one_thread();
    const auto row = std::uint32_t(point);
    const Batch batch = batches_.of(part, std::span(&row, 1));
    const Tensor made = network_.outputs_and_jacobian(batch.inputs, theta_, jacobian_);
    const auto put = [](const Tensor& from, std::span<double> to) {
      torch::from_blob(to.data(), {std::int64_t(to.size())}, torch::kDouble).copy_(from.reshape({-1}));
    };
    put(made, outputs);
    put(jacobian_, jacobian);
  }

 private:
  FlatNetwork network_;
  Batches batches_;
  Tensor theta_, jacobian_;
};

}  // namespace

std::unique_ptr<RowJacobians> TorchNetwork::row_jacobians() const {
  if (task_ == Task::multilabel) return nullptr;
  return std::make_unique<TorchJacobians>(workspace(), batches_, outputs_);
}

void compute_on_one_thread() {
  thread_local bool done = false;
  if (done) return;
  at::set_num_threads(1);
  use_blas_on_one_thread();
  done = true;
}

double value_and_gradient(FlatNetwork& network, const Batches& batches, Part part,
                          std::span<const std::uint32_t> rows, const Tensor& position, Tensor& gradient) {
  gradient.zero_();
  return sum_over(batches, part, rows, [&](const Batch& batch) {
    return network.add_gradient(batch.inputs, batch.targets, position, gradient);
  });
}

double value_of(FlatNetwork& network, const Batches& batches, Part part, std::span<const std::uint32_t> rows,
                const Tensor& position) {
  return sum_over(batches, part, rows, [&](const Batch& batch) {
    return network.log_likelihood(batch.inputs, batch.targets, position);
  });
}

std::unique_ptr<Likelihood<float>> likelihood_over(FlatNetwork network, Batches batches, Part part) {
  return std::make_unique<TorchLikelihood>(std::move(network), std::move(batches), part);
}

TorchNetwork::TorchNetwork(Maker make, Task task, Batches batches, std::size_t classes, bool augment,
                           std::string where)
    : make_(std::move(make)),
      task_(task),
      batches_(std::move(batches)),
      augment_(augment),
      where_(std::move(where)) {
  compute_on_one_thread();
  prototype_ = std::make_unique<FlatNetwork>(make_(), task_);
  // One row tells the shape of the outputs, and whether the module takes such rows at all.
  FlatNetwork probe = workspace();
  Tensor theta = torch::zeros({std::int64_t(layout().size())});
  probe.initialise({}, theta);
  // A network that drops units by chance gives the same numbers twice only if luck has it; eight times it
  // does not.
  constexpr int kRepeats = 8;
  Tensor out;
  std::vector<Tensor> again;
  try {
    const std::uint32_t first[] = {0}, two[] = {0, rows(Part::train) > 1 ? 1u : 0u};
    theta = theta.to(batches_.device());
    out = probe.outputs(batches_.of(Part::train, first).inputs, theta);
    for (int i = 0; i < kRepeats; ++i)
      again.push_back(probe.outputs(batches_.of(Part::train, two).inputs, theta));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(where_, "the network does not take these data: " + cause_of(error.what()),
                task_ == Task::multilabel ? "give a network for int64 tokens of a vocabulary of " +
                                                std::to_string(classes) + " characters"
                                          : "give data of the shape that it was made for");
  }
  outputs_ = std::size_t(out.size(-1));
  // What layers' names do not tell, such as dropout called as a function, the numbers do.
  const auto differs = [&](const Tensor& two) {
    return two.numel() == 2 * out.numel() &&
           !torch::allclose(two.reshape({2, -1})[0], out.reshape({-1}), 1e-3, 1e-4);
  };
  if (std::any_of(again.begin(), again.end(), differs))
    throw Error(where_, "the output for a row depends on the other rows of its batch, or on chance",
                "put the module into evaluation mode (eval()) before it is saved, or use other layers");
  const std::size_t wanted = task_ == Task::regression ? 2 : task_ == Task::mean_regression ? 1 : classes;
  if (outputs_ != wanted || out.numel() != std::int64_t(wanted * points_per_row()))
    throw Error(where_,
                "the network gives " + std::to_string(out.numel()) +
                    " numbers for a row, and the task needs " + std::to_string(wanted * points_per_row()),
                "let it end with an output for each class (token, mean)");
  for (const std::string& remark : prototype_->remarks()) remarks_.push_back(where_ + ": " + remark);
  if (task_ == Task::classification || task_ == Task::multilabel) look_for_probabilities(probe, theta);
}

/// Outputs are read as logits; a network that ends in a softmax gives numbers from 0 to 1 that sum to 1.
void TorchNetwork::look_for_probabilities(FlatNetwork& probe, const Tensor& theta) {
  constexpr std::uint32_t kRows = 16;
  std::vector<std::uint32_t> some(std::min<std::size_t>(rows(Part::train), kRows));
  std::iota(some.begin(), some.end(), 0u);
  const Tensor outputs = probe.outputs(batches_.of(Part::train, some).inputs, theta)
                             .reshape({-1, std::int64_t(outputs_)})
                             .to(torch::kCPU);
  const bool probable = outputs.min().item<double>() >= 0 &&
                        torch::allclose(outputs.sum(1), torch::ones({outputs.size(0)}), 1e-4, 1e-4);
  if (probable)
    remarks_.push_back(where_ +
                       ": its outputs are probabilities (not negative, and each row sums to 1), and they are "
                       "read as logits: "
                       "the likelihood is wrong; let the network end before its softmax");
}

FlatNetwork TorchNetwork::workspace(const FrozenParameters* frozen, const HostVector<float>& whole) const {
  FlatNetwork network(make_(), task_, frozen ? frozen->patterns() : std::vector<std::string>());
  if (frozen) network.hold(tensor_view(whole.data(), whole.size()));
  network.to(batches_.device(), torch::kFloat);
  return network;
}

std::unique_ptr<Likelihood<float>> TorchNetwork::likelihood(Part part) const {
  return likelihood_over(workspace(), batches_, part);
}

std::unique_ptr<Likelihood<float>> TorchNetwork::conditional_likelihood(
    Part part, std::shared_ptr<const FrozenParameters> frozen, const HostVector<float>& whole) const {
  return likelihood_over(workspace(frozen.get(), whole), batches_, part);
}

/// Measured with two and with four rows: activations grow by the same amount with each.
std::size_t TorchNetwork::workspace_bytes(std::size_t batch) const {
  if (rows(Part::train) == 0) return 0;
  compute_on_one_thread();
  FlatNetwork network = workspace();
  Tensor theta = torch::zeros({std::int64_t(layout().size())});
  network.initialise({}, theta);
  theta = theta.to(batches_.device());
  Tensor gradient = torch::zeros_like(theta);
  const auto evaluate = [&](std::size_t count) {
    const std::vector<std::uint32_t> chosen(count, 0);
    value_and_gradient(network, batches_, Part::train, chosen, theta, gradient);
  };
  const auto measured = [&](std::size_t count) {
    return double(peak_allocation(batches_.device(), [&] { evaluate(count); }));
  };
  try {
    evaluate(1);  // what is made once and kept; and the parameters' own memory is given up
  } catch (const std::exception& error) {
    throw Error(where_, "no gradient can be taken of the network: " + cause_of(error.what()),
                "let forward() be differentiable, without torch.no_grad() or detach()");
  }
  const double two = measured(2), four = measured(4);
  const double rows_at_once = double(std::min(batch, piece_rows(batches_)));
  return std::size_t(std::max(four, two + (four - two) / 2 * (rows_at_once - 2)));
}

std::optional<double> TorchNetwork::free_device_bytes() const {
  if (batches_.device().is_cpu()) return std::nullopt;
  return free_memory(batches_.device());
}

std::unique_ptr<Predictor> TorchNetwork::predictor() const {
  return std::make_unique<TorchPredictor>(workspace(), batches_);
}

void TorchNetwork::initialise(StreamKey key, HostVector<float>& position) const {
  if (position.size() != layout().size()) position.resize(layout().size());
  prototype_->initialise(key, tensor_view(position.data(), position.size()));
}

std::unique_ptr<Trainer> TorchNetwork::trainer(const OptimizerOptions& options, StreamKey key) const {
  return make_trainer(*this, options, key, augment_);
}

HostVector<float> TorchNetwork::parameters_of(const TorchModule& module, const std::string& where,
                                              const StreamKey* rest) const {
  HostVector<float> position(layout().size());
  if (rest != nullptr) initialise(*rest, position);
  std::vector<ParameterGroup> groups = layout().groups;
  if (task_ == Task::mean_regression) groups.pop_back();  // log σ is not the module's
  if (const auto differences = module_differences(groups, module, rest != nullptr); !differences.empty()) {
    std::string text;
    for (const std::string& difference : differences) text += (text.empty() ? "" : ", ") + difference;
    throw Error(where, "its tensors are not those of the network: " + text,
                rest != nullptr
                    ? "save a module in single precision with the network's names and shapes"
                    : "save a module of the same network in single precision, or write "
                      "training.warmstart.warmstart_subset: true to take what it shares with the network");
  }
  for (const ParameterGroup& group : groups) {
    const auto found = std::find_if(module.parameters.begin(), module.parameters.end(),
                                    [&](const auto& p) { return p.name == group.name; });
    if (found == module.parameters.end()) continue;  // of a subset
    const Tensor values = found->tensor.detach().to(torch::kCPU, torch::kFloat).reshape({-1});
    if (!torch::isfinite(values).all().item<bool>())
      throw Error(where, "the parameter " + group.name + " has a value that is not a number",
                  "train the network again, with a lower learning rate");
    tensor_view(position.data() + group.offset, group.size()).copy_(values);
  }
  return position;
}

}  // namespace smile::deep

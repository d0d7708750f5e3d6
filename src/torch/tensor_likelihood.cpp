#include "smile/torch/tensor_likelihood.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "smile/error.hpp"
#include "torch_network.hpp"

namespace smile {
namespace {

using torch::Tensor;

/// Rows whose activations are kept together.
constexpr std::int64_t kPieceRows = 128;

class TensorLikelihood final : public Likelihood<float> {
 public:
  TensorLikelihood(FlatNetwork network, Tensor inputs, Tensor targets)
      : network_(std::move(network)), inputs_(std::move(inputs)), targets_(std::move(targets)) {}

  const ParameterLayout& layout() const override { return network_.layout(); }
  std::size_t observations() const override { return std::size_t(inputs_.size(0)); }

  double log_likelihood_and_gradient(std::span<const std::uint32_t> rows, const HostVector<float>& position,
                                     HostVector<float>& gradient) override {
    if (gradient.size() != position.size()) gradient.resize(position.size());
    Tensor g = tensor_view(gradient.data(), gradient.size());
    g.zero_();
    const Tensor theta = tensor_view(position.data(), position.size());
    return sum_over(rows,
                    [&](const Tensor& x, const Tensor& y) { return network_.add_gradient(x, y, theta, g); });
  }
  double log_likelihood(std::span<const std::uint32_t> rows, const HostVector<float>& position) override {
    const Tensor theta = tensor_view(position.data(), position.size());
    return sum_over(rows,
                    [&](const Tensor& x, const Tensor& y) { return network_.log_likelihood(x, y, theta); });
  }

 private:
  template <class Term>
  double sum_over(std::span<const std::uint32_t> rows, const Term& term) {
    deep::compute_on_one_thread();
    const std::int64_t count = rows.empty() ? inputs_.size(0) : std::int64_t(rows.size());
    double sum = 0;
    for (std::int64_t first = 0; first < count; first += kPieceRows) {
      const std::int64_t size = std::min(kPieceRows, count - first);
      if (rows.empty()) {
        sum += term(inputs_.narrow(0, first, size), targets_.narrow(0, first, size));
        continue;
      }
      const auto piece = rows.subspan(std::size_t(first), std::size_t(size));
      const Tensor index = torch::empty({size}, torch::kLong);
      std::copy(piece.begin(), piece.end(), index.data_ptr<std::int64_t>());
      sum += term(inputs_.index_select(0, index), targets_.index_select(0, index));
    }
    return sum;
  }

  FlatNetwork network_;
  Tensor inputs_, targets_;
};

}  // namespace

std::unique_ptr<Likelihood<float>> make_tensor_likelihood(FlatNetwork network, Tensor inputs,
                                                          Tensor targets) {
  const auto refuse = [](const std::string& what, const std::string& mend) {
    throw Error("make_tensor_likelihood", what, mend);
  };
  if (!inputs.defined() || !targets.defined() || inputs.dim() == 0 || targets.dim() == 0 ||
      inputs.size(0) != targets.size(0) || inputs.size(0) == 0)
    refuse("inputs and targets are not as many", "give an observation in each row of both");
  if (!inputs.is_cpu() || !targets.is_cpu())
    refuse("the tensors are on a device, and vectors of the samplers are not", "move them with .cpu()");
  const bool labels = network.task() == Task::classification || network.task() == Task::multilabel;
  if (labels && targets.scalar_type() != torch::kLong)
    refuse("the labels are no integers", "give a tensor of int64 (.to(torch::kLong))");
  if (!labels) targets = targets.reshape({targets.size(0)}).to(torch::kFloat);
  return std::make_unique<TensorLikelihood>(std::move(network), std::move(inputs), std::move(targets));
}

}  // namespace smile

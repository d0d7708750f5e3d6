// SPDX-License-Identifier: Apache-2.0
// The native network's gradient against LibTorch's autograd on the same numbers: one thread each, in turns,
// the mini-batch's row selection included on both sides, results compared before anything is timed.
// LibTorch's own matrix product is timed too: below some 50 GFLOP/s (with AVX-512) its BLAS is a slow one and
// the comparison is not fair to it. Debian's LibTorch takes whatever libblas.so.3 is; with OpenBLAS set
// OPENBLAS_NUM_THREADS=1, and OPENBLAS_CORETYPE where it does not know the processor.
#include <torch/torch.h>

#include <cstdio>
#include <cstring>
#include <numbers>

#include "../fcn_problem.hpp"
#include "../fcn_timing.hpp"

namespace {

using namespace smile;
using bench::Candidate;
using bench::FcnProblem;

constexpr std::size_t kRows = 12165;

/// The same network as LibTorch's users write it: modules, autograd, gradients set to zero in place between
/// steps.
class TorchNetwork {
 public:
  explicit TorchNetwork(const FcnProblem& p) : problem_(p) {
    const auto rows = static_cast<std::int64_t>(p.rows);
    const auto inputs = static_cast<std::int64_t>(p.spec.inputs);
    const auto doubles = torch::TensorOptions(torch::kFloat64);
    features_ = torch::tensor(p.features, doubles).to(torch::kFloat32).view({rows, inputs}).contiguous();
    targets_ = torch::tensor(p.targets, doubles).to(torch::kFloat32);
    const std::vector<std::int64_t> indices(p.batches.begin(), p.batches.end());
    batches_ = torch::tensor(indices).view({static_cast<std::int64_t>(FcnProblem::kBatches), -1});
    std::int64_t width = inputs;
    std::size_t offset = 0;
    const auto copy_from = [&](torch::Tensor& to) {
      torch::NoGradGuard no_grad;
      std::memcpy(to.data_ptr<float>(), p.theta.data() + offset,
                  sizeof(float) * static_cast<std::size_t>(to.numel()));
      offset += static_cast<std::size_t>(to.numel());
      parameters_.push_back(to);
    };
    for (std::size_t outputs : p.spec.widths) {
      layers_.emplace_back(torch::nn::LinearOptions(width, static_cast<std::int64_t>(outputs)));
      copy_from(layers_.back()->weight);
      copy_from(layers_.back()->bias);
      width = static_cast<std::int64_t>(outputs);
    }
    log_sigma_ = torch::zeros({1}).requires_grad_();
    copy_from(log_sigma_);
  }

  /// Log-likelihood and, left in the parameters, its gradient, over batch `turn` or over all rows.
  torch::Tensor gradient(bool full, std::size_t turn) {
    for (torch::Tensor& parameter : parameters_)
      if (parameter.grad().defined()) parameter.mutable_grad().zero_();
    torch::Tensor x = features_, y = targets_;
    if (!full) {
      const torch::Tensor rows = batches_[static_cast<std::int64_t>(turn % FcnProblem::kBatches)];
      x = features_.index_select(0, rows);
      y = targets_.index_select(0, rows);
    }
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      x = layers_[l]->forward(x);
      if (l + 1 < layers_.size()) x = activate(x);
    }
    const torch::Tensor error = y - x.squeeze(1);
    const double half_log_two_pi = 0.5 * std::log(2 * std::numbers::pi);
    torch::Tensor value = (-0.5 * error.square().sum() * torch::exp(-2 * log_sigma_) -
                           static_cast<double>(y.size(0)) * (log_sigma_ + half_log_two_pi))
                              .sum();
    value.backward();
    return value;
  }

  std::vector<float> flat_gradient() const {
    std::vector<float> flat;
    for (const torch::Tensor& parameter : parameters_) {
      const torch::Tensor g = parameter.grad().contiguous();
      flat.insert(flat.end(), g.data_ptr<float>(), g.data_ptr<float>() + g.numel());
    }
    return flat;
  }

 private:
  torch::Tensor activate(const torch::Tensor& x) const {
    switch (problem_.spec.activation) {
      case Activation::tanh:
        return torch::tanh(x);
      case Activation::gelu:
        return torch::gelu(x);
      default:
        return torch::relu(x);
    }
  }
  const FcnProblem& problem_;
  torch::Tensor features_, targets_, batches_, log_sigma_;
  std::vector<torch::nn::Linear> layers_;
  std::vector<torch::Tensor> parameters_;
};

struct Running {
  FcnProblem problem;
  Fcn<float> network;
  TorchNetwork torch_network;
  HostVector<float> gradient;
  std::size_t turn = 0, torch_turn = 0;
  explicit Running(FcnProblem p)
      : problem(std::move(p)),
        network(problem.spec, problem.data),
        torch_network(problem),
        gradient(problem.theta.size()) {}

  double native(bool full) {
    return network.log_likelihood_and_gradient(
        full ? std::span<const std::uint32_t>{} : problem.batch(turn++), problem.theta, gradient);
  }

  /// Relative L2 distance of the two gradients.
  double disagreement(bool full) {
    turn = 0;
    native(full);
    torch_network.gradient(full, 0);
    const std::vector<float> other = torch_network.flat_gradient();
    double difference = 0, norm = 0;
    for (std::size_t i = 0; i < other.size(); ++i) {
      difference += std::pow(static_cast<double>(gradient[i]) - static_cast<double>(other[i]), 2);
      norm += std::pow(static_cast<double>(other[i]), 2);
    }
    return std::sqrt(difference / norm);
  }
};

}  // namespace

int main(int argc, char** argv) {
  torch::set_num_threads(1);
  bench::Report report(argc, argv);
  struct Named {
    std::string name;
    std::vector<std::size_t> widths;
    Activation activation;
    std::string bound_batch, bound_full;
  };
  const std::vector<Named> networks = {
      {"12-16-16-16-1 relu", {16, 16, 16, 1}, Activation::relu, ">= 30", ">= 8"},
      {"12-16-16-16-1 tanh", {16, 16, 16, 1}, Activation::tanh, "", ""},
      {"12-16-16-16-1 gelu", {16, 16, 16, 1}, Activation::gelu, "", ""},
      {"12-64-64-64-1 relu", {64, 64, 64, 1}, Activation::relu, "", ""},
  };
  std::vector<std::unique_ptr<Running>> running;
  std::vector<Candidate> candidates;
  bool agree = true;
  for (const Named& named : networks) {
    FcnSpec spec;
    spec.inputs = 12;
    spec.widths = named.widths;
    spec.activation = named.activation;
    running.push_back(std::make_unique<Running>(bench::fcn_problem(spec, kRows)));
    Running* r = running.back().get();
    for (const bool full : {false, true}) {
      const std::string size = full ? ", 12165 rows" : ", 256 rows";
      const double disagreement = r->disagreement(full);
      agree = agree && disagreement <= 1e-5;
      report.number("disagreement " + named.name + size, disagreement, "<= 1e-5");
      const double flops =
          6 * r->problem.multiply_adds() * static_cast<double>(full ? kRows : FcnProblem::kBatchRows);
      candidates.push_back({"native " + named.name + size, [r, full] { r->native(full); }, flops});
      candidates.push_back({"LibTorch " + named.name + size,
                            [r, full] { r->torch_network.gradient(full, r->torch_turn++); }, flops});
    }
  }
  const torch::Tensor square = torch::randn({512, 512});
  candidates.push_back(
      {"LibTorch matrix product, 512^3", [square] { torch::mm(square, square); }, 2.0 * 512 * 512 * 512});
  if (!agree) {
    fmt::print(stderr, "the two engines disagree; nothing was timed\n");
    return 1;
  }
  bench::run_rounds(candidates, 40, 0.003);
  for (const Candidate& candidate : candidates) report.candidate(candidate);
  for (std::size_t n = 0; n < networks.size(); ++n)
    for (std::size_t form : {0, 1})
      report.number("LibTorch / " + candidates[4 * n + 2 * form].name,
                    bench::paired_ratio(candidates[4 * n + 2 * form + 1], candidates[4 * n + 2 * form]),
                    form ? networks[n].bound_full : networks[n].bound_batch);
  return report.finish() ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// A network of one's own in LibTorch, trained by its own loop, then sampled: four chains of psmile-auto
// around the trained weights.   03_torch_module TABLE.data FOLDER
//
// The last column of the table is the target; every fifth row is kept for the test.
#include <torch/torch.h>

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include "smile/data/table.hpp"
#include "smile/ensemble/ensemble_runner.hpp"
#include "smile/error.hpp"
#include "smile/files/npy.hpp"
#include "smile/samplers/microcanonical.hpp"
#include "smile/targets/posterior.hpp"
#include "smile/torch/tensor_likelihood.hpp"

using smile::ChainVector;
using torch::Tensor;

constexpr std::uint64_t kSeed = 1;

// Two outputs a row: mean and log σ.
struct Residual : torch::nn::Module {
  explicit Residual(std::int64_t features) {
    enter = register_module("enter", torch::nn::Linear(features, 24));
    middle = register_module("middle", torch::nn::Linear(24, 24));
    leave = register_module("leave", torch::nn::Linear(24, 2));
  }
  Tensor forward(const Tensor& x) {
    const Tensor h = torch::gelu(enter->forward(x));
    return leave->forward(h + torch::gelu(middle->forward(h)));
  }
  torch::nn::Linear enter{nullptr}, middle{nullptr}, leave{nullptr};
};

// Gradient ascent of the log-likelihood, until the network is good enough to start from.
void train(smile::FlatNetwork& network, const Tensor& x, const Tensor& y, Tensor theta) {
  torch::optim::Adam optimizer({theta}, torch::optim::AdamOptions(3e-3));
  for (int epoch = 0; epoch < 60; ++epoch) {
    const Tensor order = torch::randperm(x.size(0));
    for (std::int64_t first = 0; first + 32 <= x.size(0); first += 32) {
      const Tensor rows = order.narrow(0, first, 32);
      Tensor gradient = torch::zeros_like(theta);
      network.add_gradient(x.index_select(0, rows), y.index_select(0, rows), theta, gradient);
      theta.mutable_grad() = -gradient / 32;
      optimizer.step();
    }
  }
}

int main(int argc, char** argv) try {
  if (argc != 3) return std::fprintf(stderr, "usage: 03_torch_module TABLE.data FOLDER\n"), 2;
  torch::manual_seed(kSeed);
  const smile::Table table = smile::read_table(argv[1]);
  const auto rows = std::int64_t(table.rows), columns = std::int64_t(table.columns);
  Tensor all = torch::tensor(table.values, torch::kDouble).view({rows, columns});
  const Tensor test = torch::arange(0, rows, 5),
               is_test = torch::zeros({rows}, torch::kBool).index_fill(0, test, true);
  const Tensor known = all.index({~is_test});
  all = ((all - known.mean(0)) / known.std(0)).to(torch::kFloat);
  const Tensor x = all.index({~is_test}).narrow(1, 0, columns - 1).contiguous(),
               y = all.index({~is_test}).select(1, columns - 1);
  const Tensor x_test = all.index({is_test}).narrow(1, 0, columns - 1),
               y_test = all.index({is_test}).select(1, columns - 1);

  // A module is not shared: each chain has its own, over the same tensors.
  const auto make = [&] {
    return smile::FlatNetwork(smile::torch_module(std::make_shared<Residual>(columns - 1)),
                              smile::Task::regression);
  };
  smile::FlatNetwork network = make();
  const std::size_t d = network.layout().size(), n = std::size_t(x.size(0));
  std::vector<ChainVector> members;
  for (std::uint32_t chain = 0; chain < 4; ++chain) {
    Tensor theta = smile::tensor_view(members.emplace_back(d).data(), d);
    network.initialise({kSeed, chain, smile::Purpose::initialisation}, theta);
    train(network, x, y, theta);
  }

  smile::EnsembleOptions options;
  options.directory = argv[2];
  options.chains = {0, 1, 2, 3};
  options.seed = kSeed;
  options.thinning = 20;
  options.threads = 2;
  std::filesystem::create_directories(options.directory);
  const auto prior = smile::make_prior("StandardNormal", {}, network.layout());
  smile::run_ensemble(options, [&](std::uint32_t chain) {
    smile::MicrocanonicalOptions psmile_auto;
    psmile_auto.preconditioner.emplace();
    psmile_auto.rule = smile::StepSizeRule::turn;
    psmile_auto.tuner.reset_prob = 0.999;
    psmile_auto.tuner.adaption_prob = 0;
    smile::ChainSetup setup;
    setup.target = std::make_unique<smile::MinibatchPosterior<float>>(
        smile::make_tensor_likelihood(make(), x, y), prior,
        smile::BatchOrder(n, 64, smile::BatchMode::even, {kSeed, chain, smile::Purpose::batches}));
    setup.sampler = std::make_unique<smile::MicrocanonicalSampler<ChainVector>>(
        psmile_auto, smile::SamplingPlan{.warmup_steps = 1'000, .sampling_steps = 2'000});
    setup.start = members[chain];
    return setup;
  });

  // The mixture of all draws, and of the members alone, on the test rows.
  const auto score = [&](const char* name, const std::vector<Tensor>& positions) {
    std::vector<Tensor> means, densities;
    for (const Tensor& theta : positions) {
      const Tensor out = network.outputs(x_test, theta), mean = out.select(1, 0),
                   log_sigma = out.select(1, 1);
      means.push_back(mean);
      densities.push_back(-0.5 * ((y_test - mean) / log_sigma.exp()).square() - log_sigma -
                          0.5 * std::log(2 * M_PI));
    }
    const double count = double(positions.size());
    const Tensor mean = torch::stack(means).mean(0),
                 lppd = torch::logsumexp(torch::stack(densities), 0) - std::log(count);
    std::printf("%-14s %5.0f networks   RMSE %.4f   LPPD %.4f\n", name, count,
                std::sqrt((mean - y_test).square().mean().item<double>()), lppd.mean().item<double>());
  };
  std::vector<Tensor> started, drawn;
  for (const auto& member : members) started.push_back(smile::tensor_view(member.data(), d));
  for (std::uint32_t chain = 0; chain < 4; ++chain) {
    const smile::NpyRows draws(smile::draws_path(options.directory, chain));
    for (std::size_t s = 0; s < draws.rows(); ++s)
      drawn.push_back(smile::tensor_view(draws.row(s).data(), d).clone());
  }
  score("deep ensemble", started);
  score("psmile-auto", drawn);
} catch (const smile::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return error.exit_status();
}

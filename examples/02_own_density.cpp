// SPDX-License-Identifier: Apache-2.0
// Data and a density of one's own: the rates of a Poisson regression, sampled with mini-batches by several
// chains into NumPy files.   02_own_density COUNTS.csv FOLDER
//
// The table has the columns x1 … xp and count; count ~ Poisson(exp(w0 + w·x)), w ~ Normal(0, 1).
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
#include "smile/statistics/convergence.hpp"
#include "smile/targets/batch_order.hpp"

using smile::ChainVector;

constexpr std::uint64_t kSeed = 1;

// One object a chain, over the shared table. The gradient of batch t is scaled to all rows: N/B times its
// sum.
class PoissonRegression : public smile::Target<ChainVector> {
 public:
  PoissonRegression(const smile::Table& table, std::uint32_t chain)
      : table_(table),
        batches_(table.rows, 64, smile::BatchMode::even, {kSeed, chain, smile::Purpose::batches}) {}

  std::size_t dimension() const override { return table_.columns; }  // the intercept and a weight a feature

  Scalar log_density_and_gradient(const ChainVector& w, ChainVector& gradient, std::uint64_t step) override {
    double value = 0;
    std::vector<double> slope(w.size());
    const auto rows = batches_.rows(step);
    const double scale = double(table_.rows) / double(rows.size());
    for (const std::uint32_t i : rows) {
      double rate = double(w[0]);
      for (std::size_t j = 1; j < w.size(); ++j) rate += double(w[j]) * table_.at(i, j - 1);
      const double count = table_.at(i, table_.columns - 1), excess = count - std::exp(rate);
      value += scale * (count * rate - std::exp(rate));
      slope[0] += scale * excess;
      for (std::size_t j = 1; j < w.size(); ++j) slope[j] += scale * excess * table_.at(i, j - 1);
    }
    for (std::size_t j = 0; j < w.size(); ++j) {  // the prior, once and whole
      value -= 0.5 * double(w[j]) * double(w[j]);
      gradient[j] = float(slope[j] - double(w[j]));
    }
    return value;
  }

 private:
  const smile::Table& table_;
  smile::BatchOrder batches_;
};

int main(int argc, char** argv) try {
  if (argc != 3) return std::fprintf(stderr, "usage: 02_own_density COUNTS.csv FOLDER\n"), 2;
  const smile::Table table = smile::read_table(argv[1]);

  smile::EnsembleOptions options;
  options.directory = argv[2];
  options.chains = {0, 1, 2, 3};
  options.seed = kSeed;
  options.thinning = 10;
  options.threads = 2;
  std::filesystem::create_directories(options.directory);
  const auto records = smile::run_ensemble(options, [&](std::uint32_t chain) {
    smile::ChainSetup setup;
    setup.target = std::make_unique<PoissonRegression>(table, chain);
    smile::MicrocanonicalOptions sampler;  // a fixed step; smile::StepSizeRule::turn would find it
    sampler.rule = smile::StepSizeRule::fixed;
    sampler.guardrail = false;
    sampler.step_size = 0.02;
    setup.sampler = std::make_unique<smile::MicrocanonicalSampler<ChainVector>>(
        sampler, smile::SamplingPlan{.warmup_steps = 5'000, .sampling_steps = 40'000});
    setup.start = ChainVector(table.columns);
    return setup;
  });

  std::printf("weight    mean      sd   R-hat  bulk ESS\n");
  for (std::size_t j = 0; j < table.columns; ++j) {
    std::vector<double> draws;
    double sum = 0, squares = 0;
    for (const auto& record : records) {
      const smile::NpyRows rows(smile::draws_path(options.directory, record.chain));
      for (std::size_t s = 0; s < rows.rows(); ++s) {
        draws.push_back(double(rows.row(s)[j]));
        sum += draws.back();
        squares += draws.back() * draws.back();
      }
    }
    const double n = double(draws.size()), mean = sum / n;
    const smile::Convergence found = smile::convergence(draws, records.size());
    std::printf("%6zu  %6.3f  %6.3f  %6.3f  %8.0f\n", j, mean, std::sqrt(squares / n - mean * mean),
                found.rhat, found.ess_bulk);
  }
} catch (const smile::Error& error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return error.exit_status();
}

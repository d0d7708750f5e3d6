// SPDX-License-Identifier: Apache-2.0
// `smile predict` against the forward passes that it makes, in one process: rows × draws a second of each.
// The goal is a share of 0.65: reading, sorting, quantiles, moments and writing at half the cost of the
// passes.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "experiment/draws.hpp"
#include "experiment/stored_run.hpp"
#include "fcn_timing.hpp"
#include "smile/config/config.hpp"
#include "smile/data/dataset.hpp"
#include "smile/deliver/predict.hpp"
#include "smile/experiment/pipeline.hpp"

namespace {

using namespace smile;
namespace fs = std::filesystem;

constexpr std::size_t kRows = 4000, kFeatures = 11;

void write_table(const fs::path& path, std::size_t rows, bool target) {
  std::ofstream out(path);
  for (std::size_t j = 0; j < kFeatures; ++j) out << (j ? "," : "") << "x" << j;
  out << (target ? ",y\n" : "\n");
  std::uint64_t state = 1;
  const auto uniform = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return double(state >> 11) * 0x1p-53;
  };
  for (std::size_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < kFeatures; ++j) {
      const double x = uniform();
      sum += x * double(j % 3) + uniform() * 0.1;
      out << (j ? "," : "") << fmt::format("{:.6g}", x);
    }
    if (target) out << fmt::format(",{:.6g}", sum);
    out << '\n';
  }
}

/// 8 chains of 1,000 draws.
fs::path make_run(const fs::path& folder, const std::string& task) {
  const fs::path table = folder / (task + ".csv"), file = folder / (task + ".yaml"), run = folder / task;
  write_table(table, 2000, true);
  std::ofstream(file) << "data: {path: " << table.string() << ", task: " << task << "}\n"
                      << "training:\n  warmstart: {max_epochs: 20}\n"
                      << "  sampler: {n_chains: 8, warmup_steps: 200, n_samples: 1000, n_thinning: 1}\n";
  RunOptions options;
  options.out = run.string();
  run_experiment(load_config(file.string()), options);
  return run;
}

/// The forward passes alone, for the same rows in blocks of the same size, on one thread.
double bare_passes(const fs::path& run, const fs::path& rows, std::size_t block_rows) {
  const experiment::StoredRun stored = experiment::open_stored_run(run, false);
  PredictionReader reader(rows, {}, stored.experiment.info);
  std::vector<std::shared_ptr<const Network>> networks;
  for (PredictionRows block; reader.next(block_rows, block);)
    networks.push_back(experiment::network_over(stored.experiment, block));
  std::vector<HostVector<float>> draws;
  for (const auto& chain : stored.chains)
    for (std::size_t i = 0; i < chain.count; ++i) {
      draws.emplace_back(stored.experiment.dimension());
      chain.read(i, draws.back().span());
    }
  double seconds = 0;
  for (const auto& network : networks) {
    const auto predictor = network->predictor();
    std::vector<float> outputs(network->points(Part::test) * network->outputs());
    const double start = bench::cpu_seconds();
    for (const auto& draw : draws) predictor->predict(Part::test, draw, outputs);
    seconds += bench::cpu_seconds() - start;
  }
  return seconds;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Report report(argc, argv);
  const fs::path folder = fs::temp_directory_path() / "smile-bench-predict";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const fs::path rows = folder / "new.csv";
  write_table(rows, kRows, false);
  for (const std::string task : {"mean_regr", "regr"}) {
    const fs::path run = make_run(folder, task);
    PredictOptions options;
    options.data = rows.string();
    options.out = (folder / "predictions.csv").string();
    options.threads = 1;
    bench::Candidate shares;
    double work = 0;
    for (int round = 0; round < 5; ++round) {
      const double passes = bare_passes(run, rows, 512), start = bench::cpu_seconds();
      predict_run(run.string(), options);
      const double all = bench::cpu_seconds() - start;
      shares.seconds.push_back(passes / all);
      work = all;
      if (round == 0)
        report.number(task + ": bare passes, million rows × draws a second", kRows * 8000 / passes / 1e6);
    }
    report.number(task + ": predict, million rows × draws a second", kRows * 8000 / work / 1e6);
    report.number(task + ": share of the bare passes' rate", shares.median());
  }
  fs::remove_all(folder);
  return report.finish() ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
// The plan of a run: what it will need, known before anything is written.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

#include "experiment/experiment.hpp"
#include "smile/experiment/estimate.hpp"

namespace smile {
namespace experiment {
namespace {

double data_bytes(const Experiment& e) {
  const DatasetInfo& info = e.info;
  const double rows = double(info.train_rows.size() + info.valid_rows.size() + info.test_rows.size());
  if (info.text) return double(info.text->test_end) * sizeof(std::uint32_t);
  if (info.image && !e.is_native()) return rows * double(info.image->size());
  constexpr double kBytesPerCell = 8 + 2 * 4;  // the table, and the engine's two forms of it
  return rows * (double(std::max(e.spec.inputs, info.inputs())) + 1) * kBytesPerCell;
}

/// Rows of the larger of the two kinds of mini-batch.
std::size_t batch_rows(const Experiment& e) {
  const auto rows = [&](const auto& batch, bool used) {
    return !used ? 0 : batch ? std::min(e.observations(), std::size_t(*batch)) : e.observations();
  };
  const SamplerConfig& sampler = e.config.training.sampler;
  const WarmstartConfig& warmstart = e.config.training.warmstart;
  return std::max(rows(sampler.is_stochastic() ? sampler.batch_size : std::nullopt, true),
                  rows(warmstart.member.batch_size, warmstart.trains()));
}

/// Seconds of a gradient by row of the sampler's mini-batches, on this thread: of batches that grow until a
/// fifth of a second is spent, the largest.
std::optional<double> measured_seconds_per_row(const Experiment& e) {
  if (!e.prior) return std::nullopt;  // follows from members that there are none of yet
  using Clock = std::chrono::steady_clock;
  constexpr double kBudget = 0.2;
  const SamplerConfig& sampler = e.config.training.sampler;
  const std::size_t most =
      sampler.is_stochastic() && sampler.batch_size ? std::size_t(*sampler.batch_size) : e.observations();
  HostVector<float> position, gradient(e.network->layout().size());
  e.network->initialise({e.seed(), 0, Purpose::initialisation}, position);
  const auto likelihood = e.network->likelihood(Part::train);
  const auto begin = Clock::now();
  const auto seconds = [](Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  };
  double per_row = 0;
  for (std::size_t rows = 1;; rows = std::min(most, 2 * rows)) {
    BatchOrder order = e.network->batches(std::min(rows, e.observations()), BatchMode::even,
                                          {e.seed(), 0, Purpose::diagnostics});
    const auto batch = order.rows(1);
    double least = std::numeric_limits<double>::infinity();
    for (int repeat = 0; repeat < 5 && (repeat < 2 || seconds(begin) < kBudget); ++repeat) {
      const auto start = Clock::now();
      likelihood->log_likelihood_and_gradient(batch, position, gradient);
      least = std::min(least, seconds(start));
    }
    per_row = least / double(order.size(1));
    if (rows >= most || seconds(begin) > kBudget) return per_row;
  }
}

}  // namespace

RunEstimate estimate_of(const Experiment& e, int threads, Rate rate) {
  RunSize size{.dimension = e.dimension(), .training_rows = e.observations(), .data_bytes = data_bytes(e)};
  if (e.is_native()) {
    for (const ParameterGroup& group : e.layout.groups)
      if (group.kind == ParameterKind::weight) size.flops_per_row += 6 * double(group.size());
  }
  size.workspace_bytes = double(e.network->workspace_bytes(batch_rows(e)));
  size.device_bytes = e.network->free_device_bytes();
  if (rate == Rate::measured) size.seconds_per_row = measured_seconds_per_row(e);
  size.outputs_of_draw = double(e.test.rows) * double(e.outputs());
  RunOptions options;
  options.threads = threads;
  return estimate_run(e.config, size, int(thread_count(e, options, e.chains())));
}

}  // namespace experiment

namespace {

/// Batches an epoch from which residual heat of 15 to 25 % is to be expected (spec 06, 6.3).
constexpr std::size_t kManyBatches = 100;

/// What is known beforehand of how well the posterior will be sampled.
std::vector<std::string> remarks_on_posterior(const experiment::Experiment& e) {
  std::vector<std::string> remarks;
  const SamplerConfig& sampler = e.config.training.sampler;
  if (sampler.prior_config.is_standard() && e.dimension() > e.observations())
    remarks.push_back(fmt::format(
        "{} parameters under the prior N(0, 1) and {} training rows: chains may leave the neighbourhood of "
        "the "
        "trained networks; training.sampler.prior_config.name: WarmStart (or He) keeps them there",
        e.dimension(), e.observations()));
  const std::size_t batches = batches_per_epoch(sampler, e.observations());
  if (sampler.turns() && batches > kManyBatches)
    remarks.push_back(
        fmt::format("{} batches an epoch: draws will be some 15 to 25 % too wide (more than {}); a larger "
                    "batch_size mends "
                    "it",
                    batches, kManyBatches));
  return remarks;
}

}  // namespace

CheckedRun check_run(const Config& config, int threads) {
  const experiment::Experiment e = experiment::prepare(config);
  std::vector<std::string> warnings = e.warnings;
  for (std::string& remark : remarks_on_posterior(e)) warnings.push_back(std::move(remark));
  return {e.config, e.info, experiment::estimate_of(e, threads, experiment::Rate::measured),
          std::move(warnings)};
}

}  // namespace smile

// The plan of a run: what it will need, known before anything is written.
#include <algorithm>
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

}  // namespace

RunEstimate estimate_of(const Experiment& e, int threads) {
  RunSize size{.dimension = e.dimension(), .training_rows = e.observations(), .data_bytes = data_bytes(e)};
  if (e.is_native()) {
    for (const ParameterGroup& group : e.layout.groups)
      if (group.kind == ParameterKind::weight) size.flops_per_row += 6 * double(group.size());
  }
  size.workspace_bytes = double(e.network->workspace_bytes(batch_rows(e)));
  size.device_bytes = e.network->free_device_bytes();
  size.outputs_of_draw = double(e.test.rows) * double(e.outputs());
  RunOptions options;
  options.threads = threads;
  return estimate_run(e.config, size, int(thread_count(e, options, e.chains())));
}

}  // namespace experiment

CheckedRun check_run(const Config& config, int threads) {
  const experiment::Experiment e = experiment::prepare(config);
  return {e.config, e.info, experiment::estimate_of(e, threads), e.warnings};
}

}  // namespace smile

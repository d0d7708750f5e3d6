// The plan of a run: what it will need, known before anything is written.
#include "experiment/experiment.hpp"
#include "smile/experiment/estimate.hpp"

namespace smile {
namespace experiment {
namespace {

double data_bytes(const Experiment& e) {
  const DatasetInfo& info = e.info;
  const double rows = double(info.train_rows.size() + info.valid_rows.size() + info.test_rows.size());
  if (info.text) return double(info.text->test_end) * sizeof(std::uint32_t);
  if (info.image && !e.is_native())
    return rows * double(info.image->channels * info.image->height * info.image->width);
  constexpr double kBytesPerCell = 8 + 2 * 4;  // the table, and the engine's two forms of it
  return rows * (double(e.spec.inputs) + 1) * kBytesPerCell;
}

}  // namespace

RunEstimate estimate_of(const Experiment& e, int threads) {
  RunSize size{.dimension = e.dimension(), .training_rows = e.observations(), .data_bytes = data_bytes(e)};
  if (e.is_native()) {
    for (const ParameterGroup& group : e.layout.groups)
      if (group.kind == ParameterKind::weight) size.flops_per_row += 6 * double(group.size());
  }
  size.outputs_of_draw = double(e.test.rows) * double(e.outputs());
  RunOptions options;
  options.threads = threads;
  return estimate_run(e.config, size, int(thread_count(options, e.chains())));
}

}  // namespace experiment

CheckedRun check_run(const Config& config, int threads) {
  const experiment::Experiment e = experiment::prepare(config);
  return {e.config, e.info, experiment::estimate_of(e, threads), e.warnings};
}

}  // namespace smile

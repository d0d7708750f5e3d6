// SPDX-License-Identifier: Apache-2.0
#include "smile/deliver/fitted_run.hpp"

#include <limits>

#include "deliver/prediction_source.hpp"
#include "deliver/prediction_writer.hpp"
#include "deliver/row_predictor.hpp"
#include "evaluation/row_predictive.hpp"
#include "experiment/draws.hpp"
#include "experiment/stored_run.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using experiment::Experiment;
using experiment::StoredRun;

class ArrayWriter final : public experiment::PredictionWriter {
 public:
  ArrayWriter(RowPredictions& out, bool labels) : out_(out), labels_(labels) {}
  void add(const experiment::PredictionLine& line) override {
    out_.numbers.insert(out_.numbers.end(), line.numbers.begin(), line.numbers.end());
    if (labels_) out_.labels.push_back(std::uint32_t(line.label));
    ++out_.rows;
  }
  void finish() override {}

 private:
  RowPredictions& out_;
  const bool labels_;
};

PredictionRows all_rows(const Experiment& e, std::shared_ptr<const Table> table) {
  PredictionReader reader(std::move(table), e.config.data.table.missing, e.info);
  PredictionRows rows;
  reader.next(std::numeric_limits<std::size_t>::max(), rows);
  return rows;
}

std::size_t threads_for(const Experiment& e, int threads) {
  RunOptions options;
  options.threads = threads;
  return experiment::thread_count(e, options, 64);
}

}  // namespace

struct FittedRun::State {
  StoredRun run;
};

FittedRun::FittedRun(const std::string& directory, bool incomplete)
    : state_(std::make_unique<State>(State{experiment::open_stored_run(directory, incomplete)})) {
  if (config().data.data_type != DataKind::tabular)
    throw Error(directory, "the run is of images or text, and rows of tables are predicted here",
                "use smile predict or smile generate");
  experiment::require_predictable(state_->run);
}
FittedRun::FittedRun(FittedRun&&) noexcept = default;
FittedRun::~FittedRun() = default;

const Config& FittedRun::config() const {
  return state_->run.experiment.config;
}
const DatasetInfo& FittedRun::info() const {
  return state_->run.experiment.info;
}
const ParameterLayout& FittedRun::layout() const {
  return state_->run.experiment.layout;
}
const std::vector<std::string>& FittedRun::remarks() const {
  return state_->run.remarks;
}
std::size_t FittedRun::chains() const {
  return state_->run.chains.size();
}
std::uint32_t FittedRun::number(std::size_t k) const {
  return state_->run.chains[k].chain;
}
std::size_t FittedRun::draws(std::size_t k) const {
  return state_->run.chains[k].count;
}
std::size_t FittedRun::first_draw(std::size_t k) const {
  return state_->run.chains[k].first;
}
void FittedRun::read(std::size_t k, std::size_t draw, std::span<float> out) const {
  state_->run.chains[k].read(draw, out);
}

std::vector<DrawRow> FittedRun::statistics(std::size_t k) const {
  const fs::path path = draws_trace_path(state_->run.path, number(k));
  std::vector<DrawRow> rows;
  if (!fs::exists(path)) return rows;
  RowReader<DrawRow> reader(path);
  for (DrawRow row; reader.next(row);) rows.push_back(row);
  return rows;
}

RowPredictions FittedRun::predict(std::shared_ptr<const Table> table, const std::vector<double>& quantiles,
                                  int threads, const std::atomic<bool>* stop) const {
  const StoredRun& run = state_->run;
  experiment::check_quantiles(quantiles, "quantiles");
  const auto source = experiment::open_prediction_source(run.experiment, std::move(table));
  const auto predictor =
      experiment::make_row_predictor(run, threads_for(run.experiment, threads), stop, quantiles);
  RowPredictions out;
  out.columns = predictor->columns().numbers;
  ArrayWriter writer(out, !run.experiment.is_regression());
  out.scores = experiment::predict_all(*source, *predictor, writer, {}, "rows").scores;
  return out;
}

DrawPredictions FittedRun::predict_draws(std::shared_ptr<const Table> table, int threads,
                                         const std::atomic<bool>* stop) const {
  const StoredRun& run = state_->run;
  const Experiment& e = run.experiment;
  const PredictionRows rows = all_rows(e, std::move(table));
  const auto network = experiment::network_over(e, rows);
  DrawPredictions out;
  out.rows = rows.rows;
  out.draws = run.draws();
  out.width = e.is_regression() ? 1 : e.info.labels.classes();
  out.values.resize(out.draws * out.rows * out.width);
  if (e.is_regression()) out.sds.resize(out.draws * out.rows);
  const ColumnScaling& scale = e.info.normalisation;
  RowPredictive reader(e.config.task(), e.is_regression() ? 1 : out.width);
  std::size_t place = 0;
  const auto take = [&](std::size_t, std::size_t, std::span<const float> position,
                        std::span<const float> outputs) {
    for (std::size_t i = 0; i < out.rows; ++i, ++place) {
      if (e.is_regression()) {
        const RowPredictive::Normal normal = reader.normal(outputs, i, position);
        out.values[place] = float(scale.original_target(normal.mean));
        out.sds[place] = float(normal.sigma() * scale.target_sd);
      } else {
        const auto probabilities = reader.probabilities(outputs, i);
        for (std::size_t c = 0; c < out.width; ++c)
          out.values[place * out.width + c] = float(probabilities[c]);
      }
    }
  };
  const bool all = experiment::for_each_prediction(
      *network, Part::test, run.chains, threads_for(e, threads), take,
      [stop](std::size_t) { return !(stop && stop->load()); },
      experiment::complete_draws(e, *network, run.path));
  if (!all) throw Error(run.path.string(), "stopped before the last draw", "start it again", ErrorKind::run);
  return out;
}

std::vector<double> FittedRun::targets(std::shared_ptr<const Table> table) const {
  const Experiment& e = state_->run.experiment;
  std::vector<double> targets = all_rows(e, std::move(table)).targets;
  if (e.is_regression())
    for (double& target : targets) target = e.info.normalisation.original_target(target);
  return targets;
}

}  // namespace smile

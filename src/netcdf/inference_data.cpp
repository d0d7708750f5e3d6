// SPDX-License-Identifier: Apache-2.0
/// A run as ArviZ's InferenceData.
#include "smile/netcdf/inference_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "deliver/export_draws.hpp"
#include "evaluation/row_predictive.hpp"
#include "experiment/draws.hpp"
#include "netcdf/netcdf_file.hpp"
#include "run/provenance.hpp"
#include "smile/config/options.hpp"
#include "smile/ensemble/chain_files.hpp"
#include "smile/ensemble/parallel.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using experiment::Experiment;
using experiment::ExportDraws;
using netcdf::Dimension;
using netcdf::File;
using netcdf::Group;
using netcdf::Type;
using netcdf::Variable;

/// A group with the dimensions chain and draw.
struct DrawsGroup {
  Group group;
  Dimension chain, draw;
};

void describe(const Group& group, const std::string& version) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char time[64];
  time[std::strftime(time, sizeof time, "%Y-%m-%dT%H:%M:%S+00:00", &parts)] = '\0';
  group.attribute("created_at", time);
  group.attribute("inference_library", "smile.cpp");
  group.attribute("inference_library_version", version);
}

DrawsGroup draws_group(const File& file, const char* name, const ExportDraws& draws,
                       const std::string& version) {
  const Group group = file.group(name);
  describe(group, version);
  std::vector<std::int64_t> chains, places;
  for (std::size_t k = 0; k < draws.chains(); ++k) chains.push_back(draws.number(k));
  for (std::size_t s = 0; s < draws.draws(); ++s) places.push_back(std::int64_t(draws.place(s)));
  return {group, group.coordinate("chain", chains), group.coordinate("draw", places)};
}

/// The variables of the network's tensors; a single value has no dimension of its own.
std::vector<Variable> tensor_variables(const DrawsGroup& group, const ParameterLayout& layout) {
  std::vector<Variable> variables;
  for (const ParameterGroup& tensor : layout.groups) {
    std::vector<Dimension> dimensions{group.chain, group.draw};
    if (tensor.size() > 1)
      for (std::size_t axis = 0; axis < tensor.shape.size(); ++axis) {
        std::vector<std::int64_t> index(tensor.shape[axis]);
        std::iota(index.begin(), index.end(), 0);
        dimensions.push_back(group.group.coordinate(fmt::format("{}_dim_{}", tensor.name, axis), index));
      }
    variables.push_back(group.group.variable(tensor.name, Type::float32, dimensions));
  }
  return variables;
}

void put_tensors(const std::vector<Variable>& variables, const ParameterLayout& layout, std::size_t chain,
                 std::size_t first, std::size_t count, std::span<const float> draws) {
  std::vector<float> part;
  for (std::size_t g = 0; g < variables.size(); ++g) {
    const ParameterGroup& tensor = layout.groups[g];
    const std::size_t size = tensor.size();
    part.resize(count * size);
    for (std::size_t i = 0; i < count; ++i) {
      const auto from = draws.subspan(i * layout.size() + tensor.offset, size);
      std::copy(from.begin(), from.end(), part.begin() + std::ptrdiff_t(i * size));
    }
    std::vector<std::size_t> start{chain, first}, lengths{1, count};
    if (size > 1)
      for (const std::size_t length : tensor.shape) start.push_back(0), lengths.push_back(length);
    variables[g].put(start, lengths, std::span<const float>(part));
  }
}

/// Group sample_stats. @return false where a chain's file of them is missing or does not fit
bool put_statistics(const File& file, const ExportDraws& draws, const fs::path& run,
                    const std::string& version) {
  for (std::size_t k = 0; k < draws.chains(); ++k)
    if (!fs::exists(draws_trace_path(run, draws.number(k)))) return false;
  const DrawsGroup group = draws_group(file, "sample_stats", draws, version);
  const std::vector<Dimension> dimensions{group.chain, group.draw};
  const auto real = [&](const char* name) { return group.group.variable(name, Type::float64, dimensions); };
  const Variable lp = real("lp"), step_size = real("step_size"), energy_error = real("energy_error"),
                 gradient_norm = real("gradient_norm"),
                 diverging = group.group.variable("diverging", Type::int8, dimensions),
                 resets = group.group.variable("resets", Type::int64, dimensions);
  diverging.attribute("dtype", "bool");  // as xarray stores truth values
  for (std::size_t k = 0; k < draws.chains(); ++k) {
    RowReader<DrawRow> reader(draws_trace_path(run, draws.number(k)));
    constexpr std::size_t kBlock = 4096;
    std::uint64_t refused = 0, nonfinite = 0;  // up to the draw before
    std::size_t next = 0;                      // row of the file
    for (std::size_t first = 0; first < draws.draws(); first += kBlock) {
      const std::size_t count = std::min(kBlock, draws.draws() - first);
      std::vector<double> log_density, size, energy, gradient;
      std::vector<signed char> bad;
      std::vector<std::int64_t> refusals;
      for (std::size_t s = first; s < first + count; ++s) {
        DrawRow row;
        for (; next <= draws.place(s); ++next) {
          if (next > 0 && s == 0) refused = row.refused_so_far, nonfinite = row.nonfinite_so_far;
          if (!reader.next(row)) return false;
        }
        log_density.push_back(row.log_density);
        size.push_back(row.step_size);
        energy.push_back(row.energy_change);
        gradient.push_back(row.gradient_norm);
        bad.push_back(row.nonfinite_so_far > nonfinite);
        refusals.push_back(std::int64_t(row.refused_so_far - refused));
        refused = row.refused_so_far;
        nonfinite = row.nonfinite_so_far;
      }
      const std::vector<std::size_t> start{k, first}, lengths{1, count};
      lp.put(start, lengths, std::span<const double>(log_density));
      step_size.put(start, lengths, std::span<const double>(size));
      energy_error.put(start, lengths, std::span<const double>(energy));
      gradient_norm.put(start, lengths, std::span<const double>(gradient));
      diverging.put(start, lengths, std::span<const signed char>(bad));
      resets.put(start, lengths, std::span<const std::int64_t>(refusals));
    }
  }
  return true;
}

/// The rows of the run, read again from the data file.
Dataset rows_of(const Experiment& e) {
  if (!std::filesystem::exists(e.config.data.path))
    throw Error(e.config.data.path, "the run's data, whose predictions are exported, is not there",
                "say where it is with --data PLACE, or leave predictions out with --no-predictive");
  Dataset dataset = load_dataset(e.config.data.path, e.config.data.table, dataset_options(e.config));
  if (dataset.info.checksum != e.info.checksum)
    throw Error(e.config.data.path, "the data is not what the run was started with",
                "restore the file or say where it is with --data PLACE, or leave predictions out with "
                "--no-predictive");
  return dataset;
}

/// What ArviZ calls the groups of a part of the data. The rows that a posterior is conditioned on have other
/// names than those it predicts.
struct PartGroups {
  const char *drawn, *known, *log_density;
  std::uint32_t stream;  ///< added to a chain's number: parts have random draws of their own
};
constexpr PartGroups kTrainingGroups{"posterior_predictive", "observed_data", "log_likelihood",
                                     std::uint32_t{1} << 31};
constexpr PartGroups kTestGroups{"predictions", "predictions_constant_data", "predictions_log_density", 0};

/// The groups of one part of the data, as far as they are wanted.
class PartPredictions {
 public:
  /// @param rows  of the part in the data file
  PartPredictions(const File& file, const ExportDraws& draws, const experiment::StoredRun& run,
                  const std::string& version, std::size_t threads, const PartGroups& groups,
                  const DataPart& part, std::span<const std::uint32_t> rows, bool drawn, bool log_density)
      : e_(run.experiment),
        groups_(groups),
        targets_(part.targets),
        rows_(rows.begin(), rows.end()),
        network_(experiment::network_over(e_, PredictionRows{part.rows, part.features})),
        complete_(experiment::complete_draws(e_, *network_, run.path)),
        outputs_(threads * targets_.size() * network_->outputs()),
        values_(threads * targets_.size()),
        positions_(threads, HostVector<float>(e_.dimension())) {
    for (std::size_t t = 0; t < threads; ++t) {
      predictors_.push_back(network_->predictor());
      readers_.emplace_back(e_.config.task(), network_->outputs());
    }
    const auto variable = [&](const char* name, Type type) {
      const DrawsGroup group = draws_group(file, name, draws, version);
      return group.group.variable("y", type, {group.chain, group.draw, observations(group.group)});
    };
    if (drawn) {
      drawn_ = variable(groups.drawn, e_.is_regression() ? Type::float32 : Type::int64);
      const Group known = file.group(groups.known);
      describe(known, version);
      put_known(known);
    }
    if (log_density) log_density_ = variable(groups.log_density, Type::float32);
  }

  /// As many draws of a chain as there are threads, or fewer.   @param draws @shape [places.size(), d]
  void put(std::size_t chain, std::uint32_t number, std::span<const std::size_t> places, std::size_t first,
           std::span<const float> draws) {
    const std::size_t count = places.size(), n = targets_.size(), width = n * network_->outputs();
    const std::vector<std::size_t> start{chain, first, 0}, all{1, count, n};
    const auto outputs = [&](std::size_t t) { return std::span(outputs_).subspan(t * width, width); };
    const auto values = [&](std::size_t t) { return std::span(values_).subspan(t * n, n); };
    const std::size_t d = draws.size() / count;
    ensemble::parallel_for(count, count, [&](std::size_t t) {
      HostVector<float>& position = positions_[t];
      position.resize(d);
      std::copy_n(draws.data() + t * d, d, position.data());
      if (complete_) complete_(number, position);
      predictors_[t]->predict(Part::test, position, outputs(t));
    });
    const StreamKey key{e_.seed(), groups_.stream + number, Purpose::predictive};
    if (drawn_ && e_.is_regression()) {
      for (std::size_t t = 0; t < count; ++t) draw_targets(t, outputs(t), key, places[t], values(t));
      drawn_->put(start, all, std::span<const float>(values_).first(count * n));
    } else if (drawn_) {
      std::vector<std::int64_t> classes(count * n);
      for (std::size_t t = 0; t < count; ++t)
        draw_classes(t, outputs(t), key, places[t], std::span(classes).subspan(t * n, n));
      drawn_->put(start, all, std::span<const std::int64_t>(classes));
    }
    if (!log_density_) return;
    const double unit = e_.is_regression() ? std::log(e_.info.normalisation.target_sd) : 0;
    for (std::size_t t = 0; t < count; ++t)
      for (std::size_t i = 0; i < n; ++i)
        values(t)[i] = float(
            readers_[t].log_density(outputs(t), i, std::as_const(positions_[t]).span(), targets_[i]) - unit);
    log_density_->put(start, all, std::span<const float>(values_).first(count * n));
  }

 private:
  Dimension observations(const Group& group) const { return group.coordinate("row", rows_); }

  void put_known(const Group& group) const {
    const std::vector<Dimension> dimensions{observations(group)};
    if (e_.is_regression()) {
      std::vector<double> own;
      for (const double target : targets_) own.push_back(e_.info.normalisation.original_target(target));
      group.variable("y", Type::float64, dimensions).put({0}, {own.size()}, std::span<const double>(own));
      return;
    }
    const std::vector<std::int64_t> classes(targets_.begin(), targets_.end());
    const Variable y = group.variable("y", Type::int64, dimensions);
    y.put({0}, {classes.size()}, std::span<const std::int64_t>(classes));
    std::string names;
    for (const auto& name : e_.info.labels.names) names += (names.empty() ? "" : "\n") + name;
    y.attribute("labels", names);  // by class number, one a line
  }

  /// y = mean + σ z in the target's own unit.
  void draw_targets(std::size_t t, std::span<const float> outputs, StreamKey key, std::uint64_t draw,
                    std::span<float> out) const {
    std::vector<double> z(out.size());
    fill_normals(key, draw, std::span<double>(z));
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto predicted = readers_[t].normal(outputs, i, positions_[t].span());
      out[i] = float(e_.info.normalisation.original_target(predicted.mean + predicted.sigma() * z[i]));
    }
  }

  void draw_classes(std::size_t t, std::span<const float> outputs, StreamKey key, std::uint64_t draw,
                    std::span<std::int64_t> out) {
    Stream stream(key, draw);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto p = readers_[t].probabilities(outputs, i);
      double left = stream.uniform();
      std::size_t chosen = 0;
      while (chosen + 1 < p.size() && left >= p[chosen]) left -= p[chosen++];
      out[i] = std::int64_t(chosen);
    }
  }

  const Experiment& e_;
  PartGroups groups_;
  std::vector<double> targets_;
  std::vector<std::int64_t> rows_;
  std::shared_ptr<const Network> network_;
  experiment::CompleteDraw complete_;
  std::vector<float> outputs_, values_;       // @shape [threads, rows, outputs], [threads, rows]
  std::vector<HostVector<float>> positions_;  // one a thread, like the two below
  std::vector<std::unique_ptr<Predictor>> predictors_;
  std::vector<RowPredictive> readers_;
  std::optional<Variable> drawn_, log_density_;
};

/// Predictions of all parts that are wanted.
class Predictions {
 public:
  Predictions(const File& file, const ExportDraws& draws, const experiment::StoredRun& run,
              const ExportOptions& options, const std::string& version)
      : options_(options), threads_(threads_for(run, options)) {
    const Experiment& e = run.experiment;
    if (e.config.data.data_type != DataKind::tabular)
      throw Error(run.path.string(), "predictive groups are made of the rows of tables",
                  "export with --no-predictive and without --log-likelihood and --training-rows");
    if (!e.is_native() && e.config.model.row().torch)
      require_network_engine(run.path.string(), "its network");
    const Dataset dataset = rows_of(e);
    if (options.predictive || options.log_likelihood)
      parts_.push_back(std::make_unique<PartPredictions>(file, draws, run, version, threads_, kTestGroups,
                                                         dataset.test, e.info.test_rows, options.predictive,
                                                         options.log_likelihood));
    if (options.training_rows)
      parts_.push_back(std::make_unique<PartPredictions>(file, draws, run, version, threads_, kTrainingGroups,
                                                         dataset.train, e.info.train_rows, true, true));
  }

  /// As many draws at a time as there are threads, so that memory stays that of a few predictions.
  void put(const ExportDraws& draws, std::size_t chain, std::size_t first, std::size_t count,
           std::span<const float> values) {
    const std::size_t d = values.size() / count;
    for (std::size_t begin = 0; begin < count; begin += threads_) {
      experiment::throw_if_stopped(options_);
      const std::size_t some = std::min(threads_, count - begin);
      std::vector<std::size_t> places;
      for (std::size_t i = 0; i < some; ++i) places.push_back(draws.place(first + begin + i));
      for (const auto& part : parts_)
        part->put(chain, draws.number(chain), places, first + begin, values.subspan(begin * d, some * d));
    }
  }

 private:
  static std::size_t threads_for(const experiment::StoredRun& run, const ExportOptions& options) {
    RunOptions threading;
    threading.threads = options.threads;
    return experiment::thread_count(run.experiment, threading, 64);
  }

  const ExportOptions& options_;
  std::size_t threads_;
  std::vector<std::unique_ptr<PartPredictions>> parts_;
};

void write_inference_data(const ExportDraws& draws, const ExportOptions& options, const fs::path& path,
                          std::vector<std::string>& remarks) {
  const experiment::StoredRun& run = draws.run();
  const std::string version = provenance::version();
  File file(path);
  describe(file.root(), version);
  const auto posterior = tensor_variables(draws_group(file, "posterior", draws, version), draws.layout());
  if (!put_statistics(file, draws, run.path, version))
    remarks.push_back(
        "the run has no statistics of its draws (trace/chain-KK-draws.csv), so that sample_stats is left "
        "out");
  std::optional<Predictions> predictions;
  if (options.predictive || options.log_likelihood || options.training_rows)
    predictions.emplace(file, draws, run, options, version);
  draws.for_each_block(
      options, [&](std::size_t chain, std::size_t first, std::size_t count, std::span<const float> values) {
        put_tensors(posterior, draws.layout(), chain, first, count, values);
        if (predictions) predictions->put(draws, chain, first, count, values);
      });
  file.commit();
}

}  // namespace

void use_netcdf_exports() {
  for (ExportFormat format : export_formats())
    if (format.name == "netcdf") {
      format.write = write_inference_data;
      return add_export_format(std::move(format));
    }
}

}  // namespace smile

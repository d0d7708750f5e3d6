/// A run as ArviZ's InferenceData.
#include "smile/netcdf/inference_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <limits>
#include <memory>
#include <numeric>

#include "ensemble/parallel.hpp"
#include "experiment/draws.hpp"
#include "experiment/export_draws.hpp"
#include "experiment/provenance.hpp"
#include "netcdf/netcdf_file.hpp"
#include "smile/ensemble/chain_files.hpp"
#include "smile/error.hpp"
#include "smile/experiment/config_options.hpp"
#include "smile/targets/task_likelihood.hpp"

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

/// The test rows of the run, read again from the data file.
Dataset test_rows(const Experiment& e) {
  Dataset dataset = load_dataset(e.config.data.path, table_options(e.config), dataset_options(e.config));
  if (dataset.info.checksum != e.info.checksum)
    throw Error(e.config.data.path, "the data is not what the run was started with",
                "restore the file, or leave predictions out with --no-predictive");
  return dataset;
}

/// Groups posterior_predictive and log_likelihood, as far as they are wanted.
class Predictive {
 public:
  Predictive(const File& file, const ExportDraws& draws, const experiment::StoredRun& run,
             const ExportOptions& options, const std::string& version)
      : e_(run.experiment), options_(options) {
    const Experiment& e = e_;
    if (e.config.data.data_type != "tabular")
      throw Error(run.path.string(), "predictive groups are made of the test rows of tables",
                  "export with --no-predictive and without --log-likelihood");
    if (!e.is_native()) require_network_engine(run.path.string(), "its network");
    const Dataset dataset = test_rows(e);
    targets_ = dataset.test.targets;
    PredictionRows rows;
    rows.rows = dataset.test.rows;
    rows.features = dataset.test.features;
    network_ = experiment::network_over(e, rows);
    complete_ = experiment::complete_draws(e, *network_, run.path);
    RunOptions threading;
    threading.threads = options.threads;
    threads_ = experiment::thread_count(e, threading, 64);
    for (std::size_t t = 0; t < threads_; ++t) predictors_.push_back(network_->predictor());
    if (options.predictive) {
      const DrawsGroup group = draws_group(file, "posterior_predictive", draws, version);
      draws_variable_ = group.group.variable("y", e.is_regression() ? Type::float32 : Type::int64,
                                             {group.chain, group.draw, observations(group.group)});
      const Group observed = file.group("observed_data");
      describe(observed, version);
      put_observed(observed);
    }
    if (options.log_likelihood) {
      const DrawsGroup group = draws_group(file, "log_likelihood", draws, version);
      log_likelihood_variable_ =
          group.group.variable("y", Type::float32, {group.chain, group.draw, observations(group.group)});
    }
  }

  void put(std::size_t chain, std::uint32_t number, const std::vector<std::size_t>& places, std::size_t first,
           std::span<const float> draws) {
    const std::size_t d = e_.dimension(), n = targets_.size(), width = n * network_->outputs();
    // As many draws at a time as there are threads, so that memory stays that of a few predictions.
    std::vector<float> outputs(threads_ * width), values(threads_ * n);
    std::vector<std::int64_t> classes(threads_ * n);
    std::vector<double> log_sigmas(threads_);
    for (std::size_t begin = 0; begin < places.size(); begin += threads_) {
      experiment::throw_if_stopped(options_);
      const std::size_t count = std::min(threads_, places.size() - begin);
      const std::vector<std::size_t> start{chain, first + begin, 0}, lengths{count, n};
      const std::vector<std::size_t> all{1, count, n};
      ensemble::parallel_for(count, threads_, [&](std::size_t t) {
        HostVector<float> position(d);
        const auto draw = draws.subspan((begin + t) * d, d);
        std::copy(draw.begin(), draw.end(), position.data());
        if (complete_) complete_(number, position);
        log_sigmas[t] = double(position[position.size() - 1]);
        predictors_[t]->predict(Part::test, position, std::span(outputs).subspan(t * width, width));
      });
      const auto outputs_of = [&](std::size_t t) {
        return std::span<const float>(outputs).subspan(t * width, width);
      };
      if (options_.predictive) {
        for (std::size_t t = 0; t < count; ++t) {
          const StreamKey key{e_.seed(), number, Purpose::predictive};
          if (e_.is_regression())
            draw_targets(outputs_of(t), log_sigmas[t], key, places[begin + t],
                         std::span(values).subspan(t * n, n));
          else
            draw_classes(outputs_of(t), key, places[begin + t], std::span(classes).subspan(t * n, n));
        }
        if (e_.is_regression())
          draws_variable_.put(start, all, std::span<const float>(values).first(count * n));
        else
          draws_variable_.put(start, all, std::span<const std::int64_t>(classes).first(count * n));
      }
      if (options_.log_likelihood) {
        for (std::size_t t = 0; t < count; ++t)
          score(outputs_of(t), log_sigmas[t], std::span(values).subspan(t * n, n));
        log_likelihood_variable_.put(start, all, std::span<const float>(values).first(count * n));
      }
    }
  }

 private:
  Dimension observations(const Group& group) const {
    const std::vector<std::int64_t> rows(e_.info.test_rows.begin(), e_.info.test_rows.end());
    return group.coordinate("row", rows);
  }

  void put_observed(const Group& group) const {
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

  bool own_sigma() const { return e_.config.task() == Task::regression; }

  /// y = mean + σ z in the target's own unit.
  void draw_targets(std::span<const float> outputs, double log_sigma, StreamKey key, std::uint64_t draw,
                    std::span<float> out) const {
    std::vector<double> z(out.size());
    fill_normals(key, draw, std::span<double>(z));
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double mean = double(outputs[own_sigma() ? 2 * i : i]);
      const double sigma = clipped_sigma(own_sigma() ? double(outputs[2 * i + 1]) : log_sigma).sigma;
      out[i] = float(e_.info.normalisation.original_target(mean + sigma * z[i]));
    }
  }

  void draw_classes(std::span<const float> outputs, StreamKey key, std::uint64_t draw,
                    std::span<std::int64_t> out) const {
    Stream stream(key, draw);
    const std::size_t classes = network_->outputs();
    std::vector<double> p(classes);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto logits = outputs.subspan(i * classes, classes);
      const double largest = double(*std::max_element(logits.begin(), logits.end()));
      for (std::size_t c = 0; c < classes; ++c) p[c] = std::exp(double(logits[c]) - largest);
      double left = stream.uniform() * std::accumulate(p.begin(), p.end(), 0.0);
      std::size_t chosen = 0;
      while (chosen + 1 < classes && left >= p[chosen]) left -= p[chosen++];
      out[i] = std::int64_t(chosen);
    }
  }

  void score(std::span<const float> outputs, double log_sigma, std::span<float> out) const {
    const std::size_t width = network_->outputs();
    std::vector<double> logits(width);
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (!e_.is_regression()) {
        for (std::size_t c = 0; c < width; ++c) logits[c] = double(outputs[i * width + c]);
        out[i] = float(categorical_log_likelihood(logits, std::size_t(targets_[i]), {}));
        continue;
      }
      const double r = own_sigma() ? double(outputs[2 * i + 1]) : log_sigma;
      out[i] = float(normal_log_likelihood(targets_[i], double(outputs[width * i]), r).log_likelihood -
                     std::log(e_.info.normalisation.target_sd));
    }
  }

  const Experiment& e_;
  const ExportOptions& options_;
  std::vector<double> targets_;
  std::shared_ptr<const Network> network_;
  experiment::CompleteDraw complete_;
  std::size_t threads_ = 1;
  std::vector<std::unique_ptr<Predictor>> predictors_;
  Variable draws_variable_, log_likelihood_variable_;
};

}  // namespace

ExportSummary export_inference_data(const std::string& directory, const ExportOptions& options) {
  const auto run = experiment::open_stored_run(directory, options.incomplete);
  const ExportDraws draws(run, options);
  const fs::path path = experiment::export_path(run.path, options);
  ExportSummary summary{path.string(), draws.chains(), draws.draws(), draws.remarks()};

  const std::string version = provenance::version();
  File file(path);
  describe(file.root(), version);
  const auto posterior = tensor_variables(draws_group(file, "posterior", draws, version), draws.layout());
  if (!put_statistics(file, draws, run.path, version))
    summary.remarks.push_back(
        "the run has no statistics of its draws (trace/chain-KK-draws.csv), so that sample_stats is left "
        "out");
  std::unique_ptr<Predictive> predictive;
  if (options.predictive || options.log_likelihood)
    predictive = std::make_unique<Predictive>(file, draws, run, options, version);
  draws.for_each_block(
      options, [&](std::size_t chain, std::size_t first, std::size_t count, std::span<const float> values) {
        put_tensors(posterior, draws.layout(), chain, first, count, values);
        if (!predictive) return;
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < count; ++i) places.push_back(draws.place(first + i));
        predictive->put(chain, draws.number(chain), places, first, values);
      });
  file.commit();
  return summary;
}

}  // namespace smile

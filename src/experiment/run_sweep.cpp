/// One run for each point of a search file, and the pooled table.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "experiment/experiment.hpp"
#include "run/remade.hpp"
#include "smile/error.hpp"
#include "smile/experiment/pipeline.hpp"
#include "smile/experiment/sweep.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/run/metrics_file.hpp"
#include "smile/run/run_directory.hpp"
#include "smile/run/run_paths.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// The summary of a finished run, from its eval/metrics.json.
RunSummary read_summary(const fs::path& run) {
  auto file = read_metrics(run);
  if (!file)
    throw Error(RunPaths(run).metrics().string(), "cannot be read as the metrics of a run",
                "`" + run::evaluate_command(run) + "` writes it anew", ErrorKind::run);
  RunSummary summary;
  summary.directory = run.string();
  summary.samples_directory = RunPaths(run).samples().string();
  summary.draws = file->draws;
  summary.chains = file->chains;
  summary.failed_chains = file->failed_chains;
  summary.metrics = std::move(file->metrics);
  return summary;
}

void check_same(const fs::path& run, const Config& config) {
  const std::string difference =
      first_difference(load_config(RunPaths(run).config().string()), experiment::prepare(config).config);
  if (!difference.empty())
    throw Error(run.string(), "this point of the sweep was run with another configuration: " + difference,
                "give the sweep another experiment_name, or remove the folder");
}

std::vector<std::string> metric_names(const SweepSummary& sweep) {
  std::vector<std::string> names;
  for (const auto& entry : sweep.entries)
    for (const auto& row : entry.summary.metrics)
      if (std::find(names.begin(), names.end(), row.name) == names.end()) names.push_back(row.name);
  return names;
}

std::string cell(double value) {
  return std::isnan(value) ? std::string() : fmt::format("{:.9g}", value);
}

void write_tables(SweepSummary& sweep, const fs::path& folder) {
  const auto names = metric_names(sweep);
  std::string csv = "point,status";
  for (const auto& name : names) csv += fmt::format(",\"{} (ensemble)\",\"{}\"", name, name);
  csv += "\n";
  ordered_json json = ordered_json::array();
  for (const auto& [point, summary] : sweep.entries) {
    csv += fmt::format("\"{}\",{}", point, name_of(summary.status));
    ordered_json metrics = ordered_json::object();
    for (const auto& name : names) {
      const auto row = std::find_if(summary.metrics.begin(), summary.metrics.end(),
                                    [&](const MetricRow& r) { return r.name == name; });
      const bool known = row != summary.metrics.end();
      csv += known ? fmt::format(",{},{}", cell(row->ensemble), cell(row->sampling)) : std::string(",,");
      if (known)
        metrics[name] = {{name_of(Phase::ensemble), row->ensemble},
                         {name_of(Phase::sampling), row->sampling}};
    }
    csv += "\n";
    json.push_back({{"point", point},
                    {"directory", summary.directory},
                    {"status", name_of(summary.status)},
                    {"reason", summary.reason},
                    {"metrics", metrics}});
  }
  sweep.csv = SweepPaths(folder).csv().string();
  sweep.json = SweepPaths(folder).json().string();
  write_file_atomically(sweep.csv, csv);
  write_file_atomically(sweep.json, json.dump(1) + "\n");
}

}  // namespace

int SweepSummary::exit_status() const {
  if (interrupted) return 1;
  for (const auto& entry : entries)
    if (entry.summary.exit_status() != 0) return 1;
  return 0;
}

SweepSummary run_sweep(const std::string& config_file, const std::vector<Setting>& settings,
                       const std::string& sweep_file, const RunOptions& options) {
  const auto points = load_sweep(sweep_file);
  std::vector<Config> configs;
  for (const auto& point : points) {
    std::vector<Setting> all = settings;
    all.insert(all.end(), point.settings.begin(), point.settings.end());
    configs.push_back(load_config(config_file, all));
  }
  SweepSummary sweep;
  const fs::path folder = options.out.empty()
                              ? fs::path(configs.front().saving_dir) / configs.front().experiment_name
                              : fs::path(options.out);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const fs::path run = folder / points[i].name;
    SweepEntry entry{points[i].name, {}};
    const auto state = read_run_state(run);
    if (state && state->status == "complete") {
      check_same(run, configs[i]);
      entry.summary = read_summary(run);
    } else {
      if (options.on_message)
        options.on_message(fmt::format("point {} of {}: {}", i + 1, points.size(), points[i].name));
      RunOptions own = options;
      own.out = run.string();
      own.resume = RunPaths(run).is_run();
      try {
        entry.summary = run_experiment(configs[i], own);
      } catch (const Error& error) {
        // A point that cannot run does not stop the others; a wrong point (usage) does.
        if (error.kind() == ErrorKind::usage) throw;
        entry.summary.status = RunStatus::failed;
        entry.summary.directory = run.string();
        entry.summary.reason = error.what();
        if (options.on_message) options.on_message(entry.summary.reason);
      }
      if (entry.summary.status != RunStatus::interrupted && options.on_run_done)
        options.on_run_done(entry.summary);
    }
    sweep.interrupted = entry.summary.status == RunStatus::interrupted;
    sweep.entries.push_back(std::move(entry));
    if (sweep.interrupted) break;
  }
  write_tables(sweep, folder);
  return sweep;
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// One run for each point of a search file, and the pooled table.
#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "experiment/experiment.hpp"
#include "run/remade.hpp"
#include "smile/ensemble/parallel.hpp"
#include "smile/error.hpp"
#include "smile/experiment/pipeline.hpp"
#include "smile/experiment/sweep.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/run/lock_file.hpp"
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

bool is_complete(const fs::path& run) {
  const auto state = read_run_state(run);
  return state && state->status == "complete";
}

/// Runs one point, goes on with it, or reads what it has given.
SweepEntry run_point(const SweepPoint& point, const Config& config, const fs::path& folder,
                     const RunOptions& options) {
  const fs::path run = folder / point.name;
  SweepEntry entry{point.name, {}};
  if (is_complete(run)) {
    check_same(run, config);
    entry.summary = read_summary(run);
    return entry;
  }
  RunOptions own = options;
  own.launch.reset();
  own.out = run.string();
  own.resume = RunPaths(run).is_run();
  try {
    entry.summary = run_experiment(config, own);
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
  return entry;
}

/// What a point has come to, whoever ran it.
SweepEntry entry_of(const SweepPoint& point, const fs::path& run) {
  SweepEntry entry{point.name, {}};
  if (is_complete(run)) {
    entry.summary = read_summary(run);
    return entry;
  }
  const auto state = read_run_state(run);
  entry.summary.directory = run.string();
  entry.summary.status = state && state->status == "failed" ? RunStatus::failed : RunStatus::interrupted;
  entry.summary.reason = state ? state->reason : "not begun";
  return entry;
}

/// One of several processes that share the points: a run a rank. A point is taken by a lock beside its run's;
/// what a dead process has left of one is gone on with.
SweepSummary share_sweep(const std::vector<SweepPoint>& points, const std::vector<Config>& configs,
                         const fs::path& folder, const RunOptions& options) {
  const Launch& launch = *options.launch;
  const LockPatience patience{.takeover_seconds = options.takeover_seconds};
  const RunPaths locks(folder);
  const auto began = fs::file_time_type::clock::now();
  std::unique_ptr<LockFile> stays;
  if (launch.together && launch.rank == 0)
    stays = LockFile::take(locks.first_rank_lock(), true, nullptr, patience);
  RunOptions own = options;
  if (own.threads == 0)
    own.threads = int(
        threads_of_rank(launch, ensemble::usable_cores(), std::size_t(std::thread::hardware_concurrency())));
  // Those of this rank first, then the others' from the end.
  std::vector<std::size_t> order, others;
  for (std::size_t i = 0; i < points.size(); ++i)
    (i % launch.ranks == launch.rank ? order : others).push_back(i);
  order.insert(order.end(), others.rbegin(), others.rend());
  std::vector<bool> ended(points.size());
  /// A point that failed since this process began is not tried again.
  const auto failed_by_now = [&](const fs::path& run) {
    std::error_code none;
    const auto state = read_run_state(run);
    return state && state->status == "failed" && fs::last_write_time(RunPaths(run).state(), none) >= began;
  };
  SweepSummary sweep;
  const auto stopped = [&] { return options.stop && options.stop->load(); };
  for (bool waiting = true; waiting && !stopped();) {
    bool live = false;
    for (const std::size_t i : order) {
      if (ended[i] || stopped()) continue;
      const fs::path run = folder / points[i].name;
      LockLook other;
      // Its lock comes first: who had it may have ended the point meanwhile.
      const auto lock = LockFile::take(locks.locks() / fmt::format("point-{:04}", i), true, &other, patience);
      if (!lock) {
        live = true;
        continue;
      }
      ended[i] = is_complete(run) || failed_by_now(run);
      if (ended[i]) continue;
      if (options.on_message)
        options.on_message(fmt::format("point {} of {}: {}", i + 1, points.size(), points[i].name));
      const SweepEntry entry = run_point(points[i], configs[i], folder, own);
      ended[i] = entry.summary.status != RunStatus::interrupted;
    }
    waiting = live && stays != nullptr;
    if (waiting) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    if (live && !stays) break;
  }
  for (std::size_t i = 0; i < points.size(); ++i)
    sweep.entries.push_back(entry_of(points[i], folder / points[i].name));
  sweep.interrupted = stopped();
  const bool all = std::all_of(sweep.entries.begin(), sweep.entries.end(), [](const SweepEntry& entry) {
    return entry.summary.status != RunStatus::interrupted;
  });
  if (!all && !stays) {
    sweep.entries.clear();  // the others go on: it is theirs to say how it ended
    return sweep;
  }
  const bool another_stays =
      !stays && look_at_lock(locks.first_rank_lock(), patience).state == LockState::held;
  const auto lock =
      another_stays ? nullptr : LockFile::take(locks.locks() / "tables", true, nullptr, patience);
  if (lock)
    write_tables(sweep, folder);
  else
    sweep.entries.clear();
  return sweep;
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
  if (options.launch) return share_sweep(points, configs, folder, options);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (options.on_message && !is_complete(folder / points[i].name))
      options.on_message(fmt::format("point {} of {}: {}", i + 1, points.size(), points[i].name));
    sweep.entries.push_back(run_point(points[i], configs[i], folder, options));
    sweep.interrupted = sweep.entries.back().summary.status == RunStatus::interrupted;
    if (sweep.interrupted) break;
  }
  write_tables(sweep, folder);
  return sweep;
}

}  // namespace smile

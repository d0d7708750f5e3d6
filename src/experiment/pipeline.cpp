#include "smile/experiment/pipeline.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <limits>

#include "experiment/experiment.hpp"
#include "experiment/live_status.hpp"
#include "run/network_record.hpp"
#include "run/remade.hpp"
#include "smile/error.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/run/run_access.hpp"
#include "smile/run/run_inspection.hpp"
#include "smile/run/run_paths.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using experiment::check_same_network;
using experiment::Experiment;
using experiment::layout_json;
using experiment::write_network_record;

/// The directory of a resumed run: the one asked for, or the latest that is not complete.
fs::path resumed_path(const Config& config, const RunOptions& options) {
  if (!options.out.empty()) return options.out;
  if (const auto path = latest_unfinished_run(config)) return *path;
  throw Error((fs::path(config.saving_dir) / config.experiment_name).string(),
              "there is no unfinished run to resume",
              "start a run without --resume, or name its folder with --out");
}

void check_same(const fs::path& run, const Config& config) {
  const Config before = load_config(RunPaths(run).config().string());
  const std::string difference = first_difference(before, config);
  if (!difference.empty())
    throw Error(RunPaths(run).config().string(),
                "the run was started with another configuration: " + difference,
                "resume with the same configuration, or start a new run");
}

/// The data may have changed on the disk since the run began.
void check_same_data(const fs::path& run, const Experiment& e) {
  const fs::path path = RunPaths(run).data();
  if (!fs::exists(path)) return;
  const DatasetInfo before = run::read_remade(run, [&] { return load_dataset_info(path); });
  if (before.text && e.info.text && before.text->vocabulary != e.info.text->vocabulary)
    throw Error(
        e.config.data.path,
        fmt::format(
            "its characters are not those which the run in {} was started with (the vocabulary differs)",
            run.string()),
        "restore the file, or start a new run");
  const bool same = before.checksum == e.info.checksum && before.train_rows == e.info.train_rows &&
                    before.test_rows == e.info.test_rows &&
                    before.normalisation.feature_mean == e.info.normalisation.feature_mean &&
                    before.normalisation.feature_sd == e.info.normalisation.feature_sd &&
                    before.normalisation.target_mean == e.info.normalisation.target_mean &&
                    before.normalisation.target_sd == e.info.normalisation.target_sd;
  if (!same)
    throw Error(e.config.data.path, "the data is not what the run in " + run.string() + " was started with",
                "restore the file, or start a new run");
}

/// parameters.json: what a draw is made of. network.json: what the network is made of, and its file.
void write_parameters(const fs::path& run, const Experiment& e) {
  write_file_atomically(RunPaths(run).parameters(), layout_json(e.layout) + "\n");
  write_network_record(run, e.config, *e.network);
}

/// Runs the phases; whatever happens the directory's state says so.
class Run {
 public:
  Run(Experiment& e, RunDirectory& directory, const RunOptions& options)
      : e_(e), directory_(directory), live_(directory, options.snapshot), options_(options) {
    options_.on_progress = [this, caller = options.on_progress](const Progress& progress) {
      if (!only_evaluate_) live_.show(progress);
      if (caller) caller(progress);
    };
    summary_.directory = directory.path().string();
    summary_.samples_directory = RunPaths(directory.path()).samples().string();
    summary_.warnings = e.warnings;
  }

  RunSummary go(bool only_evaluate) {
    only_evaluate_ = only_evaluate;
    const auto begin = std::chrono::steady_clock::now();
    for (const auto& warning : e_.warnings) experiment::remark(options_, directory_, "warning: " + warning);
    try {
      phases();
    } catch (const std::exception& error) {
      directory_.log(std::string("failed: ") + error.what());
      // Where not even that can be written, the old status stays: "running" of a process that is gone.
      try {
        write_state({"failed", phase_, error.what()});
      } catch (const Error&) {
      }
      throw;
    }
    summary_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return std::move(summary_);
  }

 private:
  void phases() {
    if (!only_evaluate_) {
      enter("warm start");
      const auto start = experiment::warm_start(e_, directory_, options_);
      if (start.interrupted) return interrupted();
      enter("sampling");
      if (!experiment::sample(e_, directory_, options_, start)) return interrupted();
    } else if (!e_.prior) {
      experiment::complete_prior(
          e_, directory_.path(),
          experiment::read_members(directory_.path(), e_.chains(), e_.member_dimension()));
    }
    enter("evaluation");
    if (!experiment::evaluate(e_, directory_, options_, summary_)) return interrupted();
    for (std::size_t i = e_.warnings.size(); i < summary_.warnings.size(); ++i)
      experiment::remark(options_, directory_, "warning: " + summary_.warnings[i]);
    if (summary_.failed_chains > 0) {
      summary_.status = RunStatus::failed;
      summary_.reason = fmt::format("{} of {} chains failed", summary_.failed_chains, summary_.chains);
      write_state({"failed", phase_, summary_.reason});
    } else if (summary_.incomplete_chains > 0) {
      summary_.status = RunStatus::interrupted;
      summary_.reason =
          fmt::format("{} of {} chains are incomplete", summary_.incomplete_chains, summary_.chains);
      write_state({"interrupted", phase_, summary_.reason});
    } else {
      directory_.write_state({"complete", phase_, ""});
    }
    directory_.log("done");
  }

  void enter(const char* phase) {
    phase_ = phase;
    directory_.log(phase_);
    write_state({"running", phase_, ""});
  }

  /// Evaluating a run anew does not change how far it came.
  void write_state(const RunState& state) const {
    if (!only_evaluate_) directory_.write_state(state);
  }

  void interrupted() {
    summary_.status = RunStatus::interrupted;
    summary_.reason = "interrupted during " + phase_;
    directory_.log(summary_.reason);
    write_state({"interrupted", phase_, summary_.reason});
  }

  Experiment& e_;
  RunDirectory& directory_;
  experiment::LiveStatus live_;
  RunOptions options_;
  RunSummary summary_;
  std::string phase_;
  bool only_evaluate_ = false;
};

}  // namespace

RunSummary run_experiment(const Config& config, const RunOptions& given,
                          const std::shared_ptr<const Table>& table) {
  Experiment e = experiment::prepare(config, table);
  RunOptions options = given;
  const RunEstimate plan = experiment::estimate_of(e, options.threads);
  if (plan.device_bytes && plan.chains_at_once > 0)
    options.threads = int(plan.chains_at_once);  // side by side as far as the device's memory allows
  if (options.resume) {
    const fs::path path = resumed_path(config, options);
    require_known_run(path);
    AvailableResources available = available_resources(path);
    available.disk_bytes = std::numeric_limits<double>::infinity();  // part of it is written already
    refuse_what_does_not_fit(plan, available, path);
    RunDirectory directory = RunDirectory::open(path);
    check_same(path, e.config);
    check_same_data(path, e);
    check_same_network(path, e.config, *e.network);
    directory.log("resumed");
    const RunPaths paths(path);
    if (!fs::exists(paths.data())) save_dataset_info(e.info, paths.data());
    if (!fs::exists(paths.parameters()) || !fs::exists(paths.network())) write_parameters(path, e);
    return Run(e, directory, options).go(false);
  }
  const fs::path path = options.out.empty() ? new_run_path(config) : fs::path(options.out);
  refuse_what_does_not_fit(plan, available_resources(path), path);
  RunDirectory directory = RunDirectory::create(path, &config);
  directory.write_state({"running", "preparation", ""});
  directory.write_config(e.config);
  save_dataset_info(e.info, RunPaths(path).data());
  write_parameters(path, e);
  directory.log(fmt::format("started; plan: {:.1f} MB of memory, {:.1f} MB on disk", plan.memory_bytes / 1e6,
                            plan.disk_bytes / 1e6));
  return Run(e, directory, options).go(false);
}

RunSummary evaluate_run(const std::string& directory, const RunOptions& options, const RunData& data) {
  inspect_run(directory);
  RunDirectory run = RunDirectory::open(directory);
  Config config = load_config(RunPaths(run.path()).config().string());
  if (!data.file.empty()) config.data.path = data.file;
  Experiment e = experiment::prepare(config, data.table);
  check_same_data(run.path(), e);
  check_same_network(run.path(), e.config, *e.network);
  return Run(e, run, options).go(true);
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include "smile/experiment/pipeline.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <limits>

#include "experiment/experiment.hpp"
#include "experiment/parts.hpp"
#include "experiment/run_identity.hpp"
#include "experiment/run_phases.hpp"
#include "smile/error.hpp"
#include "smile/run/inputs.hpp"
#include "smile/run/run_inspection.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using experiment::Experiment;
using experiment::Phases;

/// The directory of a resumed run: the one asked for, or the latest that is not complete.
fs::path resumed_path(const Config& config, const RunOptions& options) {
  if (!options.out.empty()) return options.out;
  if (const auto path = latest_unfinished_run(config)) return *path;
  throw Error((fs::path(config.saving_dir) / config.experiment_name).string(),
              "there is no unfinished run to resume",
              "start a run without --resume, or name its folder with --out");
}

}  // namespace

RunSummary run_experiment(const Config& config, const RunOptions& given,
                          const std::shared_ptr<const Table>& table) {
  RunOptions options = given;
  if (options.in_parts()) return experiment::run_part(config, options, table);
  if (options.resume) options.out = resumed_path(config, options).string();
  Experiment e =
      experiment::prepare(options.resume ? experiment::config_of_existing(config, options) : config, table);
  const RunEstimate plan = experiment::estimate_of(e, options.threads);
  if (plan.device_bytes && plan.chains_at_once > 0)
    options.threads = int(plan.chains_at_once);  // side by side as far as the device's memory allows
  const LockPatience patience{.takeover_seconds = options.takeover_seconds};
  if (options.resume) {
    const fs::path path = options.out;
    AvailableResources available = available_resources(path);
    available.disk_bytes = std::numeric_limits<double>::infinity();  // part of it is written already
    refuse_what_does_not_fit(plan, available, path);
    RunDirectory directory = RunDirectory::open(path, patience);
    experiment::check_same_run(path, e);
    directory.log("resumed");
    experiment::write_missing(path, e);
    return experiment::run_phases(e, directory, options, Phases::all);
  }
  const fs::path path = options.out.empty() ? new_run_path(config) : fs::path(options.out);
  refuse_what_does_not_fit(plan, available_resources(path), path);
  RunDirectory directory = RunDirectory::create(path, &e.config, patience);
  experiment::write_new_run(directory, e);
  directory.log(fmt::format("started; plan: {:.1f} MB of memory, {:.1f} MB on disk", plan.memory_bytes / 1e6,
                            plan.disk_bytes / 1e6));
  return experiment::run_phases(e, directory, options, Phases::all);
}

RunSummary evaluate_run(const std::string& directory, const RunOptions& options, const RunData& data) {
  inspect_run(directory);
  RunDirectory run = RunDirectory::open(directory, {.takeover_seconds = options.takeover_seconds});
  Experiment e = experiment::prepare(load_run_config(run.path(), {.data = data.file, .needed = !data.table}),
                                     data.table);
  experiment::check_same_inputs(run.path(), e);
  return experiment::run_phases(e, run, options, Phases::evaluation);
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include "experiment/run_identity.hpp"

#include <fmt/format.h>

#include "run/network_record.hpp"
#include "run/remade.hpp"
#include "smile/error.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/run/inputs.hpp"
#include "smile/run/run_access.hpp"
#include "smile/run/run_paths.hpp"

namespace smile::experiment {
namespace {

namespace fs = std::filesystem;

void refuse_difference(const fs::path& run, const std::string& difference) {
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
                "restore the file or say where it is with --data PLACE, or start a new run");
}

/// parameters.json: what a draw is made of. network.json: what the network is made of, and its file.
void write_parameters(const fs::path& run, const Experiment& e) {
  write_file_atomically(RunPaths(run).parameters(), layout_json(e.layout) + "\n");
  write_network_record(run, e.config, *e.network);
}

}  // namespace

void write_new_run(const RunDirectory& directory, const Experiment& e) {
  const fs::path& run = directory.path();
  directory.write_state({"running", "preparation", ""});
  write_inputs(run, e.config);
  save_dataset_info(e.info, RunPaths(run).data());
  write_parameters(run, e);
  directory.write_config(e.config);
}

void write_missing(const fs::path& run, const Experiment& e) {
  const RunPaths paths(run);
  if (!fs::exists(paths.inputs())) write_inputs(run, e.config);
  if (!fs::exists(paths.data())) save_dataset_info(e.info, paths.data());
  if (!fs::exists(paths.parameters()) || !fs::exists(paths.network())) write_parameters(run, e);
}

Config config_of_existing(const Config& config, const RunOptions& options) {
  const fs::path run = options.out;
  require_known_run(run);
  refuse_difference(run, first_other_input(run, with_found_inputs(config)));
  return with_inputs_of(run, config, {.data = options.data, .config = config.file});
}

void check_same_inputs(const fs::path& run, const Experiment& e) {
  check_same_data(run, e);
  check_same_network(run, e.config, *e.network);
}

void check_same_run(const fs::path& run, const Experiment& e) {
  refuse_difference(run, first_difference(load_config(RunPaths(run).config().string()), e.config));
  check_same_inputs(run, e);
}

}  // namespace smile::experiment

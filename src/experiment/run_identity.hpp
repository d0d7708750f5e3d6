// SPDX-License-Identifier: Apache-2.0
/// What makes a run the run it is, written when it begins and compared when it goes on, in one process or
/// many.
#pragma once

#include <filesystem>

#include "experiment/experiment.hpp"
#include "smile/run/run_directory.hpp"

namespace smile::experiment {

/// Writes everything that a run has before its first phase; config.yaml, by which a folder is a run, last.
void write_new_run(const RunDirectory& directory, const Experiment& experiment);
/// The same for what a run lacks that is there.
void write_missing(const std::filesystem::path& run, const Experiment& experiment);

/// The configuration with which the run in `options.out` goes on, with the places where its inputs are by
/// now.
/// @throws Error where that is no run, or of another version, or its inputs are not found
Config config_of_existing(const Config& config, const RunOptions& options);
/// Refuses an experiment that is not the run's, by the first thing that differs: configuration, data,
/// network.
/// @throws Error
void check_same_run(const std::filesystem::path& run, const Experiment& experiment);
/// Data and network alone.
void check_same_inputs(const std::filesystem::path& run, const Experiment& experiment);

}  // namespace smile::experiment

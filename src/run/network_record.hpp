// SPDX-License-Identifier: Apache-2.0
/// network.json of a run: all parameters of its network, and a checksum of the file that it came from.
#pragma once

#include <filesystem>

#include "smile/config/config.hpp"
#include "smile/network/network.hpp"

namespace smile::experiment {

/// A list of tensors, name, shape and offset in the flat vector, as JSON.
std::string layout_json(const ParameterLayout& layout);
/// Reads such a list. @throws Error (run) where the file is none
ParameterLayout read_layout(const std::filesystem::path& path);

void write_network_record(const std::filesystem::path& run, const Config& config, const Network& network);
/// All parameters of a run's network. @throws Error (run) where the file is missing or damaged
ParameterLayout recorded_layout(const std::filesystem::path& run);

/// Refuses a network that is not the one the run was started with: other parameters, or another file. Runs
/// without a record are let pass.
/// @throws Error
void check_same_network(const std::filesystem::path& run, const Config& config, const Network& network);
/// The same from the file alone (`model.path`), where no network has been made.
void check_same_network_file(const std::filesystem::path& run, const Config& config);

}  // namespace smile::experiment

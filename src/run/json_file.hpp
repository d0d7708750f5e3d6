// SPDX-License-Identifier: Apache-2.0
/// JSON files of a run.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace smile::run {

/// What the file holds, its members in the order of the file; a discarded value (which is no object and no
/// array) where it is not there or is not JSON. @throws data::MachineError
nlohmann::ordered_json read_json(const std::filesystem::path& path);

}  // namespace smile::run

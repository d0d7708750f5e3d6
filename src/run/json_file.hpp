// SPDX-License-Identifier: Apache-2.0
/// JSON files of a run.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "smile/error.hpp"

namespace smile::run {

/// What the file holds, its members in the order of the file; a discarded value (which is no object and no
/// array) where it is not there or is not JSON. @throws data::MachineError
nlohmann::ordered_json read_json(const std::filesystem::path& path);

Error damaged_evaluation(const std::filesystem::path& run, const std::string& what);

/// `read` the files of a run's evaluation; what is not as `smile evaluate` writes them becomes an Error of
/// kind run that says how they come back.
template <class Read>
auto reading_evaluation(const std::filesystem::path& run, const Read& read) {
  try {
    return read();
  } catch (const nlohmann::json::exception& wrong) {
    throw damaged_evaluation(run, wrong.what());
  }
}
}  // namespace smile::run

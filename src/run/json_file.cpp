// SPDX-License-Identifier: Apache-2.0
#include "run/json_file.hpp"

#include <optional>
#include <string>

#include "files/file_error.hpp"

namespace smile::run {

nlohmann::ordered_json read_json(const std::filesystem::path& path) {
  return nlohmann::ordered_json::parse(data::read_file_if_there(path).value_or(""), nullptr, false);
}

}  // namespace smile::run

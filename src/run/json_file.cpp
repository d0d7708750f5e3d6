// SPDX-License-Identifier: Apache-2.0
#include "run/json_file.hpp"

#include <optional>
#include <string>

#include "files/file_error.hpp"
#include "run/remade.hpp"

namespace smile::run {

nlohmann::ordered_json read_json(const std::filesystem::path& path) {
  return nlohmann::ordered_json::parse(data::read_file_if_there(path).value_or(""), nullptr, false);
}

Error damaged_evaluation(const std::filesystem::path& run, const std::string& what) {
  const std::string reason = what.substr(what.find("] ") == std::string::npos ? 0 : what.find("] ") + 2);
  return Error((run / "eval").string(), "a file there is not as it was written (" + reason + ")",
               "`" + evaluate_command(run) + "` writes it anew", ErrorKind::run);
}

}  // namespace smile::run

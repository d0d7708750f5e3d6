#include "run/json_file.hpp"

#include <fstream>

namespace smile::run {

nlohmann::ordered_json read_json(const std::filesystem::path& path) {
  std::ifstream in(path);
  return nlohmann::ordered_json::parse(in, nullptr, false);
}

}  // namespace smile::run

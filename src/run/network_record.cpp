// SPDX-License-Identifier: Apache-2.0
#include "run/network_record.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "run/json_file.hpp"
#include "run/remade.hpp"
#include "smile/error.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/run/run_paths.hpp"

namespace smile::experiment {
namespace {

namespace fs = std::filesystem;

/// CRC-32 of the file a network comes from; nothing where it comes from none.
std::optional<std::uint32_t> checksum_of(const Config& config) {
  if (!config.model.row().has_key("path") || !config.model.path) return std::nullopt;
  std::ifstream in(*config.model.path, std::ios::binary);
  if (!in)
    throw Error(*config.model.path, "the network's file cannot be opened",
                "restore it where the run's config.yaml names it");
  uLong crc = crc32(0, nullptr, 0);
  std::vector<char> block(1 << 16);
  while (in.read(block.data(), std::streamsize(block.size())), in.gcount() > 0)
    crc = crc32(crc, reinterpret_cast<const Bytef*>(block.data()), uInt(in.gcount()));
  return std::uint32_t(crc);
}

nlohmann::json read_record(const fs::path& run) {
  return run::read_json(RunPaths(run).network());
}

std::optional<ParameterLayout> layout_of(const nlohmann::json& list) {
  ParameterLayout layout;
  try {
    for (const auto& tensor : list) {
      const auto shape = tensor.at("shape").get<std::vector<std::size_t>>();
      if (layout.add(tensor.at("name"), shape, ParameterKind::other) != tensor.at("offset"))
        return std::nullopt;
    }
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
  if (layout.size() == 0) return std::nullopt;
  return layout;
}

}  // namespace

std::string layout_json(const ParameterLayout& layout) {
  std::string text = "[\n";
  for (std::size_t i = 0; i < layout.groups.size(); ++i) {
    const ParameterGroup& group = layout.groups[i];
    text += fmt::format("  {{\"name\": \"{}\", \"shape\": [{}], \"offset\": {}}}{}\n", group.name,
                        fmt::join(group.shape, ", "), group.offset, i + 1 < layout.groups.size() ? "," : "");
  }
  return text + "]";
}

ParameterLayout read_layout(const fs::path& path) {
  const auto layout = layout_of(run::read_json(path));
  if (!layout)
    throw Error(path.string(), "cannot be read as the list of a run's parameters",
                run::mend_by_remaking(path.parent_path(), path), ErrorKind::run);
  return *layout;
}

void write_network_record(const fs::path& run, const Config& config, const Network& network) {
  const auto checksum = checksum_of(config);
  write_file_atomically(RunPaths(run).network(), fmt::format("{{\"file_crc32\": {}, \"parameters\": {}}}\n",
                                                             checksum ? std::to_string(*checksum) : "null",
                                                             layout_json(network.layout())));
}

ParameterLayout recorded_layout(const fs::path& run) {
  const auto record = read_record(run);
  const auto layout =
      record.is_object() && record.contains("parameters") ? layout_of(record["parameters"]) : std::nullopt;
  if (!layout)
    throw Error((RunPaths(run).network()).string(), "cannot be read as the record of a run's network",
                run::mend_by_remaking(run, RunPaths(run).network()), ErrorKind::run);
  return *layout;
}

void check_same_network_file(const fs::path& run, const Config& config) {
  const auto record = read_record(run);
  if (!record.is_object() || !record.contains("file_crc32") || !record["file_crc32"].is_number_unsigned())
    return;
  if (checksum_of(config) != record["file_crc32"].get<std::uint32_t>())
    throw Error(*config.model.path,
                "it is not the network that the run in " + run.string() + " was started with",
                "restore the file, or start a new run");
}

void check_same_network(const fs::path& run, const Config& config, const Network& network) {
  if (!fs::exists(RunPaths(run).network())) return;
  check_same_network_file(run, config);
  const ParameterLayout before = recorded_layout(run);
  const auto& now = network.layout().groups;
  bool same = before.groups.size() == now.size();
  for (std::size_t i = 0; same && i < now.size(); ++i)
    same = before.groups[i].name == now[i].name && before.groups[i].shape == now[i].shape;
  if (!same)
    throw Error(
        config.model.path.value_or(config.place("model.model")),
        "its parameters are not those of the network that the run in " + run.string() + " was started with",
        "restore the network, or start a new run");
}

}  // namespace smile::experiment

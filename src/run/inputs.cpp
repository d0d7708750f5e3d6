// SPDX-License-Identifier: Apache-2.0
#include "smile/run/inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>
#include <yaml-cpp/yaml.h>
#include <zlib.h>

#include <algorithm>
#include <system_error>

#include "config/read.hpp"
#include "config/schema.hpp"
#include "evaluation/json_fields.hpp"
#include "files/file_error.hpp"
#include "run/json_file.hpp"
#include "smile/error.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/run/run_paths.hpp"

namespace smile {

template <>
struct JsonFields<InputFile> {
  static void visit(auto& field, auto& file) {
    field("key", file.key);
    field("given", file.given);
    field("absolute", file.absolute);
    field("from_run", file.from_run);
    field("from_config", file.from_config);
    field("folder", file.folder);
    field("bytes", file.bytes);
    field("crc32", file.crc32);
  }
};

namespace {

namespace fs = std::filesystem;

constexpr const char* kDataKey = "data.path";

/// The paths that a key names, in order; none where it is null.
std::vector<std::string> paths_of(const schema::Key& key, const Config& config) {
  if (schema::is_null(key, config)) return {};
  const YAML::Node value = YAML::Load(schema::value_text(key, config));
  std::vector<std::string> paths;
  if (value.IsSequence())
    for (const auto& one : value) paths.push_back(one.as<std::string>());
  else
    paths.push_back(value.as<std::string>());
  return paths;
}

void set_paths(const schema::Key& key, const std::vector<std::string>& paths, Config& config) {
  YAML::Node value;
  if (schema::is_list(key))
    for (const std::string& path : paths) value.push_back(path);
  else
    value = paths.front();
  // A text that is in quotes stays a text, whatever it looks like.
  const auto quote = [](YAML::Node node) { node.SetTag("!"); };
  if (value.IsSequence())
    for (auto one : value) quote(one);
  else
    quote(value);
  schema::assign(key, value, std::string(key.path), config);
}

/// Calls `change(key, path)` for every path that a key of inputs names, and puts what comes back in its
/// place.
template <class Change>
void for_each_input(Config& config, const Change& change) {
  for (const schema::Key& key : schema::keys()) {
    if (key.place != schema::NamesPlace::input || !key.when.holds(config)) continue;
    const std::vector<std::string> before = paths_of(key, config);
    std::vector<std::string> after;
    for (const std::string& path : before) after.push_back(change(key, path));
    if (after != before) set_paths(key, after, config);
  }
}

bool is_there(const fs::path& path) {
  std::error_code none;
  return !path.empty() && fs::exists(path, none);
}

std::uint32_t crc32_of_file(const fs::path& path) {
  struct Input {
    int descriptor;
    ~Input() { ::close(descriptor); }
  } input{data::open_input(path)};
  uLong crc = crc32(0, nullptr, 0);
  std::vector<char> block(std::size_t{1} << 20);
  while (const std::size_t got = data::read_some(input.descriptor, block.data(), block.size(), path))
    crc = crc32(crc, reinterpret_cast<const Bytef*>(block.data()), uInt(got));
  return std::uint32_t(crc);
}

fs::path whole_path(const fs::path& path) {
  std::error_code none;
  const fs::path whole = fs::weakly_canonical(fs::absolute(path, none), none);
  return none ? path : whole;
}

/// The folder of a configuration file; empty where it has none ("stdin").
fs::path folder_of(const std::string& config_file) {
  if (!is_there(config_file)) return {};
  return whole_path(config_file).parent_path();
}

/// Where a file may be by now, best guess first.
std::vector<fs::path> candidates(const fs::path& run, const InputFile& file, const InputPlaces& places) {
  const fs::path name = fs::path(file.absolute).filename();
  std::vector<fs::path> all;
  if (!places.data.empty()) {
    if (file.key == kDataKey) all.push_back(places.data);
    all.push_back(fs::path(places.data) / name);
    all.push_back(fs::path(places.data).parent_path() / name);
  }
  all.push_back(file.given);
  all.push_back(file.absolute);
  all.push_back(whole_path(run) / file.from_run);
  if (const fs::path folder = folder_of(places.config); !folder.empty()) {
    all.push_back(folder / file.from_config);
    all.push_back(folder / file.given);
  }
  return all;
}

[[noreturn]] void not_found(const InputFile& file, const fs::path& changed, const InputPlaces& places) {
  const bool data = file.key == kDataKey;
  const std::string mend = !data && places.data.empty()
                               ? "put it there, or name a folder that holds it with --data PLACE"
                           : data ? "put the file back, or say where it is with --data PLACE"
                                  : "put it back";
  if (!changed.empty())
    throw Error(changed.string(),
                fmt::format("is not the file that the run was started with ({}: {} bytes, CRC-32 {:08x})",
                            file.key, file.bytes, file.crc32),
                "give the place of that file");
  throw Error(file.absolute,
              fmt::format("the run needs this {} ({}), and it is not there", file.folder ? "folder" : "file",
                          file.key),
              mend);
}

/// Where the file is. @return empty where it is not found and not needed
std::string place_of(const fs::path& run, const InputFile& file, const InputPlaces& places) {
  fs::path changed;
  for (const fs::path& candidate : candidates(run, file, places)) {
    if (!is_there(candidate)) continue;
    if (is_same_input(file, candidate)) return candidate.string();
    const bool folder_of_inputs = fs::is_directory(candidate) && !file.folder;
    if (changed.empty() && !folder_of_inputs) changed = candidate;
  }
  // What was loaded from a changed file may be the same; who loads it compares, and can say what differs.
  if (places.data.empty() && !changed.empty()) return changed.string();
  if (places.needed) not_found(file, changed, places);
  return {};
}

}  // namespace

bool is_same_input(const InputFile& file, const fs::path& path) {
  std::error_code failure;
  if (file.folder) return fs::is_directory(path, failure);
  return fs::is_regular_file(path, failure) && fs::file_size(path, failure) == file.bytes && !failure &&
         crc32_of_file(path) == file.crc32;
}

Config with_found_inputs(const Config& config) {
  Config found = config;
  const fs::path folder = folder_of(config.file);
  for_each_input(found, [&](const schema::Key&, const std::string& path) {
    if (is_there(path) || folder.empty() || !is_there(folder / path)) return path;
    return (folder / path).lexically_normal().string();
  });
  return found;
}

void write_inputs(const fs::path& run, const Config& config) {
  std::vector<InputFile> files;
  Config same = config;
  const fs::path folder = folder_of(config.file);
  for_each_input(same, [&](const schema::Key& key, const std::string& path) {
    std::error_code none;
    const bool is_folder = fs::is_directory(path, none);
    if (!is_folder && !fs::is_regular_file(path, none)) return path;  // no file: nothing to find again
    InputFile file;
    file.key = key.path;
    file.given = path;
    const fs::path whole = whole_path(path);
    file.absolute = whole.string();
    file.from_run = whole.lexically_relative(whole_path(run)).string();
    if (!folder.empty()) file.from_config = whole.lexically_relative(folder).string();
    file.folder = is_folder;
    if (!is_folder) file.bytes = fs::file_size(path), file.crc32 = crc32_of_file(path);
    files.push_back(std::move(file));
    return path;
  });
  write_file_atomically(RunPaths(run).inputs(), json_fields::write(files).dump(1) + "\n");
}

std::vector<InputFile> read_inputs(const fs::path& run) {
  std::vector<InputFile> files;
  const auto json = run::read_json(RunPaths(run).inputs());
  if (json.is_array()) json_fields::read(json, files);
  return files;
}

void move_inputs(const fs::path& run, const fs::path& folder, const fs::path& name) {
  std::vector<InputFile> files = read_inputs(run);
  for (InputFile& file : files)
    file.from_run = fs::path(file.absolute).lexically_relative(whole_path(name)).string();
  write_file_atomically(RunPaths(folder).inputs(), json_fields::write(files).dump(1) + "\n");
}

Config with_inputs_of(const fs::path& run, Config config, const InputPlaces& places) {
  std::vector<InputFile> files = read_inputs(run);
  for_each_input(config, [&](const schema::Key& key, const std::string& path) {
    const auto known =
        std::find_if(files.begin(), files.end(), [&](const InputFile& file) { return file.key == key.path; });
    if (known == files.end()) return key.path == kDataKey && !places.data.empty() ? places.data : path;
    InputFile file = std::move(*known);
    files.erase(known);  // of several of one key the next one is the next path's
    if (path != file.given && !path.empty() && is_there(path) && is_same_input(file, path)) return path;
    InputPlaces wanted = places;
    // Members that a run has taken are its own by now.
    if (file.key == "training.warmstart.warmstart_exp_dir") wanted.needed = false;
    const std::string place = place_of(run, file, wanted);
    return place.empty() ? path : place;
  });
  return config;
}

std::string first_other_input(const fs::path& run, const Config& now) {
  const Config before = load_config(RunPaths(run).config().string());
  const std::vector<InputFile> files = read_inputs(run);
  for (const schema::Key& key : schema::keys()) {
    if (key.place != schema::NamesPlace::input || !key.when.holds(now)) continue;
    const std::vector<std::string> then = paths_of(key, before), paths = paths_of(key, now);
    bool same = then.size() == paths.size();
    for (std::size_t i = 0; same && i < paths.size(); ++i) {
      if (then[i] == paths[i]) continue;
      const auto known = std::find_if(files.begin(), files.end(), [&](const InputFile& file) {
        return file.key == key.path && file.given == then[i];
      });
      same = known != files.end() &&
             (whole_path(paths[i]) == known->absolute || is_same_input(*known, paths[i]));
    }
    if (!same)
      return fmt::format("{} ({} in the run, {} now)", key.path, schema::value_text(key, before),
                         schema::value_text(key, now));
  }
  return {};
}

Config load_run_config(const fs::path& run, const InputPlaces& places) {
  return with_inputs_of(run, load_config(RunPaths(run).config().string()), places);
}

}  // namespace smile

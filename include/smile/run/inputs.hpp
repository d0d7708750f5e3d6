// SPDX-License-Identifier: Apache-2.0
/// inputs.json: the files that the configuration of a run names, so that they are found when the run's folder
/// or they themselves have moved (docs/decisions/0030).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "smile/config/config.hpp"

namespace smile {

/// A file or folder as a run found it when it began.
struct InputFile {
  std::string key;          ///< "data.path"
  std::string given;        ///< as the configuration has it
  std::string absolute;     ///< where that was
  std::string from_run;     ///< relative to the run's folder
  std::string from_config;  ///< relative to the folder of the configuration file; empty: not known
  std::uint64_t bytes = 0;
  std::uint32_t crc32 = 0;
  bool folder = false;  ///< then bytes and crc32 are not known

  bool operator==(const InputFile&) const = default;
};

/// The configuration with paths that lead where the process is: a path that is not found from the working
/// folder is looked for from the folder of the configuration file. What is nowhere stays as it is.
Config with_found_inputs(const Config& config);

/// Measures the inputs of a run that begins and writes the file.
/// @throws Error where one cannot be read or the file not be written
void write_inputs(const std::filesystem::path& run, const Config& config);
/// Nothing where the run has no such file or none that can be read (runs of older versions).
std::vector<InputFile> read_inputs(const std::filesystem::path& run);

/// Where else inputs may be.
struct InputPlaces {
  std::string data = {};    ///< `--data`: the data file or folder itself, or a folder that holds the inputs
  std::string config = {};  ///< a configuration file from whose folder they may be found; may be empty
  /// Refuses what is not found. Else its path stays as it is, for whoever needs it to say so.
  bool needed = true;
};

/// The configuration of a run with the places where its inputs are now. Files are known by size and CRC-32;
/// folders by their being there, since what is loaded from them is checked.
/// Where only a changed file is found, that is taken: who loads it compares, but for one that --data names.
/// @param config  the run's, or an equal one
/// @throws Error (usage) that names what is not found, or found with --data but changed
Config with_inputs_of(const std::filesystem::path& run, Config config, const InputPlaces& places = {});

/// load_config() of the run's own configuration, and with_inputs_of().
Config load_run_config(const std::filesystem::path& run, const InputPlaces& places = {});

/// Writes the inputs of one run as those of another folder, in `folder`, which will be called `name`.
void move_inputs(const std::filesystem::path& run, const std::filesystem::path& folder,
                 const std::filesystem::path& name);

/// The first input that another configuration of the run names by another path which does not lead to the
/// same file, as in first_difference(); empty where there is none.
std::string first_other_input(const std::filesystem::path& run, const Config& now);

/// Whether what `path` names is what the run was started with.
bool is_same_input(const InputFile& file, const std::filesystem::path& path);

}  // namespace smile

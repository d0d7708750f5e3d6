// SPDX-License-Identifier: Apache-2.0
/// `smile init`: a first configuration for a table, as a file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace smile {

struct InitOptions {
  std::filesystem::path data;
  std::optional<std::string> target;  ///< as DraftOptions::target
  std::filesystem::path out;          ///< empty: the table's name with .yaml, in the working folder
  bool replace = false;               ///< also where the file is there already
};

struct InitSummary {
  std::filesystem::path file;
  std::vector<std::string> assumptions;  ///< one line each
};

/// @throws Error as draft_config(), for an output that would replace what is read or belongs to a run, and
/// for a
///         file that is there already
InitSummary write_first_configuration(const InitOptions& options);

}  // namespace smile

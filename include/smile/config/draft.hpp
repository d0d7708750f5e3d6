// SPDX-License-Identifier: Apache-2.0
/// A first configuration for a table, from what stands in it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace smile {

struct DraftOptions {
  std::optional<std::string> target;  ///< name or index from 0; empty: a usual name, else the last column
};

struct ConfigDraft {
  std::string yaml;                      ///< with comments; `smile run` takes it as it is
  std::vector<std::string> assumptions;  ///< what was decided, one line each; also comments of `yaml`
};

/// Looks at the whole table: what can be predicted from what, by which task, with which cells left out.
/// @param data  as it shall stand in the configuration
/// @throws Error as survey_table(), for a target that there is not or that cannot be predicted, for too few
///         rows, and where no feature is left
ConfigDraft draft_config(const std::filesystem::path& data, const DraftOptions& options = {});

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// Where an output must not go: the one place that decides, for every command that writes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace smile {

struct Config;

/// Knows what a command reads, and refuses outputs that would replace it.
class OutputGuard {
 public:
  /// A file that is read, or a folder of which everything is. What does not exist is no matter.
  OutputGuard& reads(const std::filesystem::path& input);
  /// The files that a configuration names: data, test part, out-of-distribution set, networks.
  OutputGuard& reads(const Config& config);
  /// A run that is read: the files that its configuration names.
  OutputGuard& reads_run(const std::filesystem::path& run);

  /// Links are followed. @param own_name  the file of a run folder that this command is there to write,
  /// "report.html"
  /// @throws Error (usage) where the output is or lies inside what is read, or is a file that belongs to a
  /// run
  void check(const std::filesystem::path& output, const std::filesystem::path& own_name = {}) const;

 private:
  std::vector<std::filesystem::path> inputs_;
};

/// Whether the folder is a run's, or that of a step-size search.
bool is_run_folder(const std::filesystem::path& folder);

}  // namespace smile

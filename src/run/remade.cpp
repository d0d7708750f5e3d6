// SPDX-License-Identifier: Apache-2.0
#include "run/remade.hpp"

#include <system_error>

#include "smile/run/run_paths.hpp"
#include "smile/shell_text.hpp"

namespace smile::run {

std::string resume_command(const std::filesystem::path& run) {
  return "smile run " + shell_quoted(RunPaths(run).config().string()) + " --out " +
         shell_quoted(run.string()) + " --resume";
}

std::string evaluate_command(const std::filesystem::path& run) {
  return "smile evaluate " + shell_quoted(run.string());
}

std::string mend_by_remaking(const std::filesystem::path& run, const std::filesystem::path& file) {
  std::error_code none;
  const bool missing = !std::filesystem::exists(file, none) && !none;
  return (missing ? "`" : "remove the file, and `") + resume_command(run) + "` makes it again";
}

}  // namespace smile::run

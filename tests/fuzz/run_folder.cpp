// SPDX-License-Identifier: Apache-2.0
/// Folders of runs. An input is a list of files, each begun by a line "=== NAME"; a name that a run does not
/// have is left out. A folder is looked at by all that only read: inspected, diagnosed, told about, made a
/// report of.
#include "fuzz.hpp"
#include "run/network_record.hpp"
#include "smile/diagnosis/diagnosis.hpp"
#include "smile/experiment/run_status.hpp"
#include "smile/report/html_report.hpp"
#include "smile/run/inputs.hpp"
#include "smile/run/run_access.hpp"
#include "smile/run/run_inspection.hpp"

namespace {

constexpr std::string_view kMark = "=== ";

bool is_plain(std::string_view name) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyz0123456789-_./";
  return !name.empty() && name.size() < 60 && name.front() != '/' && name.back() != '/' &&
         name.find("..") == std::string_view::npos && name.find("//") == std::string_view::npos &&
         name.find_first_not_of(allowed) == std::string_view::npos;
}

std::filesystem::path unpacked(std::string_view input) {
  const std::filesystem::path run = smile::fuzz::folder() / "run";
  std::error_code ignored;
  std::filesystem::remove_all(run, ignored);
  std::filesystem::create_directories(run);
  while (input.starts_with(kMark)) {
    const std::size_t line = std::min(input.find('\n'), input.size());
    const std::string name(input.substr(kMark.size(), line - kMark.size()));
    input.remove_prefix(std::min(line + 1, input.size()));
    const std::size_t next = input.find("\n=== ");
    const std::string_view content = input.substr(0, next);
    if (is_plain(name)) {
      std::filesystem::create_directories((run / name).parent_path(), ignored);
      std::ofstream(run / name, std::ios::binary).write(content.data(), std::streamsize(content.size()));
    }
    input.remove_prefix(next == std::string_view::npos ? input.size() : next + 1);
  }
  return run;
}

}  // namespace

SMILE_FUZZ(input) {
  using namespace smile;
  const auto run = unpacked(input);
  fuzz::read_or_refuse([&] { require_run(run); });
  fuzz::read_or_refuse([&] { static_cast<void>(inspect_run(run)); });
  fuzz::read_or_refuse([&] { static_cast<void>(to_text(run_status(run, false))); });
  fuzz::read_or_refuse([&] { static_cast<void>(to_text(diagnose_run(run))); });
  fuzz::read_or_refuse([&] { static_cast<void>(experiment::recorded_layout(run)); });
  fuzz::read_or_refuse([&] { static_cast<void>(load_run_config(run)); });
  fuzz::read_or_refuse([&] { static_cast<void>(write_report(run.string())); });
}

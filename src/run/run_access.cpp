// SPDX-License-Identifier: Apache-2.0
#include "smile/run/run_access.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "files/file_error.hpp"
#include "run/provenance.hpp"
#include "run/remade.hpp"
#include "smile/config/config.hpp"
#include "smile/ensemble/ensemble_runner.hpp"
#include "smile/error.hpp"
#include "smile/run/run_directory.hpp"
#include "smile/run/run_paths.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;

/// The folders directly inside that are runs, by name.
std::vector<std::string> runs_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (RunPaths(entry.path()).is_run()) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

[[noreturn]] void not_a_run(const fs::path& path) {
  const auto names = runs_in(path);
  if (names.empty())
    throw Error(path.string(), "the folder holds no run (no config.yaml)", "give the folder of a run");
  constexpr std::size_t kShown = 4;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), kShown); ++i) list += (i ? ", " : "") + names[i];
  if (names.size() > kShown) list += ", …";
  throw Error(path.string(), fmt::format("the folder is not a run, it holds {}", names.size()),
              "give one of them: " + list);
}

/// The version that wrote the run: from status.json, else from the first line of config.yaml; empty where
/// neither says.
std::string version_of(const fs::path& run) {
  if (const auto state = read_run_state(run); state && !state->version.empty()) return state->version;
  std::istringstream config(data::read_file_if_there(RunPaths(run).config()).value_or(""));
  std::string line;
  std::getline(config, line);
  constexpr std::string_view kBefore = " of smile ";
  const auto at = line.find(kBefore);
  if (!line.starts_with('#') || at == std::string::npos) return {};
  std::string version = line.substr(at + kBefore.size());
  if (version.ends_with('.')) version.pop_back();
  return version;
}

/// The part of a version within which run directories can be read: "0.1" of "0.1.3", "2" of "2.0.1".
std::string generation(const std::string& version) {
  const std::size_t first = version.find('.');
  if (first == std::string::npos || !version.starts_with("0.")) return version.substr(0, first);
  return version.substr(0, version.find('.', first + 1));
}

}  // namespace

void require_known_run(const fs::path& run) {
  std::error_code ignored;
  if (!fs::exists(run, ignored))
    throw Error(run.string(), "there is no such run directory", "give the folder of a run");
  if (!fs::is_directory(run, ignored))
    throw Error(run.string(), "is a file, not a run directory", "give the folder of a run");
  if (!RunPaths(run).is_run()) not_a_run(run);
  const std::string version = version_of(run), ours = provenance::version();
  if (version.empty())
    throw Error(run.string(), "the run does not say which version of smile wrote it",
                "restore its status.json, or give the folder of a run that smile run has made");
  if (generation(version) != generation(ours))
    throw Error(run.string(),
                "the run was written by smile " + version + " and this is smile " + ours +
                    ", which reads runs of smile " + generation(ours),
                "use smile " + version + ", or run the configuration again with this version");
}

std::string run_writer(const fs::path& run) {
  std::vector<std::string> writers;
  for (const RunLock& lock : run_locks(run)) {
    if (lock.look.state != LockState::held) continue;
    std::string name = lock.look.holder.name();
    if (std::find(writers.begin(), writers.end(), name) == writers.end()) writers.push_back(std::move(name));
  }
  if (writers.empty()) return {};
  if (writers.size() == 1) return writers.front();
  return fmt::format("{} and {} more", writers.front(), writers.size() - 1);
}

void require_run(const fs::path& run) {
  require_known_run(run);
  if (const std::string writer = run_writer(run); !writer.empty())
    throw Error(run.string(), "the run is being written by " + writer,
                "wait for it or stop it; `smile status` says how far it is", ErrorKind::run);
}

RunProgress run_progress(const fs::path& run) {
  RunProgress progress;
  if (const auto state = read_run_state(run))
    progress.status = state->status, progress.phase = state->phase, progress.reason = state->reason;
  const Config config = load_config(RunPaths(run).config().string());
  progress.chains = std::size_t(config.training.sampler.n_chains);
  for (std::size_t i = 0; i < progress.chains; ++i) {
    const auto record = read_chain_record(run, std::uint32_t(i));
    if (!record) continue;
    if (record->status == ChainStatus::failed) {
      ++progress.failed;
      continue;
    }
    progress.complete += record->status == ChainStatus::complete;
    progress.draws += record->stored;
    progress.steps_done += record->step;
    progress.steps_all += record->total_steps;
  }
  return progress;
}

void require_complete(const fs::path& run, const std::string& use_anyway) {
  const RunProgress progress = run_progress(run);
  if (progress.all_ended()) return;
  std::string there = progress.steps_all == 0
                          ? "no chain has begun"
                          : fmt::format("{} of {} chains are complete, {} draws are stored",
                                        progress.complete, progress.chains, progress.draws);
  if (progress.failed > 0) there += fmt::format(", {} chains failed", progress.failed);
  std::string why = progress.status == "running" ? "its process has gone" : progress.reason;
  if (!why.empty()) there += " (" + why + ")";
  const std::string again = "let it go on with `" + run::resume_command(run) + "`";
  throw Error(run.string(), "the run is incomplete: " + there,
              use_anyway.empty() || progress.draws == 0
                  ? again
                  : again + ", or use the draws that are there with " + use_anyway,
              ErrorKind::run);
}

}  // namespace smile

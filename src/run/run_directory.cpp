// SPDX-License-Identifier: Apache-2.0
#include "smile/run/run_directory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <fstream>
#include <system_error>
#include <thread>
#include <utility>

#include "config/schema.hpp"
#include "evaluation/json_fields.hpp"
#include "run/json_file.hpp"
#include "run/output_guard.hpp"
#include "run/provenance.hpp"
#include "smile/error.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/run/run_paths.hpp"

namespace smile {

template <>
struct JsonFields<RunState> {
  static void visit(auto& field, auto& state) {
    field("host", state.host);
    field("phase", state.phase);
    field("pid", state.pid);
    field("reason", state.reason);
    field("status", state.status);
    field("time", state.time);
    field("version", state.version);
  }
};

namespace {

namespace fs = std::filesystem;

std::string local_time(const char* format) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), format, &parts)};
}

[[noreturn]] void cannot_make(const fs::path& path, const std::error_code& why) {
  throw Error(path.string(), "cannot make the run directory (" + why.message() + ")",
              "choose a folder you may write to with --out or saving_dir", ErrorKind::run);
}

[[noreturn]] void in_use(const fs::path& run, const LockHolder& holder, const LockPatience& patience) {
  const bool elsewhere = holder.host != provenance::host_name();
  throw Error(run.string(), "the run is in use by " + holder.name(),
              elsewhere
                  ? fmt::format("wait for it or stop it; if it is dead, it is taken over {:g} s after its "
                                "last sign of life",
                                patience.takeover_seconds)
                  : "wait for it or stop it",
              ErrorKind::run);
}

/// Writes into a file that is there, without a copy beside it. @return whether it holds the text now
bool overwrite(const fs::path& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool done = ::pwrite(file, text.data(), text.size(), 0) == ssize_t(text.size()) &&
                    ::ftruncate(file, off_t(text.size())) == 0 && ::fsync(file) == 0;
  ::close(file);
  return done;
}

}  // namespace

RunDirectory::RunDirectory(fs::path path) : path_(std::move(path)), log_(RunPaths(path_).log()) {}

namespace {

/// Temporary files of processes that were killed while they wrote. @pre nobody else writes
void remove_unfinished(const fs::path& run) {
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(run, ignored))
    if (entry.path().filename().string().find(".tmp-") != std::string::npos)
      fs::remove(entry.path(), ignored);
}

/// Removes the locks of chains and members whose holders are gone. @return one who is not. The first rank
/// waits for the end of a run and does nothing to it meanwhile
std::optional<LockHolder> remove_left_locks(const fs::path& run, const LockPatience& patience) {
  const RunPaths paths(run);
  std::optional<LockHolder> living;
  for (const RunLock& part : run_locks(run, patience)) {
    if (part.part.empty()) continue;
    const fs::path lock = paths.locks() / part.part;
    if (part.look.state != LockState::held)
      remove_lock(lock);
    else if (lock != paths.first_rank_lock())
      living = part.look.holder;
  }
  return living;
}

/// Makes the folder of a new run, which may hold what a process has left that was killed before it wrote
/// config.yaml. @return what else is in it; empty where nothing is
std::string make_folder(const fs::path& path, const Config* config) {
  OutputGuard guard;
  if (config) guard.reads(*config);
  guard.check(RunPaths(path).config());
  std::error_code why;
  fs::create_directories(path, why);
  if (why) cannot_make(path, why);
  std::string foreign;
  for (const auto& entry : fs::directory_iterator(path, why))
    if (!is_left_of_a_new_run(entry.path().filename())) foreign = entry.path().filename().string();
  if (why) cannot_make(path, why);
  return foreign;
}

[[noreturn]] void not_empty(const fs::path& path) {
  throw Error(path.string(), "the folder is not empty", "give an empty or a new folder with --out");
}

}  // namespace

RunDirectory RunDirectory::create(const fs::path& path, const Config* config, const LockPatience& patience) {
  const auto is_run = [&] {
    if (RunPaths(path).is_run())
      throw Error(path.string(), "there is a run already",
                  "go on with it by --resume, or give another --out");
  };
  is_run();
  if (!make_folder(path, config).empty()) not_empty(path);
  RunDirectory directory(path);
  directory.lock(patience);
  is_run();
  return directory;
}

std::optional<RunDirectory> RunDirectory::create_unless_there(const fs::path& path, const Config* config,
                                                              const LockPatience& patience) {
  const auto begin = std::chrono::steady_clock::now();
  const auto most = std::chrono::duration<double>(2 * patience.takeover_seconds + 60);
  while (!RunPaths(path).is_run()) {
    // What belongs to a run by now was not foreign.
    try {
      if (!make_folder(path, config).empty() && !RunPaths(path).is_run()) not_empty(path);
    } catch (const Error&) {
      if (RunPaths(path).is_run()) return std::nullopt;
      throw;
    }
    RunDirectory directory(path);
    LockLook other;
    directory.lock_ = LockFile::take(RunPaths(path).lock(), true, &other, patience);
    if (directory.lock_) {
      if (RunPaths(path).is_run()) return std::nullopt;
      return directory;
    }
    if (std::chrono::steady_clock::now() - begin > most) in_use(path, other.holder, patience);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return std::nullopt;
}

RunDirectory RunDirectory::open(const fs::path& path, const LockPatience& patience) {
  if (!fs::is_directory(path))
    throw Error(path.string(), "there is no such run directory", "give the folder of a run");
  if (!RunPaths(path).is_run())
    throw Error(path.string(), "the folder holds no run (no config.yaml)", "give the folder of a run");
  RunDirectory directory(path);
  directory.lock(patience);
  remove_unfinished(path);
  return directory;
}

RunDirectory RunDirectory::held(const fs::path& path, std::unique_ptr<LockFile> lock) {
  RunDirectory directory(path);
  directory.lock_ = std::move(lock);
  remove_left_locks(path, {});
  remove_unfinished(path);
  return directory;
}

RunDirectory RunDirectory::join(const fs::path& path) {
  RunDirectory directory(path);
  std::error_code ignored;
  const fs::path logs = RunPaths(path).part_logs();
  fs::create_directories(logs, ignored);
  directory.log_ = logs / fmt::format("{}-{}.log", provenance::host_name(), ::getpid());
  return directory;
}

void RunDirectory::lock(const LockPatience& patience) {
  LockLook other;
  lock_ = LockFile::take(RunPaths(path_).lock(), true, &other, patience);
  if (!lock_) in_use(path_, other.holder, patience);
  if (const auto holder = remove_left_locks(path_, patience)) in_use(path_, *holder, patience);
}

std::vector<RunLock> run_locks(const fs::path& run, const LockPatience& patience) {
  const RunPaths paths(run);
  std::vector<RunLock> locks;
  if (LockLook look = look_at_lock(paths.lock(), patience); look.state != LockState::free)
    locks.push_back({"", std::move(look)});
  std::error_code ignored;
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(paths.locks(), ignored))
    if (!entry.path().has_extension()) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  for (std::string& name : names)
    if (LockLook look = look_at_lock(paths.locks() / name, patience); look.state != LockState::free)
      locks.push_back({std::move(name), std::move(look)});
  return locks;
}

void RunDirectory::write_config(const Config& config) const {
  write_file_atomically(RunPaths(path_).config(), provenance::comment() + to_yaml(config));
}

void RunDirectory::write_state(const RunState& state) const {
  RunState now = state;
  now.time = local_time("%Y-%m-%dT%H:%M:%S%z");
  now.host = provenance::host_name();
  now.pid = ::getpid();
  now.version = provenance::version();
  const std::string written = json_fields::write(now).dump(2) + "\n";
  try {
    write_file_atomically(RunPaths(path_).state(), written);
  } catch (const Error&) {
    // A full disk has no room for a second file, but the block of the old one is there.
    if (!overwrite(RunPaths(path_).state(), written)) throw;
  }
}

void RunDirectory::log(const std::string& line) const noexcept {
  try {
    std::ofstream out(log_, std::ios::app);
    out << local_time("%Y-%m-%d %H:%M:%S ") << line << '\n';
  } catch (...) {
    // A log that cannot be written must not end a run; what matters goes to files that are checked.
  }
}

std::optional<RunState> read_run_state(const fs::path& path) {
  const auto json = run::read_json(RunPaths(path).state());
  if (!json.is_object()) return std::nullopt;
  RunState state;
  json_fields::read(json, state);
  return state;
}

fs::path new_run_path(const Config& config) {
  const fs::path parent = fs::path(config.saving_dir) / config.experiment_name;
  const std::string name = local_time("%Y-%m-%d_%H-%M-%S");
  fs::path path = parent / name;
  for (int i = 2; fs::exists(path); ++i) path = parent / (name + "-" + std::to_string(i));
  return path;
}

std::optional<fs::path> latest_unfinished_run(const Config& config) {
  const fs::path parent = fs::path(config.saving_dir) / config.experiment_name;
  std::error_code ignored;
  std::optional<fs::path> latest;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    if (!RunPaths(entry.path()).is_run()) continue;
    const auto state = read_run_state(entry.path());
    if (state && state->status == "complete") continue;
    if (!latest || entry.path().filename() > latest->filename()) latest = entry.path();
  }
  return latest;
}

std::string first_difference(const Config& run, const Config& now) {
  for (const auto& key : schema::keys()) {
    if (key.place != schema::NamesPlace::no) continue;
    const std::string before = schema::value_text(key, run), after = schema::value_text(key, now);
    if (before != after) return std::string(key.path) + " (" + before + " in the run, " + after + " now)";
  }
  return {};
}

}  // namespace smile

#include "smile/run/run_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <fstream>
#include <system_error>
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

/// "process 4711 on host", from the lock file's text "pid host".
std::string holder_of(const fs::path& lock) {
  std::ifstream in(lock);
  std::string pid, host;
  if (!(in >> pid >> host)) return "another process";
  return "process " + pid + " on " + host;
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

RunDirectory::RunDirectory(fs::path path) : path_(std::move(path)) {}

RunDirectory::RunDirectory(RunDirectory&& other) noexcept
    : path_(std::move(other.path_)), lock_descriptor_(std::exchange(other.lock_descriptor_, -1)) {}

RunDirectory::~RunDirectory() {
  if (lock_descriptor_ < 0) return;
  std::error_code ignored;
  fs::remove(RunPaths(path_).lock(), ignored);
  ::close(lock_descriptor_);
}

RunDirectory RunDirectory::create(const fs::path& path, const Config* config) {
  std::error_code why;
  if (!RunPaths(path).is_run()) {
    OutputGuard guard;
    if (config) guard.reads(*config);
    guard.check(RunPaths(path).config());
  }
  fs::create_directories(path, why);
  if (why) cannot_make(path, why);
  if (RunPaths(path).is_run())
    throw Error(path.string(), "there is a run already", "go on with it by --resume, or give another --out");
  // What a process leaves that was killed before it wrote config.yaml does not count.
  for (const auto& entry : fs::directory_iterator(path, why)) {
    if (!is_left_of_a_new_run(entry.path().filename()))
      throw Error(path.string(), "the folder is not empty", "give an empty or a new folder with --out");
  }
  if (why) cannot_make(path, why);
  RunDirectory directory(path);
  directory.lock();
  return directory;
}

RunDirectory RunDirectory::open(const fs::path& path) {
  if (!fs::is_directory(path))
    throw Error(path.string(), "there is no such run directory", "give the folder of a run");
  if (!RunPaths(path).is_run())
    throw Error(path.string(), "the folder holds no run (no config.yaml)", "give the folder of a run");
  RunDirectory directory(path);
  directory.lock();
  // Temporary files of a process that was killed while it wrote.
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(path, ignored))
    if (entry.path().filename().string().find(".tmp-") != std::string::npos)
      fs::remove(entry.path(), ignored);
  return directory;
}

void RunDirectory::lock() {
  const fs::path file = RunPaths(path_).lock();
  // The kernel's lock ends with its process, so a file left behind by a dead one on this host does not count;
  // one that names another host does, since not every shared file system passes the kernel's lock on.
  for (int attempt = 0; attempt < 10; ++attempt) {
    const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor < 0) cannot_make(path_, {errno, std::generic_category()});
    const bool mine = ::flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    std::ifstream in(file);
    std::string pid, host;
    const bool elsewhere = (in >> pid >> host) && host != provenance::host_name();
    if (!mine || elsewhere) {
      ::close(descriptor);
      throw Error(path_.string(), "the run is in use by " + holder_of(file),
                  elsewhere ? "wait for it or stop it; if it is dead, remove the file `lock` there"
                            : "wait for it or stop it",
                  ErrorKind::run);
    }
    struct stat opened {
    }, named{};
    const bool current = ::fstat(descriptor, &opened) == 0 && ::stat(file.c_str(), &named) == 0 &&
                         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
    if (!current) {  // its owner removed it between our two calls
      ::close(descriptor);
      continue;
    }
    const std::string text = std::to_string(::getpid()) + " " + provenance::host_name() + "\n";
    if (::ftruncate(descriptor, 0) != 0 ||
        ::pwrite(descriptor, text.data(), text.size(), 0) != ssize_t(text.size())) {
      const int error = errno;
      ::close(descriptor);
      cannot_make(path_, {error, std::generic_category()});
    }
    lock_descriptor_ = descriptor;
    return;
  }
  throw Error(path_.string(), "the lock file keeps changing", "check which processes use the folder",
              ErrorKind::run);
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
    std::ofstream out(RunPaths(path_).log(), std::ios::app);
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
    const std::string before = schema::value_text(key, run), after = schema::value_text(key, now);
    if (before != after) return std::string(key.path) + " (" + before + " in the run, " + after + " now)";
  }
  return {};
}

}  // namespace smile

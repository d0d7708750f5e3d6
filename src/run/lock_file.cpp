// SPDX-License-Identifier: Apache-2.0
#include "smile/run/lock_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <fstream>
#include <mutex>
#include <random>
#include <sstream>
#include <system_error>
#include <thread>
#include <vector>

#include "evaluation/json_fields.hpp"
#include "files/file_error.hpp"
#include "run/provenance.hpp"
#include "smile/error.hpp"

namespace smile {

template <>
struct JsonFields<LockHolder> {
  static void visit(auto& field, auto& holder) {
    field("host", holder.host);
    field("machine", holder.machine);
    field("pid", holder.pid);
    field("started", holder.started);
    field("token", holder.token);
    field("since", holder.since);
    field("beat", holder.beat);
    field("note", holder.note);
  }
};

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// A lock file is a line of this length, so that a beat writes over all of the one before.
constexpr std::size_t kLineBytes = 2048, kLongestNote = 200;

std::string first_line_of(const fs::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

/// Field 22 of /proc/PID/stat: when the process started. 0 where there is none, or only what is left of a
/// dead one for its parent to fetch.
std::uint64_t start_of(std::int64_t pid) {
  const std::string stat = first_line_of("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t after_name = stat.rfind(')');  // a name may hold anything
  if (after_name == std::string::npos) return 0;
  std::istringstream fields(stat.substr(after_name + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number)
    if (!(fields >> field) || (number == 3 && (field == "Z" || field == "X"))) return 0;
  return std::strtoull(field.c_str(), nullptr, 10);
}

/// Containers may share a host's name, not its process numbers.
const std::string& this_machine() {
  static const std::string machine = [] {
    std::array<char, 64> space{};
    const ssize_t length = ::readlink("/proc/self/ns/pid", space.data(), space.size() - 1);
    return first_line_of("/proc/sys/kernel/random/boot_id") + " " +
           std::string(space.data(), std::size_t(std::max<ssize_t>(length, 0)));
  }();
  return machine;
}

std::string new_token() {
  static std::atomic<unsigned> counter{0};
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:x}{:x}", random(), random(), ::getpid(), counter++);
}

std::int64_t now_seconds() {
  return std::int64_t(std::time(nullptr));
}

std::string line_of(const LockHolder& holder) {
  std::string line =
      json_fields::write(holder).dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  line.resize(kLineBytes - 1, ' ');
  return line + "\n";
}

/// The file as it is; nothing where it is not there. A file without a maker's name has just been made, or its
/// maker died right then: it is known by its number, and by its age.
std::optional<LockHolder> read_lock(const fs::path& path) {
  // Of two looks one is not in the middle of a beat.
  for (int attempt = 0;; ++attempt) {
    const int file = data::open_file(path, O_RDONLY);
    if (file < 0) {
      if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
      throw data::write_error(path, "the lock cannot be read", errno);
    }
    std::string text(kLineBytes, '\0');
    const ssize_t got = ::pread(file, text.data(), text.size(), 0);
    struct stat status {};
    ::fstat(file, &status);
    ::close(file);
    text.resize(std::size_t(std::max<ssize_t>(got, 0)));
    const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
    LockHolder holder;
    if (json.is_object()) {
      json_fields::read(json, holder);
      if (!holder.token.empty()) return holder;
    }
    if (attempt < 3) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      continue;
    }
    holder.host = "a host that it does not name";
    holder.token = fmt::format("unnamed-{}", status.st_ino);
    holder.beat = holder.since = status.st_mtime;
    return holder;
  }
}

fs::path successor_of(const fs::path& path, const LockHolder& holder) {
  return path.string() + "." + holder.token;
}

/// A lock and those that took it over, one after the other.
struct Line {
  std::vector<fs::path> files;
  LockHolder last;
};
std::optional<Line> follow(const fs::path& path) {
  auto holder = read_lock(path);
  if (!holder) return std::nullopt;
  Line line{{path}, *holder};
  while (true) {
    const fs::path next = successor_of(path, line.last);
    holder = read_lock(next);
    if (!holder) return line;
    line.files.push_back(next);
    line.last = *holder;
  }
}

bool is_stale(const LockHolder& holder, const LockPatience& patience) {
  if (holder.machine == this_machine() && holder.pid > 0) {
    const bool there = ::kill(pid_t(holder.pid), 0) == 0 || errno == EPERM;
    return !there || (holder.started != 0 && start_of(holder.pid) != holder.started);
  }
  // Also one of this host before it was started anew, and one that never wrote its name.
  if (holder.host == provenance::host_name() && !holder.machine.empty() && !this_machine().empty() &&
      holder.machine.substr(0, holder.machine.find(' ')) !=
          this_machine().substr(0, this_machine().find(' ')) &&
      holder.beat + std::int64_t(2 * patience.beat_seconds) < now_seconds())
    return true;
  return double(now_seconds() - holder.beat) > patience.takeover_seconds;
}

LockHolder this_process() {
  LockHolder self;
  self.host = provenance::host_name();
  self.machine = this_machine();
  self.pid = ::getpid();
  self.started = start_of(self.pid);
  self.token = new_token();
  self.since = self.beat = now_seconds();
  return self;
}

}  // namespace

std::string LockHolder::name() const {
  return pid > 0 ? fmt::format("process {} on {}", pid, host) : "a process on " + host;
}

struct LockFile::State {
  fs::path base, file;
  std::vector<fs::path> line;  ///< files to remove: those before, and its own
  LockPatience patience;
  bool was_stale = false;
  std::mutex mutex;
  LockHolder self;  // guarded by mutex, as are:
  int descriptor = -1;
  bool gone = false;
  Clock::time_point looked = Clock::now();

  /// Whether the line of locks still ends here. @pre the mutex is held
  void look() {
    const auto now = follow(base);
    gone = gone || !now || now->last.token != self.token;
    looked = Clock::now();
  }
  /// @pre the mutex is held
  void write_line() {
    const std::string text = line_of(self);
    if (::pwrite(descriptor, text.data(), text.size(), 0) != ssize_t(text.size())) {
      // A full disk or a server that is away for a moment: the next beat tries again.
    }
  }
  void beat() {
    const std::lock_guard lock(mutex);
    if (descriptor < 0 || gone) return;
    try {
      look();
    } catch (const Error&) {
      return;  // cannot be read just now
    }
    if (gone) return;
    self.beat = now_seconds();
    write_line();
  }
};

namespace {

/// The thread that renews the locks of this process.
class Heart {
 public:
  static Heart& of_this_process() {
    static Heart heart;
    return heart;
  }
  void add(const std::shared_ptr<LockFile::State>& state) {
    const std::lock_guard lock(mutex_);
    std::erase_if(states_, [](const auto& one) { return one.expired(); });
    states_.push_back(state);
    // After a fork the thread is the parent's.
    if (!thread_.joinable() || owner_ != ::getpid()) {
      if (thread_.joinable()) thread_.detach();
      owner_ = ::getpid();
      thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }
  }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (!stop.stop_requested()) {
      double pause = 5;
      std::vector<std::shared_ptr<LockFile::State>> held;
      for (const auto& one : states_)
        if (auto state = one.lock()) held.push_back(std::move(state));
      for (const auto& state : held) pause = std::min(pause, state->patience.beat_seconds);
      held.clear();
      changed_.wait_for(lock, stop, std::chrono::duration<double>(pause), [] { return false; });
      if (stop.stop_requested()) return;
      for (const auto& one : states_)
        if (auto state = one.lock()) held.push_back(std::move(state));
      lock.unlock();
      for (const auto& state : held) state->beat();
      held.clear();
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::vector<std::weak_ptr<LockFile::State>> states_;
  pid_t owner_ = 0;
  std::jthread thread_;
};

int open_new(const fs::path& path) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const int file = data::open_file(path, O_RDWR | O_CREAT | O_EXCL, 0644);
    if (file >= 0) return file;
    if (errno == EEXIST) return -1;
    if (errno != ENOENT || attempt > 0) break;
    std::error_code none;
    fs::create_directories(path.parent_path(), none);
  }
  throw data::write_error(path, "cannot make the lock", errno);
}

/// A new file with this line. @return its descriptor; -1 where there is one of that name
int write_new(const fs::path& path, const std::string& line) {
  const int file = open_new(path);
  if (file < 0 || ::pwrite(file, line.data(), line.size(), 0) == ssize_t(line.size())) return file;
  const int error = errno;
  ::close(file);
  ::unlink(path.c_str());
  throw data::write_error(path, "cannot write the lock", error);
}

/// Makes the lock with its maker's line in it where there is none: a second name of a file that is complete,
/// so that a process that is killed meanwhile leaves no lock of nobody's. @return its descriptor; -1 where it
/// is there
int make(const fs::path& path, const LockHolder& maker) {
  const std::string line = line_of(maker);
  const fs::path whole = path.string() + ".tmp-" + maker.token;
  while (true) {
    const int file = write_new(whole, line);
    if (file < 0) return -1;
    const int error = ::link(whole.c_str(), path.c_str()) == 0 ? 0 : errno;
    // A server may have made it and said so to nobody.
    struct stat status {};
    const bool made = error == 0 || (error == EEXIST && ::fstat(file, &status) == 0 && status.st_nlink == 2);
    ::unlink(whole.c_str());
    if (made) return file;
    ::close(file);
    if (error == EEXIST) return -1;
    if (error != ENOENT) return write_new(path, line);  // a file system where files have one name
  }
}

}  // namespace

LockLook look_at_lock(const fs::path& path, const LockPatience& patience) {
  const auto line = follow(path);
  if (!line) return {};
  return {is_stale(line->last, patience) ? LockState::stale : LockState::held, line->last};
}

std::unique_ptr<LockFile> LockFile::take(const fs::path& path, bool take_over, LockLook* other,
                                         const LockPatience& patience) {
  for (int attempt = 0;; ++attempt) {
    const auto before = follow(path);
    if (before) {
      LockLook found{is_stale(before->last, patience) ? LockState::stale : LockState::held, before->last};
      if (found.state == LockState::stale && take_over && before->last.machine != this_machine()) {
        // Its clock may be another: only what stays silent is dead.
        std::this_thread::sleep_for(std::chrono::duration<double>(2 * patience.beat_seconds));
        const auto again = follow(path);
        if (!again) continue;
        if (again->last.token != before->last.token || again->last.beat != before->last.beat)
          found = {LockState::held, again->last};
      }
      if (found.state == LockState::held || !take_over) {
        if (other) *other = std::move(found);
        return nullptr;
      }
    }
    auto state = std::make_shared<State>();
    state->base = path;
    state->file = before ? successor_of(path, before->last) : path;
    state->patience = patience;
    state->was_stale = before.has_value();
    state->self = this_process();
    if (before) state->line = before->files;
    state->line.push_back(state->file);
    state->descriptor = make(state->file, state->self);
    if (state->descriptor < 0) {
      if (attempt > 1000)
        throw Error(path.string(), "the lock keeps changing hands", "try again", ErrorKind::run);
      continue;  // another was faster: look who
    }
    {
      const std::lock_guard lock(state->mutex);
      struct stat status {};
      ::fstat(state->descriptor, &status);
      // Made where the line has gone on meanwhile, or so late that the file counted as nobody's.
      LockHolder nobody;
      nobody.token = fmt::format("unnamed-{}", status.st_ino);
      const auto after = follow(path);
      if (!after || after->last.token != state->self.token || read_lock(successor_of(path, nobody))) {
        ::close(std::exchange(state->descriptor, -1));
        ::unlink(state->file.c_str());
        continue;
      }
    }
    Heart::of_this_process().add(state);
    return std::unique_ptr<LockFile>(new LockFile(std::move(state)));
  }
}

LockFile::LockFile(std::shared_ptr<State> state) : state_(std::move(state)) {}

LockFile::~LockFile() {
  const std::lock_guard lock(state_->mutex);
  try {
    state_->look();
  } catch (const Error&) {
    state_->gone = true;  // left to be found stale
  }
  // The first file is the lock: once it is gone nobody follows the others.
  if (!state_->gone)
    for (const fs::path& file : state_->line) ::unlink(file.c_str());
  ::close(std::exchange(state_->descriptor, -1));
}

void LockFile::tell(const std::string& note) {
  const std::lock_guard lock(state_->mutex);
  state_->self.note = note.substr(0, kLongestNote);
}

bool LockFile::lost() {
  const std::lock_guard lock(state_->mutex);
  const auto limit = std::chrono::duration<double>(state_->patience.takeover_seconds / 2);
  if (!state_->gone && Clock::now() - state_->looked > limit) {
    try {
      state_->look();
    } catch (const Error&) {
      return false;
    }
  }
  return state_->gone;
}

bool LockFile::taken_over() const {
  return state_->was_stale;
}

void remove_lock(const fs::path& path) {
  if (const auto line = follow(path))
    for (const fs::path& file : line->files) ::unlink(file.c_str());
}

}  // namespace smile

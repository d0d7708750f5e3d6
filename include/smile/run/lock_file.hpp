// SPDX-License-Identifier: Apache-2.0
/// Locks that are files: who made the file has the lock, until it is removed or its maker is known to be dead
/// (docs/decisions/0030). They need nothing of a file system but O_EXCL, so they hold between hosts too.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace smile {

/// What a lock file says of its maker.
struct LockHolder {
  std::string host;  ///< name of the machine
  std::string
      machine;  ///< which start of it, and which process namespace: numbers of processes mean something there
  std::int64_t pid = 0;
  std::uint64_t started = 0;  ///< of the process, in clock ticks since the machine's start
  std::string token;          ///< of this file; never used again
  std::int64_t since = 0;     ///< seconds since 1970
  std::int64_t beat = 0;      ///< last sign of life, seconds since 1970
  std::string note;           ///< what it does, as it says itself

  /// "process 4711 on host"
  std::string name() const;
};

/// When a lock whose maker is on another host counts as left behind.
struct LockPatience {
  double takeover_seconds = 60;  ///< without a sign of life
  double beat_seconds = 5;       ///< between two signs of life of a living process
};

enum class LockState { free, held, stale };
struct LockLook {
  LockState state = LockState::free;
  LockHolder holder;  ///< where it is not free
};

/// Who has the lock. A maker on this host is dead where its process is gone; one elsewhere after
/// `takeover_seconds` without a sign of life.
LockLook look_at_lock(const std::filesystem::path& path, const LockPatience& patience = {});

/// A lock that this process has. A thread renews its sign of life; it ends with the object.
class LockFile {
 public:
  /// Takes a free lock, or one that was left behind where `take_over` allows that (which may take two beats,
  /// to see whether its maker is really silent).
  /// @param other  who has it, where nothing is returned
  /// @throws Error (run) where the file cannot be made
  static std::unique_ptr<LockFile> take(const std::filesystem::path& path, bool take_over,
                                        LockLook* other = nullptr, const LockPatience& patience = {});
  ~LockFile();
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

  /// What others read in it from the next beat on; at most 200 characters.
  void tell(const std::string& note);
  /// Whether another process has taken the lock over: this one must not write what the lock is for.
  /// @cost nothing, but where the last look is long ago (the process was stopped): reads the file
  bool lost();
  /// Whether it was taken from a process that had left it behind.
  bool taken_over() const;

  struct State;

 private:
  explicit LockFile(std::shared_ptr<State> state);
  std::shared_ptr<State> state_;
};

/// Removes what dead processes have left of a lock. @pre nobody takes it meanwhile
void remove_lock(const std::filesystem::path& path);

}  // namespace smile

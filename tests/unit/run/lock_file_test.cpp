// SPDX-License-Identifier: Apache-2.0
// Locks that are files: one holder, whoever asks; what the dead leave is taken over by one, and not too
// early.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>
#include <vector>

#include "smile/run/lock_file.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using test::content_of;
using test::TemporaryFolder;

/// A lock as a process on another host leaves it, with a sign of life of so many seconds ago.
void leave_foreign_lock(const fs::path& path, int seconds_ago) {
  const auto beat = std::int64_t(std::time(nullptr)) - seconds_ago;
  std::ofstream(path) << nlohmann::json{{"host", "another-host"},
                                        {"machine", "elsewhere pid:[1]"},
                                        {"pid", 4711},
                                        {"started", 17},
                                        {"token", "0815"},
                                        {"since", beat - 100},
                                        {"beat", beat},
                                        {"note", ""}};
}

constexpr LockPatience kQuick{.takeover_seconds = 3, .beat_seconds = 0.1};

TEST(LockFile, HasOneHolderWhoIsNamed) {
  TemporaryFolder folder;
  const fs::path path = folder / "locks/chain-03";
  EXPECT_EQ(look_at_lock(path).state, LockState::free);
  auto first = LockFile::take(path, false);
  ASSERT_TRUE(first);
  LockLook other;
  EXPECT_FALSE(LockFile::take(path, true, &other)) << "living processes keep theirs, whatever is asked";
  EXPECT_EQ(other.state, LockState::held);
  EXPECT_EQ(other.holder.pid, ::getpid());
  EXPECT_NE(other.holder.name().find("process " + std::to_string(::getpid()) + " on "), std::string::npos);
  EXPECT_FALSE(first->lost());
  first.reset();
  EXPECT_EQ(look_at_lock(path).state, LockState::free);
  EXPECT_TRUE(fs::is_empty(folder / "locks"));
}

TEST(LockFile, OfADeadProcessIsKnownAtOnceAndTakenOverOnRequest) {
  TemporaryFolder folder;
  const fs::path path = folder / "lock";
  const pid_t child = ::fork();
  if (child == 0) {
    const auto held = LockFile::take(path, false);
    ::kill(::getpid(), SIGKILL);
  }
  // Dead, but not fetched by its parent yet.
  siginfo_t info{};
  ::waitid(P_PID, id_t(child), &info, WEXITED | WNOWAIT);
  EXPECT_EQ(look_at_lock(path).state, LockState::stale);
  ::waitpid(child, nullptr, 0);
  LockLook other;
  EXPECT_FALSE(LockFile::take(path, false, &other));
  EXPECT_EQ(other.state, LockState::stale);
  EXPECT_EQ(other.holder.pid, child);
  auto mine = LockFile::take(path, true);
  ASSERT_TRUE(mine);
  EXPECT_TRUE(mine->taken_over());
  EXPECT_EQ(look_at_lock(path).holder.pid, ::getpid());
  mine.reset();
  EXPECT_TRUE(fs::is_empty(folder.path())) << "nothing is left of either";
}

TEST(LockFile, AProcessNumberThatWasUsedAgainDoesNotCount) {
  TemporaryFolder folder;
  const fs::path path = folder / "lock";
  auto held = LockFile::take(path, false);
  auto json = nlohmann::json::parse(content_of(path));
  json["started"] = json["started"].get<std::uint64_t>() + 1;
  std::ofstream(folder / "copy") << json;
  EXPECT_EQ(look_at_lock(folder / "copy").state, LockState::stale);
}

TEST(LockFile, OfAnotherHostIsTakenOverAfterItsTimeAndNotBefore) {
  TemporaryFolder folder;
  const fs::path path = folder / "lock";
  leave_foreign_lock(path, 1);
  LockLook other;
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(LockFile::take(path, true, &other, kQuick));
  EXPECT_EQ(other.state, LockState::held);
  EXPECT_EQ(other.holder.name(), "process 4711 on another-host");
  std::unique_ptr<LockFile> mine;
  while (!(mine = LockFile::take(path, true, nullptr, kQuick)))
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(1900));
  EXPECT_TRUE(mine->taken_over());
}

TEST(LockFile, OfAnotherHostThatStillBeatsIsNotTakenWhateverItsClock) {
  TemporaryFolder folder;
  const fs::path path = folder / "lock";
  leave_foreign_lock(path, 1000);  // its clock is a quarter of an hour behind
  std::atomic<bool> done{false};
  std::jthread beating([&] {
    for (int i = 999; !done; --i) {
      leave_foreign_lock(folder / "next", i);
      fs::rename(folder / "next", path);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  EXPECT_FALSE(LockFile::take(path, true, nullptr, kQuick));
  done = true;
}

TEST(LockFile, IsRenewedAndCarriesANote) {
  TemporaryFolder folder;
  const fs::path path = folder / "lock";
  auto held = LockFile::take(path, false, nullptr, kQuick);
  const auto before = look_at_lock(path).holder;
  held->tell("step 17");
  std::this_thread::sleep_for(std::chrono::milliseconds(1300));
  const auto after = look_at_lock(path).holder;
  EXPECT_GT(after.beat, before.beat);
  EXPECT_EQ(after.token, before.token);
  EXPECT_EQ(after.note, "step 17");
}

TEST(LockFile, AProcessThatSleptTooLongFindsItLost) {
  TemporaryFolder folder;
  const fs::path path = folder / "lock";
  auto slept = LockFile::take(path, false, nullptr, kQuick);
  ASSERT_TRUE(slept);
  // Another host took it over meanwhile.
  leave_foreign_lock(path.string() + "." + look_at_lock(path).holder.token, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_TRUE(slept->lost());
  slept.reset();
  EXPECT_EQ(look_at_lock(path).holder.name(), "process 4711 on another-host") << "it is not removed";
}

TEST(LockFile, AFileWithoutANameIsHeldUntilItIsOld) {
  TemporaryFolder folder;
  const fs::path path = folder.write("lock", "");
  EXPECT_EQ(look_at_lock(path, kQuick).state, LockState::held);
  fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::seconds(10));
  EXPECT_EQ(look_at_lock(path, kQuick).state, LockState::stale);
  auto mine = LockFile::take(path, true, nullptr, kQuick);
  ASSERT_TRUE(mine);
  mine.reset();
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

/// A process that is killed at any moment leaves a lock that names it, so that it is known to be dead at
/// once.
TEST(LockFile, KilledAtAnyMomentItsMakerIsNamed) {
  TemporaryFolder folder;
  const fs::path path = folder / "lock";
  std::mt19937 random(3);
  int left = 0;
  for (int i = 0; i < 300; ++i) {
    const pid_t child = ::fork();
    if (child == 0)
      while (true) LockFile::take(path, true);
    std::this_thread::sleep_for(std::chrono::microseconds(500 + random() % 1000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const LockLook look = look_at_lock(path);
    ASSERT_NE(look.state, LockState::held) << look.holder.name() << " in round " << i;
    left += look.state == LockState::stale;
    if (i % 3 == 0) remove_lock(path);
  }
  EXPECT_GT(left, 10);
}

/// Many that want the same lock, with dead ones in between: never two at a time.
TEST(LockFile, NeverHasTwoHolders) {
  TemporaryFolder folder;
  const fs::path path = folder / "locks/chain-00", inside = folder / "inside";
  std::vector<pid_t> children;
  for (int i = 0; i < 12; ++i) {
    const pid_t child = ::fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    for (int round = 0, asked = 0; round < 25 && asked < 20000; ++asked) {
      const auto held = LockFile::take(path, true);
      if (!held) {
        ::usleep(useconds_t(100 + 37 * i));
        continue;
      }
      if (::mkdir(inside.c_str(), 0700) != 0) ::_exit(2);  // somebody is inside
      ::usleep(200);
      ::rmdir(inside.c_str());
      if (++round > 5 && i % 3 == 0) ::kill(::getpid(), SIGKILL);
    }
    ::_exit(0);
  }
  int killed = 0;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    killed += WIFSIGNALED(status);
    if (WIFEXITED(status)) {
      EXPECT_EQ(WEXITSTATUS(status), 0);
    }
  }
  EXPECT_GE(killed, 1);
}

TEST(LockFile, AFolderThatCannotBeWrittenToIsToldInOneLine) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_THROW(LockFile::take(folder / "lock", false), std::runtime_error);
}

}  // namespace
}  // namespace smile

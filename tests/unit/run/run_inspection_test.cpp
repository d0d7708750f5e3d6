// SPDX-License-Identifier: Apache-2.0
#include "smile/run/run_inspection.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>

#include "run/provenance.hpp"
#include "smile/error.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

constexpr const char* kConfig =
    "experiment_name: test\ndata:\n  path: nowhere.data\n  task: mean_regr\ntraining:\n  sampler:\n    "
    "n_chains: 3\n";

std::string status(const std::string& status, const std::string& version = provenance::version()) {
  return "{\"status\": \"" + status + "\", \"phase\": \"sampling\", \"reason\": \"\", \"version\": \"" +
         version + "\"}";
}

std::string message_of(const fs::path& path, std::optional<RunPart> needed = std::nullopt) {
  try {
    needed ? require_part(path, *needed) : inspect_run(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool says(const std::string& message, const std::string& part) {
  return message.find(part) != std::string::npos;
}

TEST(RunInspection, RefusesWhatIsNoRun) {
  TemporaryFolder folder;
  EXPECT_TRUE(says(message_of(folder / "nothing"), "no such run directory"));
  EXPECT_TRUE(says(message_of(folder.write("file", "x")), "is a file, not a run directory"));
  EXPECT_TRUE(says(message_of(folder.path()), "holds no run (no config.yaml)"));
  fs::create_directories(folder / "a");
  folder.write("a/config.yaml", kConfig);
  EXPECT_TRUE(says(message_of(folder.path()), "give one of them: a"));
  EXPECT_TRUE(says(message_of(folder / "a"), "does not say which version"));
}

TEST(RunInspection, RefusesAnotherMinorVersionAndTakesAnotherPatch) {
  TemporaryFolder folder;
  folder.write("config.yaml", kConfig);
  folder.write("status.json", status("complete", "99.7.3"));
  const std::string message = message_of(folder.path());
  EXPECT_TRUE(says(message, "written by smile 99.7.3") && says(message, "; use smile 99.7.3")) << message;
  const std::string version = provenance::version();
  folder.write("status.json", status("complete", version.substr(0, version.rfind('.')) + ".77"));
  EXPECT_EQ(message_of(folder.path()), "");
}

TEST(RunInspection, SaysWhatIsThereAndWhatCanBeDone) {
  TemporaryFolder folder;
  folder.write("config.yaml", kConfig);
  folder.write("status.json", status("interrupted"));
  fs::create_directories(folder / "warmstart");
  folder.write("warmstart/member-01.npy", "");
  EXPECT_EQ(message_of(folder.path()), "");
  for (const RunPart needed : {RunPart::begun, RunPart::evaluated}) {
    const std::string message = message_of(folder.path(), needed);
    EXPECT_TRUE(says(message, "1 of 3 warm-started members, 0 of 3 chains complete, 0 draws, not evaluated"))
        << message;
    EXPECT_TRUE(says(message, "--resume")) << message;
  }
  fs::create_directories(folder / "eval");
  folder.write("eval/metrics.json", "{}");
  EXPECT_EQ(message_of(folder.path(), RunPart::evaluated), "");
}

TEST(RunInspection, KnowsARunThatIsBeingWrittenFromOneThatWasKilled) {
  TemporaryFolder folder;
  folder.write("config.yaml", kConfig);
  folder.write("status.json", status("running"));
  EXPECT_TRUE(inspect_run(folder.path()).is_abandoned());
  {
    RunDirectory held = RunDirectory::open(folder.path());
    const RunFacts facts = inspect_run(folder.path());
    EXPECT_FALSE(facts.is_abandoned());
    EXPECT_TRUE(says(facts.writer, std::to_string(::getpid())));
    EXPECT_TRUE(says(message_of(folder.path(), RunPart::evaluated), "is being written by process"));
  }
  EXPECT_EQ(inspect_run(folder.path()).writer, "");
  // Left behind by a process that is gone.
  const pid_t child = ::fork();
  if (child == 0) {
    RunDirectory held = RunDirectory::open(folder.path());
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(fs::exists(folder / "lock"));
  EXPECT_EQ(inspect_run(folder.path()).writer, "");
  // Of another host, which nobody can ask.
  folder.write("lock", R"({"host": "another", "pid": 1, "token": "a", "beat": )" +
                           std::to_string(std::time(nullptr)) + "}");
  EXPECT_EQ(inspect_run(folder.path()).writer, "process 1 on another");
}

}  // namespace
}  // namespace smile

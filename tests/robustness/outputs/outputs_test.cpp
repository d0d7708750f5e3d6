// SPDX-License-Identifier: Apache-2.0
// Outputs never destroy what they should not: a run's files, data, links, devices; and what cannot be written
// is told.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "end_to_end/pipeline/program.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using test::content_of;
using test::Outcome;
using test::TemporaryFolder;

/// Every regular file of a folder with its content.
std::map<std::string, std::string> files_of(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files[entry.path().string()] = content_of(entry.path());
  return files;
}

/// A run of its own data file, made once for all tests and never changed by one that passes.
class Outputs : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    const std::string text = content_of(test::airfoil());
    std::size_t end = 0;
    for (int line = 0; line < 300; ++line) end = text.find('\n', end) + 1;
    data() = folder_->write("train.data", text.substr(0, end));
    fs::create_directory(*folder_ / "rest");
    const fs::path config =
        folder_->write("config.yaml", test::small_config(data().string(), "psmile-auto", "mean_regr", "") +
                                          "evaluation_args: {diagnose_parameters: 5}\n");
    for (const char* name : {"run", "other"}) {
      const Outcome made =
          test::smile({"run", config, "--out", *folder_ / name, "--quiet", "--set",
                       "training.sampler.batch_size=40", "--set", "training.sampler.n_chains=2"});
      ASSERT_EQ(made.status, 0) << made.error;
    }
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static fs::path& data() {
    static fs::path path;
    return path;
  }
  static fs::path run() { return *folder_ / "run"; }
  static fs::path other() { return *folder_ / "other"; }
  /// The commands that write, with an output each.
  static std::vector<std::vector<std::string>> writers(const std::string& out) {
    return {{"predict", run(), "--data", data(), "--out", out, "--format", "csv", "--quiet"},
            {"predict", run(), "--data", data(), "--out", out, "--format", "npy", "--quiet"},
            {"export", run(), "--format", "npz", "--out", out, "--quiet"},
            {"export", run(), "--format", "csv", "--out", out, "--quiet"},
            {"export", run(), "--format", "torch", "--out", out, "--quiet"},
            {"export", run(), "--format", "safetensors", "--out", out, "--quiet"},
#ifdef SMILE_WITH_NETCDF
            {"export", run(), "--format", "netcdf", "--out", out, "--quiet"},
#endif
            {"report", run(), "--out", out}};
  }
  static void expect_refused(const std::string& out) {
    const auto before = files_of(folder_->path());
    for (const auto& command : writers(out)) {
      const Outcome outcome = test::smile(command);
      SCOPED_TRACE(command[0] + " " + command[2] + " --out " + out);
      EXPECT_EQ(outcome.status, 2) << outcome.error;
      EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
      EXPECT_TRUE(files_of(folder_->path()) == before);
    }
  }
  static TemporaryFolder* folder_;
};
TemporaryFolder* Outputs::folder_ = nullptr;

TEST_F(Outputs, FilesOfARunAreRefused) {
  for (const char* file :
       {"config.yaml", "status.json", "run.log", "network.json", "samples/chain-00.npy", "samples/new.csv",
        "warmstart/member-00.npy", "trace/chain-00.csv", "eval/metrics.json"})
    expect_refused(run() / file);
  expect_refused(other() / "config.yaml");
  expect_refused(other() / "samples/chain-01.npy");
  expect_refused((run() / "eval" / ".." / "config.yaml").string());
}

TEST_F(Outputs, TheReportsPageIsTheReportsAlone) {
  const Outcome predicted = test::smile({"predict", run(), "--data", data(), "--out", run() / "report.html"});
  EXPECT_EQ(predicted.status, 2) << predicted.error;
  EXPECT_EQ(test::smile({"report", run(), "--out", run() / "report.html"}).status, 0);
  EXPECT_EQ(test::smile({"report", run(), "--out", other() / "config.yaml"}).status, 2);
}

TEST_F(Outputs, DataIsRefused) {
  expect_refused(data());
  const fs::path fresh = folder_->write("fresh.csv", content_of(data()));
  const Outcome own = test::smile({"predict", run(), "--data", fresh, "--out", fresh});
  EXPECT_EQ(own.status, 2) << own.error;
  EXPECT_EQ(content_of(fresh), content_of(data()));
  // A comparison writes a table beside its page.
  const fs::path csv = folder_->write("train.csv", content_of(data()));
  fs::create_symlink(data(), *folder_ / "page.csv");
  const Outcome compared = test::smile({"report", run(), other(), "--out", *folder_ / "page.html"});
  EXPECT_EQ(compared.status, 2) << compared.error;
  EXPECT_EQ(content_of(data()), content_of(csv));
  fs::remove(*folder_ / "page.csv");
}

TEST_F(Outputs, LinksToThemAreRefused) {
  const fs::path link = *folder_ / "link.csv", links = *folder_ / "links.csv", into = *folder_ / "into";
  for (const fs::path& target : {run() / "config.yaml", other() / "samples" / "chain-00.npy", data()}) {
    fs::create_symlink(target, link);
    fs::create_symlink("link.csv", links);
    expect_refused(link);
    expect_refused(links);
    fs::remove(link), fs::remove(links);
  }
  fs::create_directory_symlink(run(), into);
  expect_refused(into / "samples" / "chain-00.npy");
  fs::remove(into);
}

TEST_F(Outputs, NewRunsStayOutOfRunsAndData) {
  const fs::path config = run() / "config.yaml";
  for (const fs::path& out : {run() / "samples" / "new", other() / "eval"}) {
    const Outcome outcome = test::smile({"run", config, "--out", out});
    EXPECT_EQ(outcome.status, 2) << outcome.error;
    const Outcome tuned = test::smile({"tune", config, "--out", out});
    EXPECT_EQ(tuned.status, 2) << tuned.error;
  }
  EXPECT_FALSE(fs::exists(run() / "samples" / "new"));
  const Outcome again = test::smile({"run", config, "--out", run()});
  EXPECT_EQ(again.status, 2);
  EXPECT_NE(again.error.find("there is a run already"), std::string::npos) << again.error;
}

TEST_F(Outputs, LinksAreFollowed) {
  const fs::path file = folder_->write("kept.csv", "old"), link = *folder_ / "out-link.csv",
                 dangling = *folder_ / "dangling.csv";
  fs::create_symlink("kept.csv", link);
  fs::create_symlink("made-behind.csv", dangling);
  for (const auto& command : writers(link)) {
    SCOPED_TRACE(command[0] + " " + command[2]);
    EXPECT_EQ(test::smile(command).status, 0);
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_NE(content_of(file), "old");
    folder_->write("kept.csv", "old");
  }
  EXPECT_EQ(test::smile(writers(dangling)[0]).status, 0);
  EXPECT_TRUE(fs::is_symlink(dangling));
  EXPECT_GT(fs::file_size(*folder_ / "made-behind.csv"), 1000u);
  fs::remove(link), fs::create_symlink("out-link.csv", link);  // to itself
  const Outcome circle = test::smile(writers(link)[0]);
  EXPECT_EQ(circle.status, 2) << circle.error;
  fs::remove(link);
}

TEST_F(Outputs, DevicesAndPipesAreWrittenInPlace) {
  const fs::path pipe = *folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& command : writers(pipe)) {
    SCOPED_TRACE(command[0] + " " + command[2]);
    const fs::path wanted = *folder_ / "wanted", got = *folder_ / "got";
    auto to_file = command;
    std::replace(to_file.begin(), to_file.end(), pipe.string(), wanted.string());
    ASSERT_EQ(test::smile(to_file).status, 0);
    const pid_t reader = ::fork();
    if (reader == 0) {
      const std::string shell = "cat '" + pipe.string() + "' > '" + got.string() + "'";
      ::execl("/bin/sh", "sh", "-c", shell.c_str(), nullptr);
      ::_exit(127);
    }
    const Outcome outcome = test::smile(command);
    ::waitpid(reader, nullptr, 0);
    EXPECT_EQ(outcome.status, 0) << outcome.error;
    struct stat status {};
    EXPECT_TRUE(::stat(pipe.c_str(), &status) == 0 && S_ISFIFO(status.st_mode));
    if (command[0] != "export" || command[3] != "netcdf") {
      EXPECT_EQ(content_of(got), content_of(wanted));
    }
    EXPECT_GT(content_of(got).size(), 1000u);
  }
  fs::remove(pipe);
  for (const char* device : {"/dev/null", "/dev/full"}) {
    struct stat before {
    }, after{};
    ASSERT_EQ(::stat(device, &before), 0);
    for (const auto& command : writers(device)) {
      const Outcome outcome = test::smile(command);
      EXPECT_EQ(outcome.status, device == std::string("/dev/null") ? 0 : 1) << outcome.error;
      ASSERT_TRUE(::stat(device, &after) == 0 && S_ISCHR(after.st_mode)) << device << " is gone";
      EXPECT_EQ(before.st_ino, after.st_ino);
    }
  }
}

TEST_F(Outputs, ADashIsStandardOutput) {
  const fs::path wanted = *folder_ / "dash.csv";
  const Outcome file = test::smile(writers(wanted)[0]);
  for (const char* name : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"}) {
    const Outcome outcome = test::smile(writers(name)[0]);
    EXPECT_EQ(outcome.status, 0) << outcome.error;
    EXPECT_EQ(outcome.out, content_of(wanted)) << name;
    EXPECT_NE(outcome.error.find("LPPD"), std::string::npos) << "its lines go beside: " << outcome.error;
  }
  EXPECT_FALSE(fs::exists(*folder_ / "-"));
}

/// Standard output goes to a device, or to a pipe whose reader is gone.
Outcome with_output(const std::vector<std::string>& command, const char* device) {
  return test::smile(command, [=] {
    int out = -1;
    if (device) {
      out = ::open(device, O_WRONLY);
    } else {
      int ends[2];
      if (::pipe(ends) != 0) ::_exit(126);
      ::close(ends[0]);
      out = ends[1];
    }
    ::dup2(out, 1);
  });
}

TEST_F(Outputs, AFullStandardOutputIsOneLineAndStatus1) {
  const std::string config = run() / "config.yaml";
  const std::vector<std::vector<std::string>> printers = {
      {"diagnose", run(), "--json"},
      {"diagnose", run()},
      {"status", run(), "--json"},
      {"status", run()},
      {"check", config},
      {"list", "keys"},
      {"list", "keys", "--markdown"},
      {"list", "samplers"},
      {"--help"},
      {"run", "--help"},
      {"--version"},
      {"report", run()},
      {"evaluate", run(), "--quiet"},
      {"predict", run(), "--data", data(), "--out", *folder_ / "p.csv"},
      {"predict", run(), "--data", data(), "--out", "-"}};
  for (const auto& command : printers) {
    SCOPED_TRACE(command[0] + " " + (command.size() > 2 ? command.back() : ""));
    const Outcome full = with_output(command, "/dev/full");
    EXPECT_EQ(full.status, 1) << full.error;
    EXPECT_TRUE(full.is_one_line_error()) << full.error;
    EXPECT_EQ(full.error.find("fault of the program"), std::string::npos) << full.error;
    const Outcome closed = with_output(command, nullptr);
    EXPECT_EQ(closed.status, 1) << closed.error;
    EXPECT_EQ(closed.error.find("fault of the program"), std::string::npos) << closed.error;
  }
}

TEST_F(Outputs, AnUnknownEndingIsRefusedWithTheKnownOnes) {
  for (const char* name : {"p.parquet", "p.xlsx", "p.CSV2"}) {
    const Outcome outcome = test::smile({"predict", run(), "--data", data(), "--out", *folder_ / name});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.error.find(".csv, .npy or .json"), std::string::npos) << outcome.error;
    EXPECT_FALSE(fs::exists(*folder_ / name));
  }
}

TEST_F(Outputs, AFolderIsNoFile) {
  for (const auto& command : writers(*folder_ / "rest")) {
    const Outcome outcome = test::smile(command);
    EXPECT_EQ(outcome.status, 2) << outcome.error;
    EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
  }
  EXPECT_TRUE(fs::is_empty(*folder_ / "rest"));
}

TEST_F(Outputs, AStreamWithoutAFolderForTemporaryFilesIsOneLine) {
  const Outcome outcome = test::smile(writers("-")[0], [] { ::setenv("TMPDIR", "/nonexistent", 1); });
  EXPECT_EQ(outcome.status, 1) << outcome.error;
  EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
  EXPECT_NE(outcome.error.find("TMPDIR"), std::string::npos) << outcome.error;
}

TEST_F(Outputs, AReplacedFileKeepsItsPermissions) {
  const fs::path file = folder_->write("private.csv", "old");
  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  ASSERT_EQ(test::smile(writers(file)[0]).status, 0);
  EXPECT_EQ(fs::status(file).permissions() & fs::perms::all,
            fs::perms::owner_read | fs::perms::owner_write | fs::perms::group_read);
}

}  // namespace
}  // namespace smile

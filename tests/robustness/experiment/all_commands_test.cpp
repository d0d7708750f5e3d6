// SPDX-License-Identifier: Apache-2.0
/// One check of a run folder before any command touches it: all commands that take a run refuse the same
/// folders in the same words, and leave every byte of them as it was.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <map>
#include <regex>
#include <set>

#include "../../end_to_end/pipeline/program.hpp"

namespace smile::test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

/// Names and contents of all files, to see that nothing was touched. A lock file is no part of the run.
std::map<std::string, std::string> contents_of(const fs::path& folder) {
  std::map<std::string, std::string> contents;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().filename() != "run.lock")
      contents[entry.path().lexically_relative(folder)] = content_of(entry.path());
  return contents;
}

class AllCommands : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    std::string table = "x,z,y\n";
    for (int i = 0; i < 80; ++i)
      table += std::to_string(i % 7) + "," + std::to_string(i * i % 11) + "," +
               std::to_string(i % 7 + i % 3) + "\n";
    config_ = folder_->write(
        "config.yaml", "data: {path: " + folder_->write("table.csv", table).string() +
                           ", task: regr}\nmodel: {hidden_structure: [4, 2]}\ntraining:\n"
                           "  warmstart: {max_epochs: 2, batch_size: 16}\n"
                           "  sampler: {n_chains: 2, warmup_steps: 20, n_samples: 40, batch_size: 8}\n");
    ASSERT_EQ(smile({"run", config_, "--out", *folder_ / "good", "--no-report", "--quiet"}).status, 0);
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }

  /// Every command that takes a run, and how it is called.
  static std::map<std::string, Words> commands(const fs::path& run) {
    const std::string r = run.string(), out = *folder_ / "out";
    return {{"run", {"run", config_, "--out", r, "--resume", "--no-report", "--quiet"}},
            {"evaluate", {"evaluate", r, "--quiet"}},
            {"merge", {"merge", r, "--no-report", "--quiet"}},
            {"predict",
             {"predict", r, "--data", *folder_ / "table.csv", "--out", out, "--format", "csv", "--quiet"}},
            {"export", {"export", r, "--format", "npz", "--out", out}},
            {"report", {"report", r, "--out", out}},
            {"diagnose", {"diagnose", r}},
            {"status", {"status", r}},
            {"generate", {"generate", r}}};
  }

  /// A copy of the good run, spoilt.
  fs::path spoilt(const std::function<void(const fs::path&)>& spoil) const {
    const fs::path run = *folder_ / "run";
    fs::remove_all(run);
    fs::copy(*folder_ / "good", run, fs::copy_options::recursive);
    spoil(run);
    return run;
  }

  static TemporaryFolder* folder_;
  static std::string config_;
};
TemporaryFolder* AllCommands::folder_ = nullptr;
std::string AllCommands::config_;

void replace_in(const fs::path& file, const std::string& pattern, const std::string& with) {
  const std::string text = content_of(file);
  std::ofstream(file) << std::regex_replace(text, std::regex(pattern), with);
}

/// Those that the test calls are all there are: a new command with a run must join them.
TEST_F(AllCommands, AreAllOfThem) {
  const std::string help = smile({"help"}).out;
  std::set<std::string> names;
  const std::regex line("\n  ([a-z]+) ");
  for (std::sregex_iterator it(help.begin(), help.end(), line), end; it != end; ++it) names.insert((*it)[1]);
  ASSERT_GE(names.size(), 12u) << help;
  for (const std::string& name : names) {
    const bool takes_run = smile({"help", name}).out.find("RUN") != std::string::npos || name == "run";
    EXPECT_EQ(takes_run, commands("x").contains(name)) << name;
  }
}

TEST_F(AllCommands, RefuseTheSameFoldersInTheSameWords) {
  struct Case {
    const char* name;
    std::function<void(const fs::path&)> spoil;
    const char* message;
  };
  for (const Case& c : std::vector<Case>{
           {"another version",
            [](const fs::path& run) {
              replace_in(run / "status.json", "\"version\": *\"[^\"]*\"", "\"version\": \"7.1.0\"");
            },
            "the run was written by smile 7.1.0 and this is smile "},
           {"a damaged status and another version",
            [](const fs::path& run) {
              std::ofstream(run / "status.json") << "{bad";
              replace_in(run / "config.yaml", "of smile [0-9.]*[0-9]", "of smile 0.0.3");
            },
            "the run was written by smile 0.0.3 and this is smile "},
           {"no version",
            [](const fs::path& run) {
              fs::remove(run / "status.json");
              replace_in(run / "config.yaml", "of smile [0-9.]*[0-9]", "");
            },
            "the run does not say which version of smile wrote it"},
           {"a damaged configuration",
            [](const fs::path& run) { std::ofstream(run / "config.yaml", std::ios::app) << "\n{bad"; },
            "config.yaml:"},
       }) {
    const fs::path run = spoilt(c.spoil);
    const auto before = contents_of(run);
    std::set<std::string> told;
    for (const auto& [name, words] : commands(run)) {
      const Outcome outcome = smile(words);
      EXPECT_EQ(outcome.status, 2) << c.name << ", " << name << ": " << outcome.error;
      EXPECT_TRUE(outcome.is_one_line_error()) << c.name << ", " << name << ": " << outcome.error;
      EXPECT_NE(outcome.error.find(c.message), std::string::npos)
          << c.name << ", " << name << ": " << outcome.error;
      told.insert(outcome.error);
      EXPECT_FALSE(fs::exists(*folder_ / "out")) << name;
    }
    EXPECT_EQ(told.size(), 1u) << c.name << ": " << testing::PrintToString(told);
    EXPECT_TRUE(contents_of(run) == before) << c.name << ": the folder was changed";
  }
}

TEST_F(AllCommands, RefuseWhatIsNoRun) {
  for (const auto& [name, words] : commands(*folder_ / "none")) {
    if (name == "run") continue;  // starts one
    const Outcome outcome = smile(words);
    EXPECT_EQ(outcome.status, 2) << name;
    EXPECT_NE(outcome.error.find("there is no such run directory; give the folder of a run"),
              std::string::npos)
        << name << ": " << outcome.error;
  }
  const fs::path folder = *folder_ / "of runs";
  fs::create_directories(folder);
  fs::copy(*folder_ / "good", folder / "one", fs::copy_options::recursive);
  for (const auto& [name, words] : commands(folder)) {
    if (name == "run") continue;
    const Outcome outcome = smile(words);
    EXPECT_EQ(outcome.status, 2) << name;
    EXPECT_NE(outcome.error.find("the folder is not a run, it holds 1; give one of them: one"),
              std::string::npos)
        << name << ": " << outcome.error;
  }
}

/// A changed byte of a file that a command takes numbers from is told by each of them that does.
TEST_F(AllCommands, TellOfChangedBytes) {
  const auto flip = [](const char* file, std::streamoff at) {
    return [=](const fs::path& run) {
      std::fstream out(run / file, std::ios::in | std::ios::out | std::ios::binary);
      const auto place = at >= 0 ? at : std::streamoff(fs::file_size(run / file) / 2);
      out.seekg(place);
      const char byte = char(out.get() ^ 0x41);
      out.seekp(place);
      out.put(byte);
    };
  };
  struct Case {
    const char* file;
    std::streamoff at;               ///< negative: in the middle
    std::set<std::string> commands;  ///< that read it
  };
  for (const Case& c : std::vector<Case>{
           {"samples/chain-00.npy", 300, {"run", "evaluate", "merge", "predict", "export", "diagnose"}},
           {"warmstart/member-00.npy", 150, {"run", "evaluate", "merge"}},
           {"dataset_splits.npz", 300, {"run", "evaluate", "merge", "predict", "export", "report"}},
           {"eval/predictions.npz", -1, {"report"}},
       })
    for (const std::string& name : c.commands) {
      const fs::path run = spoilt(flip(c.file, c.at));
      Words words = commands(run)[name];
      std::erase(words, "--quiet");
      const Outcome outcome = smile(words);
      fs::remove(*folder_ / "out");
      const std::string told = outcome.out + outcome.error, file = fs::path(c.file).filename();
      EXPECT_NE(told.find(file), std::string::npos) << c.file << ", " << name << ": " << told;
    }
}

}  // namespace
}  // namespace smile::test

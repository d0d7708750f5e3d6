// SPDX-License-Identifier: Apache-2.0
/// One bad file for each message. Its first line says what the reader must answer (after the file's name),
/// and
/// `# replace:` which text of the file the alternatives in the answer stand for: each of them must be
/// accepted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "smile/config/config.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(SMILE_SOURCE_DIR) / "tests/robustness/config/files";

std::vector<std::filesystem::path> bad_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string content(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// What follows `mark` on its line; empty where there is none.
std::string directive(const std::string& text, const std::string& mark) {
  const std::size_t start = text.find(mark);
  if (start == std::string::npos) return "";
  const std::size_t begin = start + mark.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::vector<std::string> between_backticks(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t open = text.find('`'); open != std::string::npos; open = text.find('`', open + 1)) {
    const std::size_t close = text.find('`', open + 1);
    words.push_back(text.substr(open + 1, close - open - 1));
    open = close;
  }
  return words;
}

class BadFile : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(BadFile, IsAnsweredInOneLineWithPlaceAndMend) {
  const std::string text = content(GetParam());
  const std::string name = GetParam().filename().string();
  ASSERT_EQ(text.rfind("# error: ", 0), 0u) << "the first line must say the expected error";
  try {
    parse_config(text, name);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), name + directive(text, "# error: "));
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    EXPECT_EQ(error.exit_status(), 2);
  }
}

TEST_P(BadFile, EveryAlternativePrintedIsAccepted) {
  const std::string text = content(GetParam());
  std::string mend;
  try {
    parse_config(text, "bad.yaml");
    FAIL() << "accepted";
  } catch (const Error& error) {
    mend = error.mend();
  }
  const std::string replaced = directive(text, "# replace: ");
  const bool offers =
      mend.find("did you mean") != std::string::npos || mend.find("one of `") != std::string::npos ||
      mend.find("allowed: ") != std::string::npos || mend.find("nearest") != std::string::npos;
  const bool missing_key = mend.rfind("add it", 0) == 0;
  if (replaced.empty()) {
    EXPECT_TRUE(!offers || missing_key) << "the file needs a `# replace:` line to try: " << mend;
    return;
  }
  const std::vector<std::string> alternatives = between_backticks(mend);
  EXPECT_FALSE(alternatives.empty()) << mend;
  for (const std::string& alternative : alternatives) {
    std::string tried = text;
    tried.replace(tried.rfind(replaced), replaced.size(), alternative);
    EXPECT_NO_THROW(parse_config(tried, "tried.yaml")) << alternative;
  }
}

INSTANTIATE_TEST_SUITE_P(Config, BadFile, testing::ValuesIn(bad_files()), [](const auto& test) {
  std::string name = test.param.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(BadFiles, AreFound) {
  EXPECT_GE(bad_files().size(), 60u);
}

TEST(MissingTask, EveryTaskOfferedIsAccepted) {
  try {
    parse_config("data:\n  path: a.csv\n", "a.yaml");
    FAIL() << "accepted";
  } catch (const Error& error) {
    const std::vector<std::string> tasks = between_backticks(error.mend());
    EXPECT_EQ(tasks.size(), 4u);
    for (const std::string& task : tasks)
      EXPECT_NO_THROW(parse_config("data:\n  path: a.csv\n  task: " + task + "\n", "a.yaml"));
  }
}

std::string message(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_status(), 2);
    return error.what();
  }
  return "accepted";
}

TEST(Files, MissingFolderEmptyAndHugeAreTold) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "smile-config";
  std::filesystem::create_directories(folder);
  const std::string missing = (folder / "missing.yaml").string(), empty = (folder / "empty.yaml").string(),
                    huge = (folder / "huge.yaml").string();
  std::ofstream(empty).close();
  std::ofstream(huge) << std::string((std::size_t{4} << 20) + 1, '#');
  EXPECT_EQ(message([&] { load_config(missing); }), missing + ": no such file; check the path");
  EXPECT_EQ(message([&] { load_config(folder.string()); }),
            folder.string() + ": is a folder; name the file in it");
  EXPECT_EQ(message([&] { load_config(empty); }),
            empty + ": the file is empty; write at least `data:` with `path` and `task`");
  EXPECT_EQ(message([&] { load_config(huge); }), huge + ": larger than 4 MiB; is it a configuration?");
  std::filesystem::remove_all(folder);
}

// Whatever the bytes are, the answer is an Error of one line, never a crash or another exception.
TEST(Files, MangledTextIsAnsweredWithAnError) {
  const std::string good =
      "data: {path: a.csv, task: mean_regr}\ntraining:\n  sampler: {name: smile, step_size: 0.1}\n";
  std::uint32_t state = 1;
  const auto next = [&] { return state = state * 1664525u + 1013904223u; };
  for (int round = 0; round < 3000; ++round) {
    std::string text = good;
    const int edits = 1 + static_cast<int>(next() >> 30);
    for (int i = 0; i < edits; ++i) text[(next() >> 8) % text.size()] = static_cast<char>(next() >> 24);
    try {
      parse_config(text, "mangled.yaml");
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    }
  }
}

TEST(Files, DeepNestingIsAnError) {
  const std::string deep = "data: " + std::string(20000, '[') + std::string(20000, ']');
  EXPECT_NE(message([&] { parse_config(deep, "deep.yaml"); }), "accepted");
}

}  // namespace
}  // namespace smile

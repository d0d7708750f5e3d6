// SPDX-License-Identifier: Apache-2.0
/// Runs every command of docs/guide: the ```sh blocks of a page in order, in a folder of their own that has
/// the repository's data and configurations. The ```python and ```r blocks follow where their packages are
/// installed; elsewhere the files that they read have to be there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "support/temporary_folder.hpp"

namespace smile::test {
namespace {

namespace fs = std::filesystem;

const fs::path kGuide = fs::path(SMILE_SOURCE_DIR) / "docs" / "guide";

std::vector<std::string> pages() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kGuide))
    if (entry.path().extension() == ".md") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// The contents of the fenced blocks of a language.
std::vector<std::string> blocks_of(const std::string& text, const std::string& language) {
  std::vector<std::string> blocks;
  std::istringstream in(text);
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (inside && line == "```")
      inside = false;
    else if (inside)
      blocks.back() += line + "\n";
    else if (line == "```" + language)
      inside = true, blocks.emplace_back();
  }
  EXPECT_FALSE(inside) << "a block does not end";
  return blocks;
}

/// The languages of all blocks.
std::set<std::string> languages_of(const std::string& text) {
  std::set<std::string> languages;
  std::istringstream in(text);
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("```")) continue;
    if (!inside) languages.insert(line.substr(3));
    inside = !inside;
  }
  return languages;
}

/// What a block reads: its strings that look like a path to a file.
std::vector<std::string> files_of(const std::string& block) {
  static const std::regex path("\"([A-Za-z0-9_./-]+\\.[a-z0-9]{1,11})\"");
  std::vector<std::string> files;
  for (std::sregex_iterator at(block.begin(), block.end(), path), end; at != end; ++at)
    files.push_back((*at)[1]);
  return files;
}

/// The columns that a block of R takes from its table, x["name"] or x$name, are in the file.
void expect_columns(const std::string& block, const fs::path& folder) {
  static const std::regex column("[a-z]\\[\"(\\w+)\"\\]|\\$(\\w+)");
  const std::string table = content_of(folder / files_of(block).at(0));
  const std::string header = "," + table.substr(0, table.find('\n')) + ",";
  std::size_t found = 0;
  for (std::sregex_iterator at(block.begin(), block.end(), column), end; at != end; ++at, ++found) {
    const std::string name = (*at)[1].matched ? (*at)[1] : (*at)[2];
    EXPECT_NE(header.find("," + name + ","), std::string::npos) << name << " is no column";
  }
  EXPECT_GT(found, 0u) << block;
}

bool works(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

class Guide : public testing::TestWithParam<std::string> {};

TEST_P(Guide, CommandsWork) {
  const std::string text = content_of(kGuide / (GetParam() + ".md"));
#ifndef SMILE_EXAMPLE_OWN_DENSITY
#define SMILE_EXAMPLE_OWN_DENSITY ""
  if (text.find("\n02_own_density") != std::string::npos) GTEST_SKIP() << "the examples are not built";
#endif
  const TemporaryFolder folder;
  for (const char* name : {"data", "configs"})
    fs::create_directory_symlink(fs::path(SMILE_SOURCE_DIR) / name, folder / name);
  fs::create_directory(folder / "bin");
  fs::create_symlink(SMILE_PROGRAM, folder / "bin" / "smile");
  fs::create_symlink(SMILE_EXAMPLE_OWN_DENSITY, folder / "bin" / "02_own_density");

  const auto run = [&](const std::string& shell, const fs::path& script, const char* input) {
    const fs::path log = folder / "log";
    const std::string command = "cd '" + folder.path().string() + "' && PATH='" + (folder / "bin").string() +
                                "':\"$PATH\" " + shell + " '" + script.string() + "' >'" + log.string() +
                                "' 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << input << "\n" << content_of(log);
  };
  std::string commands = "set -euo pipefail\n";
  for (const auto& block : blocks_of(text, "sh")) commands += block;
  if (GetParam() != "README") {
    EXPECT_NE(commands.find("\nsmile "), std::string::npos) << "no commands found";
  }
  run("bash", folder.write("commands.sh", commands), commands.c_str());

  const char* given = std::getenv("SMILE_TEST_PYTHON");
  const std::string python = given ? given : "python3";
  const auto run_or_look = [&](const std::string& language, const std::string& program, const auto& probe) {
    for (const auto& block : blocks_of(text, language)) {
      const auto files = files_of(block);
      EXPECT_FALSE(files.empty()) << "reads nothing:\n" << block;
      for (const auto& file : files)
        EXPECT_TRUE(fs::exists(folder / file)) << file << " is not there for\n" << block;
      if (language == "r") expect_columns(block, folder.path());
      const std::string first = block.substr(0, block.find('\n'));
      if (works(program + probe(first)))
        run(program, folder.write("block." + language, block), block.c_str());
      else
        std::cout << "not run, its packages are not installed: " << first << "\n";
    }
  };
  run_or_look("python", python, [](const std::string& import) { return " -c '" + import + "'"; });
  run_or_look("r", "Rscript", [](const std::string&) { return " -e 'library(posterior)'"; });
  for (const auto& language : languages_of(text))
    EXPECT_TRUE(language == "sh" || language == "python" || language == "r" || language == "cmake")
        << "nothing runs blocks of \"" << language << "\"";
}

INSTANTIATE_TEST_SUITE_P(Pages, Guide, testing::ValuesIn(pages()), [](const auto& param) {
  std::string name = param.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(GuideLinks, LeadSomewhere) {
  for (const auto& page : pages()) {
    const std::string text = content_of(kGuide / (page + ".md"));
    for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
      const std::string link = text.substr(at + 2, text.find(')', at) - at - 2);
      if (link.find("://") == std::string::npos) {
        EXPECT_TRUE(fs::exists(kGuide / link)) << page << ": " << link;
      }
    }
  }
}

}  // namespace
}  // namespace smile::test

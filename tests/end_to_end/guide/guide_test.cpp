/// Runs every command of docs/guide: the ```sh blocks of a page in order, in a folder of their own that has
/// the repository's data and configurations. The ```python blocks follow where their packages are installed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
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
  for (const auto& block : blocks_of(text, "python")) {
    const std::string import = block.substr(0, block.find('\n'));
    if (std::system((python + " -c '" + import + "' >/dev/null 2>&1").c_str()) != 0) {
      std::cout << "not installed, not run: " << import << "\n";
      continue;
    }
    run(python, folder.write("block.py", block), block.c_str());
  }
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

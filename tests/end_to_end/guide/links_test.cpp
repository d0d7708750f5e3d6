// SPDX-License-Identifier: Apache-2.0
/// Links of the documents lead to files that are there, and to what they say.
#include <gtest/gtest.h>

#include <regex>

#include "support/temporary_folder.hpp"

namespace smile::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> documents() {
  std::vector<fs::path> all;
  const fs::path root = SMILE_SOURCE_DIR;
  for (const char* name : {"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}) all.push_back(root / name);
  for (const auto& entry : fs::recursive_directory_iterator(root / "docs"))
    if (entry.path().extension() == ".md") all.push_back(entry.path());
  return all;
}

TEST(Links, LeadWhereTheySay) {
  const std::regex link(R"(\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\))"), file_name(R"(`?[\w./-]+\.\w+`?)");
  std::size_t found = 0;
  for (const fs::path& document : documents()) {
    const std::string text = content_of(document);
    for (auto at = std::sregex_iterator(text.begin(), text.end(), link); at != std::sregex_iterator(); ++at) {
      std::string said = (*at)[1].str();
      const std::string to = (*at)[2].str();
      if (to.find("://") != std::string::npos) continue;
      ++found;
      const fs::path target = document.parent_path() / to;
      EXPECT_TRUE(fs::exists(target)) << document << ": [" << said << "](" << to << ")";
      std::erase(said, '`');
      // Words may name anything; the name of a file or a folder must be that of the target.
      const bool is_folder = !said.empty() && said.back() == '/' && said.find(' ') == std::string::npos;
      if (is_folder) {
        EXPECT_TRUE(fs::is_directory(target)) << document << ": [" << said << "](" << to << ")";
      }
      if (std::regex_match(said, file_name) && fs::is_regular_file(fs::path(SMILE_SOURCE_DIR) / said)) {
        EXPECT_EQ(fs::path(said).filename(), fs::path(to).filename()) << document;
      }
    }
  }
  EXPECT_GT(found, 50u);
}

}  // namespace
}  // namespace smile::test

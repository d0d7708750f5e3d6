// SPDX-License-Identifier: Apache-2.0
// The table format that CONTRIBUTING adds, from its row: a run on such a file.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "extending/bars_row.cpp"
#include "smile/config/config.hpp"
#include "smile/error.hpp"
#include "smile/experiment/pipeline.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

const bool added = [] {
  add_table_format(bars_row());
  return true;
}();

std::string text_of(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

TEST(ExtendingTableFormats, ThePageShowsTheFileThatIsCompiledHere) {
  const std::string page = text_of(SMILE_SOURCE_DIR "/CONTRIBUTING.md");
  EXPECT_NE(page.find("```cpp\n" + text_of(SMILE_SOURCE_DIR "/examples/extending/bars_row.cpp") + "```"),
            std::string::npos);
}

TEST(ExtendingTableFormats, AFormatOfARowIsReadByItsEnding) {
  ASSERT_TRUE(added);
  EXPECT_EQ(table_formats().back().doc, "fields between vertical bars");
  EXPECT_THROW(add_table_format(bars_row()), Error);
  test::TemporaryFolder folder;
  const Table table = read_table(folder.write("T.PSV", "a|b\n1|2\n3|4\n"));
  EXPECT_EQ(table.column_names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(table.values, (std::vector<double>{1, 2, 3, 4}));
}

TEST(ExtendingTableFormats, ARunOfSuchAFileIsThatOfTheSameTableWithCommas) {
  test::TemporaryFolder folder;
  std::string bars = "x|y\n", commas = "x,y\n";
  for (int i = 0; i < 60; ++i) {
    const std::string x = std::to_string(i * 7 % 60), y = std::to_string(i * 7 % 60 * 2 + i % 3);
    bars += x + "|" + y + "\n", commas += x + "," + y + "\n";
  }
  const auto run = [&](const std::filesystem::path& data, const std::string& name) {
    RunOptions options;
    options.out = (folder / name).string();
    run_experiment(parse_config("data: {path: " + data.string() +
                                    ", task: mean_regr}\nmodel: {hidden_structure: [4, 1]}\n"
                                    "training:\n  warmstart: {max_epochs: 5}\n"
                                    "  sampler: {name: sgld, step_size: 1.0e-6, batch_size: 20, n_chains: 1, "
                                    "warmup_steps: 20, n_samples: 40}\n",
                                "format.yaml"),
                   options);
    return text_of(folder / name / "eval/sampling.json");
  };
  const std::string of_bars = run(folder.write("t.psv", bars), "bars");
  EXPECT_FALSE(of_bars.empty());
  EXPECT_EQ(of_bars, run(folder.write("t.csv", commas), "commas"));
}

}  // namespace
}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
// The rules of tables as docs/data.md states them: each example gives what the page says.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <sstream>

#include "data/field.hpp"
#include "smile/data/table.hpp"
#include "smile/error.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

struct Block {
  std::string language, words, content;
  std::size_t line = 0;
};

std::vector<Block> blocks_of(const std::string& page) {
  std::vector<Block> blocks;
  std::istringstream in(page);
  bool inside = false;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (inside && line == "```") {
      inside = false;
    } else if (inside) {
      blocks.back().content += line + "\n";
    } else if (line.starts_with("```")) {
      inside = true;
      const std::size_t blank = std::min(line.find(' '), line.size());
      blocks.push_back({line.substr(3, blank - 3), line.substr(blank), "", number});
    }
  }
  EXPECT_FALSE(inside) << "a block does not end";
  return blocks;
}

/// \n, \r and \xNN, without the line end that the block adds.
std::string unescaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    const char kind = text[++i];
    if (kind == 'x') {
      out += char(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      out += kind == 'n' ? '\n' : '\r';
    }
  }
  return out;
}

/// The words behind a block's language: keys of `data:`.
TableOptions options_of(const std::string& words) {
  TableOptions options;
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    const std::string key = word.substr(0, word.find('=')),
                      value = word.substr(std::min(word.size(), key.size() + 1));
    if (key == "header")
      options.header = value == "true";
    else if (key == "missing")
      options.missing = *parse_name<MissingPolicy>(value);
    else if (key == "delimiter")
      options.delimiter = *parse_name<Delimiter>(value);
    else if (key == "decimal")
      options.decimal_comma = value == "comma";
    else if (key == "labels")
      options.labels = value;
    else if (key == "categorical") {
      std::istringstream names(value);
      for (std::string name; std::getline(names, name, ',');) options.categorical.push_back(name);
    } else {
      EXPECT_EQ(key, "escapes");
    }
  }
  return options;
}

std::string joined(const std::vector<std::string>& cells) {
  std::string text;
  for (const std::string& cell : cells) text += (text.empty() ? "" : " | ") + cell;
  return text + "\n";
}

/// Names, rows and remarks, or the error.
std::string told(const std::filesystem::path& file, const TableOptions& options) {
  std::string text;
  try {
    const Table table = read_table(file, options);
    text = joined(table.column_names);
    for (std::size_t i = 0; i < table.rows; ++i) {
      std::vector<std::string> cells;
      for (std::size_t j = 0; j < table.columns; ++j)
        cells.push_back(table.categories[j].empty() ? data::shortest(table.at(i, j))
                                                    : table.categories[j][std::size_t(table.at(i, j))]);
      text += joined(cells);
    }
    for (const std::string& remark : table_remarks(table)) text += "remark: " + remark + "\n";
  } catch (const Error& error) {
    text = "error: " + std::string(error.what()) + "\n";
    const std::string folder = file.parent_path().string() + "/";
    for (std::size_t at; (at = text.find(folder)) != std::string::npos;) text.erase(at, folder.size());
  }
  return text;
}

TEST(DataPage, every_example_gives_what_it_says) {
  const auto blocks =
      blocks_of(test::content_of(std::filesystem::path(SMILE_SOURCE_DIR) / "docs" / "data.md"));
  const bool has_numpy = std::system("python3 -c 'import numpy' >/dev/null 2>&1") == 0;
  std::size_t examples = 0;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const Block& block = blocks[k];
    if (block.language == "gives") continue;
    const std::string where = "docs/data.md:" + std::to_string(block.line);
    ASSERT_TRUE(k + 1 < blocks.size() && blocks[k + 1].language == "gives") << where << ": gives nothing";
    const test::TemporaryFolder folder;
    std::filesystem::path file;
    std::string words = block.words;
    if (block.language == "python") {
      if (!has_numpy) continue;
      const auto script = folder.write("script.py", block.content);
      ASSERT_EQ(std::system(("cd " + folder.path().string() + " && python3 script.py").c_str()), 0) << where;
      file = folder / "table.npy";
      words = blocks[k + 1].words;
    } else {
      const bool escapes = words.find("escapes") != std::string::npos;
      file = folder.write("table." + block.language, escapes ? unescaped(block.content) : block.content);
    }
    EXPECT_EQ(told(file, options_of(words)), blocks[k + 1].content) << where;
    ++examples;
  }
  EXPECT_GE(examples, 38U);
}

}  // namespace
}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
// The configurations of the paper's experiments: all of them parse, every search with its base; the table of
// the authors' settings holds against the files; and the page of the paper names files that are there.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "smile/benchmark/analytic.hpp"
#include "smile/config/config.hpp"
#include "smile/experiment/sweep.hpp"
#include "support/temporary_folder.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
const fs::path kRoot = SMILE_SOURCE_DIR;

/// A search is named BASE.SEARCH.yaml beside BASE.yaml, or stands in configs/ablations and names its base in
/// a line of its own.
std::optional<fs::path> base_of(const fs::path& file) {
  const std::string stem = file.stem().string();
  const auto dot = stem.find('.');
  if (dot == std::string::npos) return std::nullopt;
  if (file.parent_path().filename() != "ablations")
    return file.parent_path() / (stem.substr(0, dot) + ".yaml");
  const std::string text = test::content_of(file);
  std::smatch found;
  if (!std::regex_search(text, found, std::regex(R"(smile run (\S+) --search (\S+))")))
    throw std::runtime_error(file.string() + " does not say which configuration it searches");
  EXPECT_EQ(kRoot / found[2].str(), file);
  return kRoot / found[1].str();
}

/// Loads what a run would. Where LibTorch is absent its networks give way to one that is there: everything
/// else in the file is checked all the same.
Config load(const fs::path& file, std::vector<Setting> settings = {}) {
#ifdef SMILE_WITH_TORCH
  return load_config(file.string(), settings);
#else
  const std::string kind = YAML::LoadFile(file.string())["data"]["data_type"].as<std::string>("tabular");
  if (kind == "tabular") return load_config(file.string(), settings);
  std::string text =
      std::regex_replace(test::content_of(file), std::regex(R"(\n  model: \w+)"), "\n  model: FCN");
  if (kind == "image") {
    settings.push_back({"data.flatten", "true", "here"});
  } else {
    settings.push_back({"data.data_type", "tabular", "here"});
    settings.push_back({"data.task", "class", "here"});
  }
  const test::TemporaryFolder folder;
  const fs::path copy = folder.path() / file.filename();
  std::ofstream(copy) << text;
  return load_config(copy.string(), settings);
#endif
}

TEST(PaperConfigurations, ParseEachWithItsSearches) {
  std::size_t configs = 0, searches = 0, analytic = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / "configs")) {
    const fs::path file = entry.path();
    if (file.extension() != ".yaml") continue;
    SCOPED_TRACE(file.string());
    if (file.parent_path().filename() == "analytical") {
      ++analytic;
      EXPECT_NO_THROW(load_analytic_config(file));
    } else if (const auto base = base_of(file)) {
      ++searches;
      for (const SweepPoint& point : load_sweep(file.string())) {
        SCOPED_TRACE(point.name);
        EXPECT_NO_THROW(load(*base, point.settings));
      }
    } else {
      ++configs;
      EXPECT_NO_THROW(load(file));
    }
  }
  EXPECT_GE(configs, 90u);
  EXPECT_GE(searches, 20u);
  EXPECT_GE(analytic, 15u);
}

struct Row {
  std::string experiment, file, key, authors, ours, reason;
};

std::vector<Row> authors_settings() {
  std::istringstream text(test::content_of(fs::path(SMILE_TEST_DATA_DIR) / "authors-settings.tsv"));
  std::vector<Row> rows;
  std::string line;
  std::getline(text, line);
  while (std::getline(text, line)) {
    std::istringstream cells(line);
    Row row;
    for (std::string* cell : {&row.experiment, &row.file, &row.key, &row.authors, &row.ours, &row.reason})
      std::getline(cells, *cell, '\t');
    rows.push_back(row);
  }
  return rows;
}

/// Numbers compare as numbers.
std::string plain(const YAML::Node& node) {
  if (node.IsSequence()) {
    std::string all;
    for (const YAML::Node& item : node) all += (all.empty() ? "[" : ", ") + plain(item);
    return all + "]";
  }
  const std::string text = node.as<std::string>();
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end) return text;
  std::ostringstream out;
  out.precision(12);
  out << value;
  return out.str();
}

/// The value at a.b.c; b[name] is the element of a list whose `name` it is, b[2] the third.
std::string value_at(const YAML::Node& root, const std::string& path) {
  YAML::Node node = YAML::Clone(root);
  std::istringstream parts(path);
  for (std::string part; std::getline(parts, part, '.');) {
    std::string which;
    if (const auto at = part.find('['); at != std::string::npos) {
      which = part.substr(at + 1, part.size() - at - 2);
      part.resize(at);
    }
    YAML::Node next = node[part];
    if (!next) return "(absent)";
    if (!which.empty()) {
      YAML::Node found;
      if (which.find_first_not_of("0123456789") == std::string::npos) {
        found.reset(next[std::stoul(which)]);
      } else {
        for (const YAML::Node& item : next)
          if (item["name"].as<std::string>() == which) {
            found.reset(item);
            break;
          }
      }
      next.reset(found);
    }
    node.reset(next);
  }
  return plain(node);
}

TEST(AuthorsSettings, AreInTheFilesOrHaveAReason) {
  const std::vector<Row> rows = authors_settings();
  ASSERT_GT(rows.size(), 100u);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.file + ": " + row.key);
    EXPECT_EQ(value_at(YAML::LoadFile((kRoot / row.file).string()), row.key), plain(YAML::Load(row.ours)));
    EXPECT_EQ(row.authors == row.ours, row.reason.empty()) << row.reason;
  }
}

std::size_t rows_of(const std::string& page) {
  std::istringstream lines(page);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) count += line.starts_with("|");
  return count;
}

TEST(AuthorsSettings, AreOnThePage) {
  const std::string page = test::content_of(kRoot / "docs/results/authors-settings.md");
  std::size_t lines = 0;
  for (const Row& row : authors_settings()) {
    const std::string line = "| " + row.experiment + " | `" + row.file + "` | `" + row.key + "` | `" +
                             row.authors + "` | `" + row.ours + "` |" +
                             (row.reason.empty() ? "" : " " + row.reason + " |") + "\n";
    EXPECT_NE(page.find(line), std::string::npos) << line << "run scripts/authors_table.py";
    ++lines;
  }
  // And no line more: head, rule and rows of two tables.
  EXPECT_EQ(rows_of(page), lines + 4);
}

TEST(PageOfThePaper, NamesFilesThatAreThereAndLeavesNoRowSilent) {
  const std::string page = test::content_of(kRoot / "docs/results/paper.md");
  const std::regex name(R"((configs|scripts|docs)/[\w./-]+\w)");
  std::set<std::string> named;
  for (auto at = std::sregex_iterator(page.begin(), page.end(), name); at != std::sregex_iterator(); ++at) {
    named.insert(at->str());
    EXPECT_TRUE(fs::exists(kRoot / at->str())) << at->str();
  }
  EXPECT_GT(named.size(), 30u);
  std::set<std::string> experiments;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| **")) continue;
    EXPECT_EQ(std::count(line.begin(), line.end(), '|'), 7) << line;
    EXPECT_FALSE(std::regex_search(line, std::regex(R"(\|\s*\|)"))) << "an empty cell: " << line;
    std::istringstream cells(line.substr(4, line.find("**", 4) - 4));
    for (std::string id; std::getline(cells, id, ',');) {
      id.erase(0, id.find_first_not_of(' '));
      experiments.insert(id);
    }
  }
  for (const char* id : {"T1", "T2", "T3", "T5", "T6", "T9", "T10", "T11", "T12", "T13", "T14", "F1",
                         "F2", "F3", "F4", "F5", "F6", "F7", "F8",  "F9",  "F10", "F.5", "F.6", "E.7"})
    EXPECT_TRUE(experiments.contains(id)) << id;
}

}  // namespace
}  // namespace smile

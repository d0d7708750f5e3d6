// SPDX-License-Identifier: Apache-2.0
#include "smile/data/split_files.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "data/field.hpp"
#include "files/file_error.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr const char* kMend = "give whole numbers between blanks or line ends, the rows of the table from 0";

/// The parts that have been read, and where each row stands.
class Reader {
 public:
  explicit Reader(std::size_t rows) : owners_(rows) {}

  std::vector<std::uint32_t> read(const std::string& path) {
    const std::string text = data::read_whole_file(path);
    std::vector<std::uint32_t> part;
    std::size_t line = 1, line_begin = 0;
    for (std::size_t at = 0; at < text.size();) {
      if (kBlanks.find(text[at]) != std::string_view::npos) {
        if (text[at++] == '\n') ++line, line_begin = at;
        continue;
      }
      const std::size_t end = std::min(text.size(), text.find_first_of(kBlanks, at));
      const std::string_view field = std::string_view(text).substr(at, end - at);
      part.push_back(row_of(field, data::location(path, line, at - line_begin + 1)));
      at = end;
    }
    if (part.empty()) throw Error(path, "no row is in this file", kMend);
    return part;
  }

  std::vector<std::uint32_t> rest() const {
    std::vector<std::uint32_t> part;
    for (std::size_t row = 0; row < owners_.size(); ++row)
      if (owners_[row].empty()) part.push_back(static_cast<std::uint32_t>(row));
    return part;
  }

 private:
  std::uint32_t row_of(std::string_view field, const std::string& where) {
    const data::ParsedField parsed = data::parse_field(field, false);
    const double value = parsed.value;
    if (parsed.kind != data::FieldKind::number || value < 0 || std::floor(value) != value)
      throw Error(where, data::shown(field) + " is not the number of a row", kMend);
    if (value >= static_cast<double>(owners_.size()))
      throw Error(where,
                  "row " + data::shortest(value) + " is not there: the table has rows 0 to " +
                      std::to_string(owners_.size() - 1),
                  "count the rows of the table from 0, without a header");
    const auto row = static_cast<std::uint32_t>(value);
    if (!owners_[row].empty())
      throw Error(where, "row " + std::to_string(row) + " stands at " + owners_[row] + " already",
                  "let every row be in one part, once");
    owners_[row] = where;
    return row;
  }

  std::vector<std::string> owners_;  ///< where the row stands; empty: nowhere yet
};

}  // namespace

SplitRows read_split_files(const SplitFiles& files, std::size_t rows) {
  if (!files.test)
    throw Error("data.split_files.test", "the file of the test rows is not given",
                "add it, or leave out data.split_files");
  Reader reader(rows);
  SplitRows split;
  split.test = reader.read(*files.test);
  if (files.valid) split.valid = reader.read(*files.valid);
  split.train = files.train ? reader.read(*files.train) : reader.rest();
  if (split.train.empty())
    throw Error(*files.test, "every row is for testing or validation", "leave some rows for training");
  return split;
}

}  // namespace smile

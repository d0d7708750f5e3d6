// SPDX-License-Identifier: Apache-2.0
/// Text files that the program keeps about its own work: a line of column names, then a line for each row,
/// the cells parted by commas. What the columns are called, in which order they stand and where in a row
/// their numbers go is said once, beside the row, for whoever writes the file and for whoever reads it:
///
///     struct Visit { std::uint64_t step = 0; double depth = 0; };
///     template <>
///     struct Columns<Visit> {
///       static constexpr RowColumn<Visit> all[] = {{"step", &Visit::step}, {"depth", &Visit::depth}};
///     };
///
/// A number that is not known (NaN) is an empty cell. Files of users are read by data/table.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace smile {

template <class Row>
struct RowColumn {
  std::string_view name;
  std::variant<double Row::*, std::uint64_t Row::*, int Row::*, std::string Row::*> member;
};

/// Specialised beside each row.
template <class Row>
struct Columns;

namespace data {

/// Eight significant digits; nothing for NaN.
std::string cell_text(double value);
std::string cell_text(std::uint64_t value);
std::string cell_text(int value);
inline const std::string& cell_text(const std::string& value) {
  return value;
}

/// False where the cell is no such number. An empty cell is NaN, or leaves a whole number as it is.
bool read_cell(std::string_view cell, double& value);
bool read_cell(std::string_view cell, std::uint64_t& value);
bool read_cell(std::string_view cell, int& value);
bool read_cell(std::string_view cell, std::string& value);

/// The cells of a line; one empty cell for an empty line.
std::vector<std::string_view> cells_of(std::string_view line);

/// The file for reading; without content where it is not there.
std::ifstream open_rows(const std::filesystem::path& path);
/// False at the end.
bool next_line(std::ifstream& in, std::string& line, const std::filesystem::path& path);

}  // namespace data

/// The first line of a file of such rows, with its end.
template <class Row>
std::string header_line() {
  std::string line;
  for (const RowColumn<Row>& column : Columns<Row>::all)
    line.append(line.empty() ? "" : ",").append(column.name);
  return line + "\n";
}

/// The line of a row, with its end.
template <class Row>
std::string line_of(const Row& row) {
  std::string line;
  for (const RowColumn<Row>& column : Columns<Row>::all) {
    if (&column != std::begin(Columns<Row>::all)) line += ',';
    std::visit([&](auto member) { line += data::cell_text(row.*member); }, column.member);
  }
  line += '\n';
  return line;
}

/// Reads such a file from its beginning. Columns are found by their names; one that the file has not leaves
/// its member as a new row has it. A file that is not there has no rows.
/// @throws Error (run) where the machine cannot open or read it
template <class Row>
class RowReader {
 public:
  explicit RowReader(std::filesystem::path path) : path_(std::move(path)), in_(data::open_rows(path_)) {
    if (!data::next_line(in_, line_, path_)) return;
    for (const std::string_view name : data::cells_of(line_)) {
      const RowColumn<Row>* known = nullptr;
      for (const RowColumn<Row>& column : Columns<Row>::all)
        if (column.name == name) known = &column;
      columns_.push_back(known);
    }
  }

  /// False at the end of the file, or where a line is damaged: nothing behind it is read.
  bool next(Row& row) {
    if (damaged_ || !data::next_line(in_, line_, path_)) return false;
    row = Row();
    const auto cells = data::cells_of(line_);
    damaged_ = cells.size() != columns_.size();
    for (std::size_t i = 0; i < columns_.size() && !damaged_; ++i)
      if (columns_[i])
        damaged_ = !std::visit([&](auto member) { return data::read_cell(cells[i], row.*member); },
                               columns_[i]->member);
    return !damaged_;
  }

 private:
  std::filesystem::path path_;
  std::ifstream in_;
  std::string line_;
  std::vector<const RowColumn<Row>*> columns_;  // of the file; null where the program has none of that name
  bool damaged_ = false;
};

/// All rows of a file up to its end or its first damaged line.
template <class Row>
std::vector<Row> read_rows(const std::filesystem::path& path) {
  std::vector<Row> rows;
  RowReader<Row> reader(path);
  for (Row row; reader.next(row);) rows.push_back(row);
  return rows;
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include "smile/data/table.hpp"

#include <charconv>
#include <limits>

#include "data/field.hpp"
#include "smile/data/table_formats.hpp"
#include "smile/error.hpp"

namespace smile {

std::size_t column_index(const std::string& name_or_index, const std::vector<std::string>& names,
                         const std::string& where) {
  std::size_t found = names.size(), matches = 0;
  std::string known;
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (names[j] == name_or_index) {
      found = j;
      ++matches;
    }
    known += (j ? ", " : "") + names[j];
  }
  if (matches == 1) return found;
  if (matches > 1)
    throw Error(where, "several columns are named " + data::shown(name_or_index),
                "give the column's index from 0");
  long long index = 0;
  const char* last = name_or_index.data() + name_or_index.size();
  const auto [end, status] = std::from_chars(name_or_index.data(), last, index);
  const auto count = static_cast<long long>(names.size());
  if (status == std::errc() && end == last) {
    if (index < 0) index += count;
    if (index >= 0 && index < count) return static_cast<std::size_t>(index);
    throw Error(where, "there is no column " + name_or_index,
                "the file has " + std::to_string(count) + " columns, 0 to " + std::to_string(count - 1));
  }
  throw Error(where, "there is no column " + data::shown(name_or_index), "the columns are " + known);
}

std::vector<std::string> table_remarks(const Table& table) {
  std::vector<std::string> remarks = table.remarks;
  const auto left_out = [&](const std::vector<std::size_t>& lines, const char* what) {
    if (!lines.empty())
      remarks.push_back(std::to_string(lines.size()) + (lines.size() == 1 ? " line" : " lines") + what +
                        " left out (" + (lines.size() == 1 ? "line " : "lines ") + data::joined_lines(lines) +
                        ")");
  };
  left_out(table.comment_lines, " that begin with #");
  left_out(table.blank_lines, " without a value");
  return remarks;
}

TableBlocks::TableBlocks(const std::filesystem::path& path, const TableOptions& options)
    : source_(table_format_of(path).open(path, options)) {}
TableBlocks::TableBlocks(std::unique_ptr<Source> source) : source_(std::move(source)) {}
TableBlocks::TableBlocks(TableBlocks&&) noexcept = default;
TableBlocks::~TableBlocks() = default;

bool TableBlocks::next(std::size_t rows, Table& block) {
  return source_->next(rows, block);
}

Table read_table(const std::filesystem::path& path, const TableOptions& options) {
  TableBlocks blocks(path, options);
  Table table;
  // One block takes all: at its end the file is known to have a row, or an error says that it has none.
  blocks.next(std::numeric_limits<std::size_t>::max(), table);
  if (table.rows == 0) {
    Table none;
    blocks.next(1, none);
  }
  return table;
}

}  // namespace smile

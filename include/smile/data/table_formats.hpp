// SPDX-License-Identifier: Apache-2.0
/// The kinds of files that hold a table: a row each, told apart by the ending of the name. A new one is a row
/// here in src/data/table_formats.cpp, or one that a program adds, and the Source that it opens.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "smile/data/table.hpp"

namespace smile {

/// What reads one file of some kind, for TableBlocks.
class TableBlocks::Source {
 public:
  virtual ~Source() = default;
  /// As TableBlocks::next().
  virtual bool next(std::size_t rows, Table& block) = 0;
};

struct TableFormat {
  std::vector<std::string>
      endings;      ///< of the name, in lower case, with the dot; letter case does not matter
  std::string doc;  ///< a line for lists
  std::function<std::unique_ptr<TableBlocks::Source>(const std::filesystem::path&, const TableOptions&)> open;
};

/// All of them; the first also reads the files whose ending no other has.
std::span<const TableFormat> table_formats();
/// Adds one before the first file is read. @throws Error where an ending has a reader already
void add_table_format(TableFormat format);
/// The format that reads a file of that name.
const TableFormat& table_format_of(const std::filesystem::path& path);

/// Runs of blanks and tabs between fields.
std::unique_ptr<TableBlocks::Source> open_data_table(const std::filesystem::path& path,
                                                     const TableOptions& options);
/// RFC 4180, with options.delimiter between fields.
std::unique_ptr<TableBlocks::Source> open_csv_table(const std::filesystem::path& path,
                                                    const TableOptions& options);
/// A NumPy array of two dimensions.
std::unique_ptr<TableBlocks::Source> open_npy_table(const std::filesystem::path& path,
                                                    const TableOptions& options);

}  // namespace smile

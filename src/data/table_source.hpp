/// The kinds of files behind TableBlocks.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>

#include "smile/data/table.hpp"

namespace smile {

class TableBlocks::Source {
 public:
  virtual ~Source() = default;
  /// As TableBlocks::next().
  virtual bool next(std::size_t rows, Table& block) = 0;
};

namespace data {

/// Runs of blanks and tabs.
std::unique_ptr<TableBlocks::Source> open_data_table(const std::filesystem::path& path,
                                                     const TableOptions& options);
/// RFC 4180.
std::unique_ptr<TableBlocks::Source> open_csv_table(const std::filesystem::path& path,
                                                    const TableOptions& options);
std::unique_ptr<TableBlocks::Source> open_npy_table(const std::filesystem::path& path,
                                                    const TableOptions& options);

}  // namespace data
}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// Tables over arrays that a caller holds: nothing is copied.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "smile/data/table.hpp"
#include "smile/data/table_formats.hpp"
#include "smile/named.hpp"

namespace smile {

/// Types of the numbers of an array.
enum class NumberType { float32, float64, int64 };
template <>
struct Named<NumberType> {
  static constexpr Alternative<NumberType> all[] = {
      {NumberType::float32, "float32"}, {NumberType::float64, "float64"}, {NumberType::int64, "int64"}};
};

/// A column: number i lies `i * stride` bytes behind `data`.
struct MemoryColumn {
  std::string name;
  const void* data = nullptr;
  std::ptrdiff_t stride = 0;  ///< bytes
  NumberType type = NumberType::float64;
  std::vector<std::string> words;  ///< by code, where the numbers are codes 0, 1, … of words; sorted
};

/// @param columns    whose memory outlives the table
/// @param has_names  whether the names are the caller's own, so that later tables are matched by name
/// @param missing    `drop` is not for arrays
/// @throws Error for an infinite value, for NaN under MissingPolicy::error, for a code that has no word, and
///         for what is no table
std::shared_ptr<const Table> memory_table(std::vector<MemoryColumn> columns, std::size_t rows, bool has_names,
                                          MissingPolicy missing);

/// Hands out such a table in blocks, as a file is read.
std::unique_ptr<TableBlocks::Source> open_memory_table(std::shared_ptr<const Table> table,
                                                       const TableOptions& options);

}  // namespace smile

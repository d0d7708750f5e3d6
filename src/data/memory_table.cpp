// SPDX-License-Identifier: Apache-2.0
#include "smile/data/memory_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "data/field.hpp"
#include "smile/data/dataset.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

using data::location;
using data::shown;

template <class T>
double number_at(const void* place) {
  T value;
  std::memcpy(&value, place, sizeof value);  // arrays may lie at any address
  return static_cast<double>(value);
}

class ArrayNumbers final : public TableNumbers {
 public:
  explicit ArrayNumbers(std::vector<MemoryColumn> columns) : columns_(std::move(columns)) {}

  double at(std::size_t row, std::size_t column) const override {
    const MemoryColumn& c = columns_[column];
    const void* place = static_cast<const char*>(c.data) + static_cast<std::ptrdiff_t>(row) * c.stride;
    switch (c.type) {
      case NumberType::float32:
        return number_at<float>(place);
      case NumberType::float64:
        return number_at<double>(place);
      case NumberType::int64:
        return number_at<std::int64_t>(place);
    }
    return std::numeric_limits<double>::quiet_NaN();
  }

 private:
  std::vector<MemoryColumn> columns_;
};

/// Some rows of another table.
class RowsOf final : public TableNumbers {
 public:
  RowsOf(std::shared_ptr<const Table> table, std::size_t first) : table_(std::move(table)), first_(first) {}
  double at(std::size_t row, std::size_t column) const override { return table_->at(first_ + row, column); }

 private:
  std::shared_ptr<const Table> table_;
  std::size_t first_;
};

void check_values(const Table& table, MissingPolicy missing) {
  for (std::size_t j = 0; j < table.columns; ++j) {
    const std::size_t words = table.categories[j].size();
    for (std::size_t i = 0; i < table.rows; ++i) {
      const double value = table.at(i, j);
      if (std::isinf(value))
        throw Error(location(table.source, i + 1, j + 1), "the value is not finite",
                    "correct it or leave the row out");
      if (std::isnan(value)) {
        if (missing == MissingPolicy::error)
          throw Error(location(table.source, i + 1, j + 1), "missing value (NaN)",
                      "fill it in, leave the row out, or set missing to mean");
        continue;
      }
      if (words > 0 && !(value >= 0 && value < static_cast<double>(words) && std::trunc(value) == value))
        throw Error(location(table.source, i + 1, j + 1),
                    data::shortest(value) + " is not the code of a word", "give codes from 0");
    }
  }
}

class MemorySource final : public TableBlocks::Source {
 public:
  MemorySource(std::shared_ptr<const Table> table, const TableOptions& options) : table_(std::move(table)) {
    if (!options.choose_categorical) return;
    const std::vector<bool> words = options.choose_categorical(*table_);
    const std::vector<bool> read =
        options.choose_read ? options.choose_read(*table_) : std::vector<bool>(table_->columns, true);
    for (std::size_t j = 0; j < table_->columns; ++j)
      if (read[j] && !words[j] && !table_->categories[j].empty())
        throw Error(table_->source + ": column " + shown(table_->column_names[j]),
                    "holds words where the training data had numbers", "give numbers");
  }

  bool next(std::size_t rows, Table& block) override {
    const std::size_t count = std::min(rows, table_->rows - next_row_);
    if (count == 0) return false;
    block = Table();
    static_cast<TableHead&>(block) = *table_;
    block.source = table_->source;
    block.rows = count;
    block.columns = table_->columns;
    block.categories = table_->categories;
    block.elsewhere = std::make_shared<RowsOf>(table_, next_row_);
    for (std::size_t i = 0; i < count; ++i) block.lines.push_back(next_row_ + i + 1);
    next_row_ += count;
    return true;
  }

 private:
  std::shared_ptr<const Table> table_;
  std::size_t next_row_ = 0;
};

}  // namespace

std::shared_ptr<const Table> memory_table(std::vector<MemoryColumn> columns, std::size_t rows, bool has_names,
                                          MissingPolicy missing) {
  if (missing == MissingPolicy::drop)
    throw Error("data.missing", "rows of arrays are not dropped",
                "leave them out of the arrays, or write mean");
  auto table = std::make_shared<Table>();
  table->source = "memory";
  if (rows == 0 || columns.empty())
    throw Error(table->source, "no data", "give at least one row and one column");
  table->has_header = has_names;
  table->rows = rows;
  table->columns = columns.size();
  for (const MemoryColumn& column : columns) {
    table->column_names.push_back(column.name);
    table->categories.push_back(column.words);
  }
  table->elsewhere = std::make_shared<ArrayNumbers>(std::move(columns));
  check_values(*table, missing);
  return table;
}

std::unique_ptr<TableBlocks::Source> open_memory_table(std::shared_ptr<const Table> table,
                                                       const TableOptions& options) {
  return std::make_unique<MemorySource>(std::move(table), options);
}

}  // namespace smile

#include "smile/data/table.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "data/field.hpp"
#include "data/table_advice.hpp"
#include "files/file_error.hpp"
#include "files/npy_header.hpp"
#include "smile/data/table_formats.hpp"
#include "smile/error.hpp"
#include "smile/files/npy.hpp"

namespace smile {

using data::location;

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

namespace {

/// Reads the rows of a two-dimensional array piece by piece.
class NpySource final : public TableBlocks::Source {
 public:
  NpySource(const std::filesystem::path& path, TableOptions options)
      : path_(path), source_(path.string()), options_(std::move(options)), file_(data::open_input(path)) {
    constexpr std::size_t kLongestHeader = 12 + (1 << 16);
    std::string head(kLongestHeader, '\0');
    head.resize(data::read_some(file_.descriptor, head.data(), head.size(), path_));
    header_ = data::parse_npy_header(head, source_);
    if (header_.shape.size() != 2)
      throw Error(source_, "an array of " + std::to_string(header_.shape.size()) + " dimensions is no table",
                  "give an array of shape (rows, columns)");
    if (header_.data_bytes(source_) == 0)
      throw Error(source_, "no data", "give an array with at least one row and column");
    pending_ = head.substr(header_.bytes);
    for (std::size_t j = 0; j < columns(); ++j) names_.push_back("column" + std::to_string(j + 1));
    for (const std::string& name : options_.categorical) column_index(name, names_, source_);
    if (options_.choose_categorical) options_.choose_categorical(names_, false);
    read_.assign(columns(), true);
    if (options_.choose_read) read_ = options_.choose_read(names_, false);
  }

  bool next(std::size_t rows, Table& block) override {
    block = Table();
    block.source = source_;
    block.column_names = names_;
    block.columns = columns();
    block.categories.resize(columns());
    const std::size_t count = std::min(rows, header_.shape[0] - next_row_);
    if (count == 0) {
      if (kept_ == 0)
        throw Error(source_, "no data: every row has a missing value", data::against_all_missing(options_));
      return false;
    }
    const NpyArray array({count, columns()}, header_.type, bytes_of(count), header_.characters);
    add_rows(array.as<double>(), count, block);
    kept_ += block.rows;
    return true;
  }

 private:
  struct Input {
    explicit Input(int opened) : descriptor(opened) {}
    Input(const Input&) = delete;
    ~Input() { ::close(descriptor); }
    int descriptor;
  };

  std::size_t columns() const { return header_.shape[1]; }

  /// The next `count` rows as they lie in the file.
  std::vector<std::byte> bytes_of(std::size_t count) {
    std::vector<std::byte> bytes(count * columns() * header_.item_bytes());
    const std::size_t before = std::min(pending_.size(), bytes.size());
    std::memcpy(bytes.data(), pending_.data(), before);
    pending_.erase(0, before);
    const std::size_t wanted = bytes.size() - before;
    if (data::read_some(file_.descriptor, reinterpret_cast<char*>(bytes.data()) + before, wanted, path_) <
        wanted)
      throw Error(source_, "the NumPy file is cut short", "copy or write the file again");
    return bytes;
  }

  void add_rows(const std::vector<double>& values, std::size_t count, Table& block) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t line = ++next_row_;
      bool dropped = false;
      for (std::size_t j = 0; j < columns(); ++j) {
        const double value = values[i * columns() + j];
        if (!read_[j]) continue;
        if (std::isinf(value))
          throw Error(location(source_, line, j + 1), "the value is not finite",
                      "correct it or remove the row");
        if (!std::isnan(value)) continue;
        if (options_.missing == MissingPolicy::error)
          throw Error(location(source_, line, j + 1), "missing value (NaN)", data::against_missing(options_));
        dropped = dropped || options_.missing == MissingPolicy::drop;
        if (options_.missing == MissingPolicy::mean) ++block.missing_values;
      }
      if (dropped) {
        block.dropped_lines.push_back(line);
        continue;
      }
      const auto row = values.begin() + static_cast<std::ptrdiff_t>(i * columns());
      block.values.insert(block.values.end(), row, row + static_cast<std::ptrdiff_t>(columns()));
      block.lines.push_back(line);
      ++block.rows;
    }
  }

  std::filesystem::path path_;
  std::string source_;
  TableOptions options_;
  Input file_;
  data::NpyHeader header_;
  std::string pending_;  // data read together with the header
  std::vector<std::string> names_;
  std::vector<bool> read_;  // by column
  std::size_t next_row_ = 0, kept_ = 0;
};

}  // namespace

std::unique_ptr<TableBlocks::Source> open_npy_table(const std::filesystem::path& path,
                                                    const TableOptions& options) {
  return std::make_unique<NpySource>(path, options);
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

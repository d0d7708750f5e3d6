// SPDX-License-Identifier: Apache-2.0
// NumPy arrays as tables: matrices of numbers, and records, whose fields are columns with names.
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "data/field.hpp"
#include "data/table_advice.hpp"
#include "data/table_builder.hpp"
#include "files/file_error.hpp"
#include "files/half.hpp"
#include "files/npy_header.hpp"
#include "files/utf8.hpp"
#include "smile/data/table_formats.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

using data::location;
using data::NpyField;

/// The bytes of one element in the machine's order.
template <class T>
T element(const std::byte* bytes, bool swapped) {
  std::byte ordered[sizeof(T)];
  std::memcpy(ordered, bytes, sizeof(T));
  if (swapped) std::reverse(ordered, ordered + sizeof(T));
  T value;
  std::memcpy(&value, ordered, sizeof(T));
  return value;
}

double number_of(const NpyField& field, const std::byte* row) {
  const std::byte* bytes = row + field.offset;
  const auto as = [&]<class T>(T) { return double(element<T>(bytes, field.swapped)); };
  const bool is_signed = field.kind == 'i';
  switch (field.bytes) {
    case 1:
      return is_signed ? as(std::int8_t{}) : as(std::uint8_t{});
    case 2:
      if (field.kind == 'f') return double(data::float_of_half(element<std::uint16_t>(bytes, field.swapped)));
      return is_signed ? as(std::int16_t{}) : as(std::uint16_t{});
    case 4:
      if (field.kind == 'f') return as(float{});
      return is_signed ? as(std::int32_t{}) : as(std::uint32_t{});
    default:
      if (field.kind == 'f') return as(double{});
      return is_signed ? as(std::int64_t{}) : as(std::uint64_t{});
  }
}

std::string text_of(const NpyField& field, const std::byte* row) {
  const std::byte* bytes = row + field.offset;
  std::string text;
  if (field.kind == 'S') {
    text.assign(reinterpret_cast<const char*>(bytes), field.bytes);
    while (!text.empty() && text.back() == '\0') text.pop_back();
    return text;
  }
  for (std::size_t k = 0; k < field.bytes; k += 4) {
    const auto point = element<std::uint32_t>(bytes + k, field.swapped);
    if (point == 0) break;
    data::append_utf8(text, point);
  }
  return text;
}

/// Reads the rows of an array piece by piece.
class NpySource final : public TableBlocks::Source {
 public:
  NpySource(const std::filesystem::path& path, const TableOptions& options)
      : path_(path),
        source_(path.string()),
        options_(options),
        file_(data::open_input(path)),
        builder_(source_, options) {
    read_header();
    has_text_ = std::any_of(fields_.begin(), fields_.end(), [](const NpyField& f) { return f.is_text(); });
    data::HeaderDecision header;
    if (has_names_)
      for (const NpyField& field : fields_) header.names.push_back(field.name);
    data::Record first;
    first.fields.resize(fields_.size());
    if (has_text_) {
      builder_.start(header, first);
      return;
    }
    head_.has_header = has_names_;
    for (std::size_t j = 0; j < fields_.size(); ++j)
      head_.column_names.push_back(has_names_ ? fields_[j].name : "column" + std::to_string(j + 1));
    for (const std::string& name : options_.categorical) column_index(name, head_.column_names, source_);
    if (options_.choose_categorical) options_.choose_categorical(head_);
    const auto chosen = [&](const TableOptions::Choice& choice, bool otherwise) {
      return choice ? choice(head_) : std::vector<bool>(fields_.size(), otherwise);
    };
    read_ = chosen(options_.choose_read, true);
    optional_ = chosen(options_.choose_optional, false);
  }

  bool next(std::size_t rows, Table& block) override {
    block = Table();
    static_cast<TableHead&>(block) = head_;
    block.source = source_;
    block.columns = fields_.size();
    block.categories.resize(fields_.size());
    std::size_t count = std::min(rows, rows_ - next_row_);
    if (count == 0 && !has_text_) {
      if (kept_ == 0)
        throw Error(source_, "no data: every row has a missing value", data::against_all_missing(options_));
      return false;
    }
    // A piece at a time: a block may be the whole file.
    for (constexpr std::size_t kPiece = 65536; count > 0;) {
      const std::size_t piece = std::min(count, kPiece);
      const std::vector<std::byte> bytes = bytes_of(piece);
      for (std::size_t i = 0; i < piece; ++i) {
        const std::byte* row = bytes.data() + i * row_bytes_;
        ++next_row_;
        if (has_text_)
          add_text(row);
        else
          add_numbers(row, block);
      }
      count -= piece;
    }
    if (has_text_) {
      block = builder_.take();
      if (block.rows > 0 || !block.dropped_lines.empty()) return true;
      builder_.check_any();
      return false;
    }
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

  void read_header() {
    constexpr std::size_t kLongestHeader = 12 + (std::size_t{1} << 20);
    std::string head(kLongestHeader, '\0');
    head.resize(data::read_some(file_.descriptor, head.data(), head.size(), path_));
    const data::NpyHeader header = data::parse_any_npy_header(head, source_);
    has_names_ = !header.fields.empty();
    const std::size_t dimensions = header.shape.size();
    if (has_names_ ? dimensions != 1 : dimensions != 2)
      throw Error(
          source_,
          "an array of " + std::to_string(dimensions) + " dimensions" +
              (has_names_ ? " of records is no table" : " is no table"),
          has_names_ ? "give the records in one dimension" : "give an array of shape (rows, columns)");
    rows_ = header.shape[0];
    if (has_names_) {
      for (const NpyField& field : header.fields)
        if (field.kind != 'V') fields_.push_back(field);  // V: what NumPy leaves free between fields
      row_bytes_ = header.record_bytes;
    } else {
      NpyField field = header.element;
      for (std::size_t j = 0; j < header.shape[1]; ++j, field.offset += field.bytes) fields_.push_back(field);
      row_bytes_ = fields_.size() * field.bytes;
    }
    std::size_t total = 0;
    if (__builtin_mul_overflow(rows_, row_bytes_, &total))
      throw Error(source_, "damaged NumPy header: the shape is impossibly large", "write the file again");
    if (total == 0) throw Error(source_, "no data", "give an array with at least one row and column");
    for (const NpyField& field : fields_)
      if (!field.is_number() && !field.is_text())
        throw Error(
            source_,
            (field.name.empty() ? "elements" : "field '" + field.name + "'") + std::string(" of type '") +
                field.type + "' " + (field.name.empty() ? "are" : "is") + " no number and no text" +
                (field.kind == 'O'   ? " (Python objects)"
                 : field.kind == 'M' ? " (dates)"
                                     : ""),
            field.name.empty() ? "convert with .astype('<f8') before numpy.save"
                               : "convert it with .astype, or leave the field out, before numpy.save");
    data_begin_ = header.bytes;
    columns_first_ = header.fortran_order && !has_names_;
    pending_ = head.substr(header.bytes);
    if (columns_first_) refuse_if_shorter(total);
  }

  /// Of a file in Fortran order, whose first row ends behind the beginning of the last column.
  void refuse_if_shorter(std::size_t total) const {
    const off_t end = ::lseek(file_.descriptor, 0, SEEK_END);
    if (end < 0)
      throw Error(source_, "an array in Fortran order cannot be read from a pipe",
                  "write numpy.ascontiguousarray of it, or give the file");
    if (std::size_t(end) < data_begin_ + total) refuse_short();
  }
  [[noreturn]] void refuse_short() const {
    throw Error(source_, "the NumPy file is cut short", "copy or write the file again");
  }

  /// The next `count` rows, each in one piece.
  std::vector<std::byte> bytes_of(std::size_t count) {
    std::vector<std::byte> bytes(count * row_bytes_);
    if (columns_first_) {
      const std::size_t item = fields_[0].bytes;
      std::string column(count * item, '\0');
      for (std::size_t j = 0; j < fields_.size(); ++j) {
        const auto at = off_t(data_begin_ + (j * rows_ + next_row_) * item);
        if (::lseek(file_.descriptor, at, SEEK_SET) != at ||
            data::read_some(file_.descriptor, column.data(), column.size(), path_) < column.size())
          refuse_short();
        for (std::size_t i = 0; i < count; ++i)
          std::memcpy(bytes.data() + i * row_bytes_ + j * item, column.data() + i * item, item);
      }
      return bytes;
    }
    const std::size_t before = std::min(pending_.size() - used_, bytes.size());
    std::memcpy(bytes.data(), pending_.data() + used_, before);
    used_ += before;
    const std::size_t wanted = bytes.size() - before;
    if (data::read_some(file_.descriptor, reinterpret_cast<char*>(bytes.data()) + before, wanted, path_) <
        wanted)
      refuse_short();
    return bytes;
  }

  /// Numbers beside words: as if the row stood in a text table.
  void add_text(const std::byte* row) {
    data::Record record{next_row_, std::vector<std::string>(fields_.size()), false};
    for (std::size_t j = 0; j < fields_.size(); ++j) {
      if (fields_[j].is_text()) {
        record.fields[j] = text_of(fields_[j], row);
        continue;
      }
      const double value = number_of(fields_[j], row);
      record.fields[j] = std::isnan(value) ? "nan" : std::isinf(value) ? "inf" : data::shortest(value);
      if (options_.decimal_comma) std::replace(record.fields[j].begin(), record.fields[j].end(), '.', ',');
    }
    builder_.add(record);
  }

  void add_numbers(const std::byte* row, Table& block) {
    const std::size_t before = block.values.size();
    std::size_t missing = 0;
    for (std::size_t j = 0; j < fields_.size(); ++j) {
      const double value = read_[j] ? number_of(fields_[j], row) : std::nan("");
      block.values.push_back(value);
      if (!read_[j]) continue;
      if (std::isinf(value))
        throw Error(location(source_, next_row_, j + 1), "the value is not finite",
                    "correct it or remove the row");
      if (!std::isnan(value) || optional_[j]) continue;
      if (options_.missing == MissingPolicy::error)
        throw Error(location(source_, next_row_, j + 1), "missing value (NaN)",
                    data::against_missing(options_));
      ++missing;
    }
    if (missing > 0 && options_.missing == MissingPolicy::drop) {
      block.values.resize(before);
      block.dropped_lines.push_back(next_row_);
      return;
    }
    block.missing_values += missing;
    block.lines.push_back(next_row_);
    ++block.rows;
  }

  std::filesystem::path path_;
  std::string source_;
  TableOptions options_;
  Input file_;
  std::vector<NpyField> fields_;
  bool has_names_ = false, has_text_ = false, columns_first_ = false;
  std::size_t rows_ = 0, row_bytes_ = 0, data_begin_ = 0;
  std::string pending_;   // data read together with the header
  std::size_t used_ = 0;  // of it
  TableHead head_;
  std::vector<bool> read_, optional_;  // by column
  std::size_t next_row_ = 0, kept_ = 0;
  data::TableBuilder builder_;  // of arrays with text
};

}  // namespace

std::unique_ptr<TableBlocks::Source> open_npy_table(const std::filesystem::path& path,
                                                    const TableOptions& options) {
  return std::make_unique<NpySource>(path, options);
}

}  // namespace smile

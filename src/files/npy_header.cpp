// SPDX-License-Identifier: Apache-2.0
#include "files/npy_header.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "smile/error.hpp"

static_assert(std::endian::native == std::endian::little,
              "NumPy files are read and written without byte swaps");

namespace smile::data {

namespace {

constexpr std::string_view kMagic("\x93NUMPY", 6);

struct TypeName {
  NpyType type;
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array<TypeName, 9> kTypes{{{NpyType::float32, "<f4", 4},
                                          {NpyType::float64, "<f8", 8},
                                          {NpyType::int32, "<i4", 4},
                                          {NpyType::int64, "<i8", 8},
                                          {NpyType::uint32, "<u4", 4},
                                          {NpyType::uint8, "|u1", 1},
                                          {NpyType::boolean, "|b1", 1},
                                          {NpyType::float16, "<f2", 2},
                                          {NpyType::uint16, "<u2", 2}}};

/// A reader of the few forms of Python literal that a header has.
class Literal {
 public:
  Literal(std::string_view text, const std::string& where) : text_(text), where_(where) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(where_, "damaged NumPy header: " + what, "write the file again with numpy.save");
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(where_, what + ", which is no column of a table", "leave it out before numpy.save");
  }
  /// Whether the next token begins with `c`, which stays.
  bool at(char c) {
    blanks();
    return at_ < text_.size() && text_[at_] == c;
  }
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("expected '") + c + "'");
  }
  std::string string() {
    blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("expected a string");
    std::string value;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == quote) {
        ++at_;
        return value;
      }
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      value += text_[at_];
    }
    fail("a string does not end");
  }
  bool boolean() {
    blanks();
    for (const auto& [word, value] : {std::pair{std::string_view("True"), true}, {"False", false}})
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    fail("expected True or False");
  }
  std::size_t integer() {
    blanks();
    std::size_t value = 0;
    const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (status != std::errc()) fail("expected a length");
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }
  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> values;
    expect('(');
    while (!take(')')) {
      values.push_back(integer());
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }

 private:
  std::string_view text_;
  const std::string& where_;
  std::size_t at_ = 0;
};

/// "<f8", "|S5", ">u2", "<M8[ns]": byte order, kind, and the size of an element.
NpyField type_of(const std::string& descr, const Literal& literal) {
  NpyField field;
  field.type = descr;
  std::string_view text = descr;
  if (!text.empty() && std::string_view("<>|=").find(text[0]) != std::string_view::npos) {
    field.swapped = text[0] == '>';
    text.remove_prefix(1);
  }
  if (text.empty()) literal.fail("the type '" + descr + "' is none");
  field.kind = text[0];
  const auto [end, status] = std::from_chars(text.data() + 1, text.data() + text.size(), field.bytes);
  if (status != std::errc() && field.kind != 'O') literal.fail("the type '" + descr + "' is none");
  constexpr std::size_t kLargest = std::size_t{1} << 32;
  if (field.bytes >= kLargest) literal.fail("the type '" + descr + "' is impossibly large");
  if (field.kind == 'U') field.bytes *= 4;
  if (field.kind == 'O') field.bytes = sizeof(void*);
  if (field.bytes == 1) field.swapped = false;
  return field;
}

/// [('x', '<f8'), ('name', '<U5'), ('v', '<f4', (3,)), (('title', 'y'), '<i4')]
std::vector<NpyField> record_fields(Literal& literal, std::size_t& bytes) {
  std::vector<NpyField> fields;
  literal.expect('[');
  while (!literal.take(']')) {
    literal.expect('(');
    std::string name;
    if (literal.take('(')) {
      literal.string();
      literal.expect(',');
      name = literal.string();
      literal.expect(')');
    } else {
      name = literal.string();
    }
    literal.expect(',');
    if (literal.take('[')) literal.refuse("field '" + name + "' is a record itself");
    NpyField field = type_of(literal.string(), literal);
    field.name = name;
    field.offset = bytes;
    if (literal.take(',') && !literal.take(')')) {
      literal.tuple();
      literal.refuse("field '" + name + "' has several values");
    } else {
      literal.take(')');
    }
    bytes += field.bytes;
    fields.push_back(std::move(field));
    if (!literal.take(',')) {
      literal.expect(']');
      break;
    }
  }
  if (fields.empty()) literal.fail("a record without fields");
  return fields;
}

void set_type(NpyHeader& header, const NpyField& element) {
  header.element = element;
  header.is_known = true;
  for (const TypeName& known : kTypes)
    if (element.type == known.name) {
      header.type = known.type;
      return;
    }
  header.is_known = element.kind == 'U' && !element.swapped;
  if (!header.is_known) return;
  header.type = NpyType::text;
  header.characters = element.bytes / 4;
}

}  // namespace

std::size_t NpyHeader::item_bytes() const {
  if (type == NpyType::text) return 4 * characters;
  for (const TypeName& known : kTypes)
    if (known.type == type) return known.bytes;
  return 0;
}

std::size_t NpyHeader::data_bytes(const std::string& where) const {
  std::size_t total = item_bytes();
  for (std::size_t length : shape)
    if (__builtin_mul_overflow(total, length, &total))
      throw Error(where, "damaged NumPy header: the shape is impossibly large", "write the file again");
  return total;
}

NpyHeader parse_any_npy_header(std::string_view file, const std::string& where) {
  if (file.substr(0, kMagic.size()) != kMagic)
    throw Error(where, "is not a NumPy file", "give a file written by numpy.save");
  if (file.size() < 10) throw Error(where, "the NumPy file is cut short", "copy or write the file again");
  const int major = static_cast<unsigned char>(file[6]), minor = static_cast<unsigned char>(file[7]);
  if (major < 1 || major > 3 || minor != 0)
    throw Error(where,
                "NumPy format " + std::to_string(major) + "." + std::to_string(minor) + " is not supported",
                "write format 1.0, 2.0 or 3.0");
  std::uint32_t length = 0;
  const std::size_t start = major == 1 ? 10 : 12;
  if (file.size() < start) throw Error(where, "the NumPy file is cut short", "copy or write the file again");
  std::memcpy(&length, file.data() + 8, major == 1 ? 2 : 4);
  if (file.size() - start < length)
    throw Error(where, "the NumPy file is cut short", "copy or write the file again");

  NpyHeader header;
  header.bytes = start + length;
  Literal literal(file.substr(start, length), where);
  bool has_descr = false, has_order = false, has_shape = false;
  literal.expect('{');
  while (!literal.take('}')) {
    const std::string key = literal.string();
    literal.expect(':');
    if (key == "descr") {
      if (literal.at('['))
        header.fields = record_fields(literal, header.record_bytes);
      else
        set_type(header, type_of(literal.string(), literal));
      has_descr = true;
    } else if (key == "fortran_order") {
      header.fortran_order = literal.boolean();
      has_order = true;
    } else if (key == "shape") {
      header.shape = literal.tuple();
      has_shape = true;
    } else {
      literal.fail("unknown key '" + key + "'");
    }
    if (!literal.take(',')) {
      literal.expect('}');
      break;
    }
  }
  if (!has_descr || !has_order || !has_shape) literal.fail("descr, fortran_order or shape is missing");
  return header;
}

NpyHeader parse_npy_header(std::string_view file, const std::string& where) {
  NpyHeader header = parse_any_npy_header(file, where);
  if (!header.fields.empty())
    throw Error(where, "an array of records where one of plain elements is needed",
                "give one field of it, or a matrix");
  if (!header.is_known)
    throw Error(where, "elements of type '" + header.element.type + "' are not supported",
                "convert with .astype('<f8') or '<f4', '<i8', '<i4' before numpy.save");
  if (header.fortran_order)
    throw Error(where, "the array is in Fortran order", "write numpy.ascontiguousarray of it");
  return header;
}

std::string format_npy_header(const NpyHeader& header, std::size_t minimum) {
  std::string descr;
  if (header.type == NpyType::text) descr = "<U" + std::to_string(header.characters);
  for (const TypeName& known : kTypes)
    if (known.type == header.type) descr = known.name;
  std::string dictionary = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
  for (std::size_t i = 0; i < header.shape.size(); ++i)
    dictionary += (i ? ", " : "") + std::to_string(header.shape[i]);
  dictionary += header.shape.size() == 1 ? ",), }" : "), }";

  const std::size_t used = 10 + dictionary.size() + 1;
  const std::size_t padded = std::max((used + 63) / 64 * 64, (minimum + 63) / 64 * 64);
  dictionary.append(padded - used, ' ');
  dictionary += '\n';
  // Format 1.0 counts the header in 16 bits; shapes of any dimension that occurs fit in that.
  const auto length = static_cast<std::uint16_t>(dictionary.size());
  std::string out(kMagic);
  out += '\x01';
  out += '\x00';
  out += static_cast<char>(length & 0xff);
  out += static_cast<char>(length >> 8);
  return out + dictionary;
}

NpyArray parse_npy(std::string_view file, const std::string& where) {
  NpyHeader header = parse_npy_header(file, where);
  const std::size_t wanted = header.data_bytes(where), there = file.size() - header.bytes;
  if (there < wanted)
    throw Error(where,
                "the NumPy file is cut short: " + std::to_string(there) +
                    " bytes of data where the shape asks for " + std::to_string(wanted),
                "copy or write the file again");
  const auto* first = reinterpret_cast<const std::byte*>(file.data() + header.bytes);
  return NpyArray(std::move(header.shape), header.type, std::vector<std::byte>(first, first + wanted),
                  header.characters);
}

}  // namespace smile::data

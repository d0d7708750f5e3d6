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
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a string does not end");
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
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

void set_type(NpyHeader& header, const std::string& descr, const std::string& where) {
  for (const TypeName& known : kTypes)
    if (descr == known.name) {
      header.type = known.type;
      return;
    }
  if (descr.size() > 2 && descr.substr(0, 2) == "<U") {
    const char* last = descr.data() + descr.size();
    const auto [end, status] = std::from_chars(descr.data() + 2, last, header.characters);
    if (status == std::errc() && end == last && header.characters < (std::size_t{1} << 32)) {
      header.type = NpyType::text;
      return;
    }
  }
  throw Error(where, "elements of type '" + descr + "' are not supported",
              "convert with .astype('<f8') or '<f4', '<i8', '<i4' before numpy.save");
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

NpyHeader parse_npy_header(std::string_view file, const std::string& where) {
  if (file.substr(0, kMagic.size()) != kMagic)
    throw Error(where, "is not a NumPy file", "give a file written by numpy.save");
  if (file.size() < 10) throw Error(where, "the NumPy file is cut short", "copy or write the file again");
  const int major = static_cast<unsigned char>(file[6]), minor = static_cast<unsigned char>(file[7]);
  if ((major != 1 && major != 2) || minor != 0)
    throw Error(where,
                "NumPy format " + std::to_string(major) + "." + std::to_string(minor) + " is not supported",
                "write format 1.0 or 2.0");
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
      set_type(header, literal.string(), where);
      has_descr = true;
    } else if (key == "fortran_order") {
      if (literal.boolean())
        throw Error(where, "the array is in Fortran order", "write numpy.ascontiguousarray of it");
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

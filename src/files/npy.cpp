// SPDX-License-Identifier: Apache-2.0
#include "smile/files/npy.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "files/file_error.hpp"
#include "files/half.hpp"
#include "files/npy_header.hpp"
#include "files/utf8.hpp"
#include "smile/error.hpp"
#include "smile/files/atomic_file.hpp"

namespace smile {

namespace {

std::size_t product(const std::vector<std::size_t>& shape) {
  std::size_t n = 1;
  for (std::size_t s : shape) n *= s;
  return n;
}

template <class T>
std::vector<std::byte> bytes_of(std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return {bytes.begin(), bytes.end()};
}

/// UTF-8 to code points; a byte that is no UTF-8 becomes U+FFFD.
std::u32string code_points(std::string_view text) {
  std::u32string out;
  while (!text.empty()) {
    const data::CodePoint next = data::next_code_point(text);
    out += next.length > 0 ? next.value : char32_t{0xfffd};
    text.remove_prefix(std::max<std::size_t>(1, next.length));
  }
  return out;
}

template <class To, class From>
To converted(From value) {
  if constexpr (std::is_integral_v<To>) {
    // Compared in long double, which holds every int64_t and double.
    const auto wide = static_cast<long double>(value);
    if (!(wide >= static_cast<long double>(std::numeric_limits<To>::min()) &&
          wide <= static_cast<long double>(std::numeric_limits<To>::max()) && std::trunc(wide) == wide))
      throw Error("NumPy array", std::to_string(wide) + " is not an integer of the range that is needed",
                  "write the array again with the right element type");
  }
  return static_cast<To>(value);
}

template <class To>
std::vector<To> convert_halves(std::span<const std::byte> bytes) {
  std::vector<To> out(bytes.size() / 2);
  for (std::size_t i = 0; i < out.size(); ++i) {
    std::uint16_t bits;
    std::memcpy(&bits, bytes.data() + 2 * i, 2);
    out[i] = converted<To>(data::float_of_half(bits));
  }
  return out;
}

template <class To, class From>
std::vector<To> convert_all(std::span<const std::byte> bytes) {
  std::vector<To> out(bytes.size() / sizeof(From));
  for (std::size_t i = 0; i < out.size(); ++i) {
    From value;
    std::memcpy(&value, bytes.data() + i * sizeof(From), sizeof(From));
    out[i] = converted<To>(value);
  }
  return out;
}

}  // namespace

NpyArray::NpyArray(std::vector<std::size_t> shape, NpyType type, std::vector<std::byte> bytes,
                   std::size_t characters)
    : shape_(std::move(shape)), type_(type), characters_(characters), bytes_(std::move(bytes)) {
  data::NpyHeader header;
  header.type = type;
  header.characters = characters;
  header.shape = shape_;
  if (header.data_bytes("NumPy array") != bytes_.size())
    throw Error("NumPy array", "the shape does not fit the number of values",
                "give as many values as the shape has");
}
NpyArray::NpyArray(std::vector<std::size_t> shape, std::span<const float> values)
    : NpyArray(std::move(shape), NpyType::float32, bytes_of(values)) {}
NpyArray::NpyArray(std::vector<std::size_t> shape, std::span<const double> values)
    : NpyArray(std::move(shape), NpyType::float64, bytes_of(values)) {}
NpyArray::NpyArray(std::vector<std::size_t> shape, std::span<const std::int32_t> values)
    : NpyArray(std::move(shape), NpyType::int32, bytes_of(values)) {}
NpyArray::NpyArray(std::vector<std::size_t> shape, std::span<const std::int64_t> values)
    : NpyArray(std::move(shape), NpyType::int64, bytes_of(values)) {}
NpyArray::NpyArray(std::vector<std::size_t> shape, std::span<const std::uint32_t> values)
    : NpyArray(std::move(shape), NpyType::uint32, bytes_of(values)) {}
NpyArray::NpyArray(std::vector<std::size_t> shape, std::span<const std::uint8_t> values)
    : NpyArray(std::move(shape), NpyType::uint8, bytes_of(values)) {}

NpyArray::NpyArray(std::vector<std::size_t> shape, std::span<const std::string> values) {
  std::vector<std::u32string> points;
  std::size_t width = 1;
  for (const std::string& value : values) {
    points.push_back(code_points(value));
    width = std::max(width, points.back().size());
  }
  std::vector<std::byte> bytes(4 * width * values.size(), std::byte{0});
  for (std::size_t i = 0; i < points.size(); ++i)
    std::memcpy(bytes.data() + 4 * width * i, points[i].data(), 4 * points[i].size());
  *this = NpyArray(std::move(shape), NpyType::text, std::move(bytes), width);
}

std::size_t NpyArray::size() const {
  return product(shape_);
}

template <class T>
std::vector<T> NpyArray::as() const {
  switch (type_) {
    case NpyType::float32:
      return convert_all<T, float>(bytes_);
    case NpyType::float64:
      return convert_all<T, double>(bytes_);
    case NpyType::int32:
      return convert_all<T, std::int32_t>(bytes_);
    case NpyType::int64:
      return convert_all<T, std::int64_t>(bytes_);
    case NpyType::uint32:
      return convert_all<T, std::uint32_t>(bytes_);
    case NpyType::uint8:
    case NpyType::boolean:
      return convert_all<T, std::uint8_t>(bytes_);
    case NpyType::float16:
      return convert_halves<T>(bytes_);
    case NpyType::uint16:
      return convert_all<T, std::uint16_t>(bytes_);
    case NpyType::text:
      break;
  }
  throw Error("NumPy array", "holds text where numbers are needed", "write an array of numbers");
}
template std::vector<float> NpyArray::as<float>() const;
template std::vector<double> NpyArray::as<double>() const;
template std::vector<std::int32_t> NpyArray::as<std::int32_t>() const;
template std::vector<std::int64_t> NpyArray::as<std::int64_t>() const;
template std::vector<std::uint32_t> NpyArray::as<std::uint32_t>() const;

std::vector<std::string> NpyArray::strings() const {
  if (type_ != NpyType::text)
    throw Error("NumPy array", "holds numbers where text is needed", "write an array of strings");
  std::vector<std::string> out(size());
  for (std::size_t i = 0; i < out.size(); ++i)
    for (std::size_t k = 0; k < characters_; ++k) {
      char32_t point = 0;
      std::memcpy(&point, bytes_.data() + 4 * (i * characters_ + k), 4);
      if (point == 0) break;
      data::append_utf8(out[i], point);
    }
  return out;
}

std::string NpyArray::header() const {
  data::NpyHeader header;
  header.type = type_;
  header.characters = characters_;
  header.shape = shape_;
  return data::format_npy_header(header);
}

void write_npy(const std::filesystem::path& path, const NpyArray& array) {
  AtomicFile file(path);
  file.write(array.header());
  file.write(array.bytes());
  file.commit();
}

namespace {

template <class T>
void write_values(const std::filesystem::path& path, std::vector<std::size_t> shape, NpyType type,
                  std::span<const T> values) {
  data::NpyHeader header;
  header.type = type;
  header.shape = std::move(shape);
  if (product(header.shape) != values.size())
    throw Error(path.string(), "the shape does not fit the number of values",
                "give as many values as the shape has");
  AtomicFile file(path);
  file.write(data::format_npy_header(header));
  file.write(std::as_bytes(values));
  file.commit();
}

}  // namespace

void write_npy(const std::filesystem::path& path, std::vector<std::size_t> shape,
               std::span<const float> values) {
  write_values(path, std::move(shape), NpyType::float32, values);
}
void write_npy(const std::filesystem::path& path, std::vector<std::size_t> shape,
               std::span<const double> values) {
  write_values(path, std::move(shape), NpyType::float64, values);
}
void write_npy(const std::filesystem::path& path, std::vector<std::size_t> shape,
               std::span<const std::int64_t> values) {
  write_values(path, std::move(shape), NpyType::int64, values);
}

NpyArray read_npy(const std::filesystem::path& path) {
  return data::parse_npy(data::read_whole_file(path), path.string());
}

}  // namespace smile

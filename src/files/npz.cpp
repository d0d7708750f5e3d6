// SPDX-License-Identifier: Apache-2.0
// NumPy's .npz: a ZIP archive of .npy files, stored without compression.
#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>

#include "files/file_error.hpp"
#include "files/npy_header.hpp"
#include "smile/error.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/files/npy.hpp"

namespace smile {

namespace {

constexpr std::uint32_t kLocalSignature = 0x04034b50, kCentralSignature = 0x02014b50,
                        kEndSignature = 0x06054b50;
constexpr std::size_t kLocalBytes = 30, kCentralBytes = 46, kEndBytes = 22;
// A fixed date, so that equal arrays give equal files: 1980-01-01 00:00.
constexpr std::uint16_t kTime = 0, kDate = (0 << 9) | (1 << 5) | 1;
constexpr std::uint16_t kVersion = 20, kStored = 0;

template <class T>
void put(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

template <class T>
T get(std::string_view file, std::size_t at) {
  T value = 0;
  std::memcpy(&value, file.data() + at, sizeof(T));
  return value;
}

std::uint32_t crc_of(std::uint32_t crc, const void* bytes, std::size_t size) {
  // For a null pointer zlib starts anew; an array without values adds nothing.
  if (size == 0) return crc;
  return static_cast<std::uint32_t>(crc32_z(crc, static_cast<const Bytef*>(bytes), size));
}

struct Entry {
  std::string name;
  std::uint32_t crc, size, offset;
};

/// The fields that a local header and a central one share, from "version needed" to the length of the name.
std::string shared_fields(const Entry& entry) {
  std::string out;
  put<std::uint16_t>(out, kVersion);
  put<std::uint16_t>(out, 0);  // flags
  put<std::uint16_t>(out, kStored);
  put<std::uint16_t>(out, kTime);
  put<std::uint16_t>(out, kDate);
  put<std::uint32_t>(out, entry.crc);
  put<std::uint32_t>(out, entry.size);  // compressed
  put<std::uint32_t>(out, entry.size);  // as it is
  put<std::uint16_t>(out, static_cast<std::uint16_t>(entry.name.size()));
  return out;
}

[[noreturn]] void damaged(const std::string& where, const std::string& what) {
  throw Error(where, "damaged .npz file: " + what, "restore the file or let the run write it again");
}

}  // namespace

void write_npz(const std::filesystem::path& path, std::span<const NamedArray> arrays) {
  AtomicFile file(path);
  std::vector<Entry> entries;
  std::uint64_t offset = 0;
  for (const NamedArray& named : arrays) {
    const std::string header = named.array.header();
    const auto bytes = named.array.bytes();
    const std::uint64_t size = header.size() + bytes.size();
    if (offset + size + kLocalBytes + named.name.size() > std::numeric_limits<std::uint32_t>::max())
      throw Error(path.string(), "more than 4 GiB of arrays do not fit into one .npz file",
                  "write them as single .npy files", ErrorKind::run);
    Entry entry{named.name + ".npy",
                crc_of(crc_of(0, header.data(), header.size()), bytes.data(), bytes.size()),
                static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(offset)};
    std::string local;
    put<std::uint32_t>(local, kLocalSignature);
    local += shared_fields(entry);
    put<std::uint16_t>(local, 0);  // extra field
    local += entry.name;
    file.write(local);
    file.write(header);
    file.write(bytes);
    offset += local.size() + size;
    entries.push_back(std::move(entry));
  }
  std::string central;
  for (const Entry& entry : entries) {
    put<std::uint32_t>(central, kCentralSignature);
    put<std::uint16_t>(central, kVersion);  // made by
    central += shared_fields(entry);
    put<std::uint16_t>(central, 0);  // extra field
    put<std::uint16_t>(central, 0);  // comment
    put<std::uint16_t>(central, 0);  // disk
    put<std::uint16_t>(central, 0);  // internal attributes
    put<std::uint32_t>(central, 0);  // external attributes
    put<std::uint32_t>(central, entry.offset);
    central += entry.name;
  }
  std::string end;
  put<std::uint32_t>(end, kEndSignature);
  put<std::uint16_t>(end, 0);  // this disk
  put<std::uint16_t>(end, 0);  // disk of the directory
  put<std::uint16_t>(end, static_cast<std::uint16_t>(entries.size()));
  put<std::uint16_t>(end, static_cast<std::uint16_t>(entries.size()));
  put<std::uint32_t>(end, static_cast<std::uint32_t>(central.size()));
  put<std::uint32_t>(end, static_cast<std::uint32_t>(offset));
  put<std::uint16_t>(end, 0);  // comment
  file.write(central);
  file.write(end);
  file.commit();
}

std::vector<NamedArray> read_npz(const std::filesystem::path& path) {
  const std::string content = data::read_whole_file(path);
  const std::string where = path.string();
  const std::string_view file = content;
  if (file.size() < kEndBytes) damaged(where, "it is too short");
  const std::size_t end = file.size() - kEndBytes;  // we and NumPy write no comment
  if (get<std::uint32_t>(file, end) != kEndSignature) damaged(where, "the end of the archive is missing");
  const std::size_t count = get<std::uint16_t>(file, end + 10);
  std::size_t at = get<std::uint32_t>(file, end + 16);

  std::vector<NamedArray> arrays;
  for (std::size_t i = 0; i < count; ++i) {
    if (at > end || end - at < kCentralBytes || get<std::uint32_t>(file, at) != kCentralSignature)
      damaged(where, "the list of arrays is broken");
    const auto method = get<std::uint16_t>(file, at + 10);
    const auto crc = get<std::uint32_t>(file, at + 16);
    const std::size_t stored = get<std::uint32_t>(file, at + 20), size = get<std::uint32_t>(file, at + 24);
    const std::size_t name_bytes = get<std::uint16_t>(file, at + 28),
                      extra = get<std::uint16_t>(file, at + 30), comment = get<std::uint16_t>(file, at + 32),
                      local = get<std::uint32_t>(file, at + 42);
    if (end - at - kCentralBytes < name_bytes + extra + comment)
      damaged(where, "the list of arrays is broken");
    std::string name(file.substr(at + kCentralBytes, name_bytes));
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    at += kCentralBytes + name_bytes + extra + comment;

    if (method != kStored || stored != size)
      throw Error(where, "array '" + name + "' is compressed",
                  "write the file with numpy.savez, not savez_compressed");
    if (local > end || end - local < kLocalBytes || get<std::uint32_t>(file, local) != kLocalSignature)
      damaged(where, "array '" + name + "' is not where the list says");
    const std::size_t start =
        local + kLocalBytes + get<std::uint16_t>(file, local + 26) + get<std::uint16_t>(file, local + 28);
    if (start > end || end - start < size) damaged(where, "array '" + name + "' is cut short");
    const std::string_view entry = file.substr(start, size);
    if (crc_of(0, entry.data(), entry.size()) != crc)
      damaged(where, "array '" + name + "' has a wrong checksum");
    arrays.push_back({name, data::parse_npy(entry, where + ": array '" + name + "'")});
  }
  return arrays;
}

const NpyArray& array_named(std::span<const NamedArray> arrays, const std::string& name,
                            const std::filesystem::path& path) {
  std::string known;
  for (const NamedArray& named : arrays) {
    if (named.name == name) return named.array;
    known += (known.empty() ? "" : ", ") + named.name;
  }
  throw Error(path.string(), "has no array '" + name + "'",
              known.empty() ? "the file holds no arrays" : "the arrays there are: " + known);
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include "files/zip_writer.hpp"

#include <zlib.h>

#include <algorithm>

namespace smile::data {
namespace {

constexpr std::uint32_t kLocalSignature = 0x04034b50, kCentralSignature = 0x02014b50,
                        kEndSignature = 0x06054b50, kEnd64Signature = 0x06064b50,
                        kLocator64Signature = 0x07064b50;
constexpr std::size_t kLocalBytes = 30, kCrcPlace = 14;
constexpr std::uint16_t kStored = 0, kTime = 0, kDate = (0 << 9) | (1 << 5) | 1;  // 1980-01-01 00:00
constexpr std::uint16_t kVersion = 20, kVersion64 = 45, kZip64Field = 0x0001;
/// A field that readers skip: what PyTorch fills up to its alignment with.
constexpr std::uint16_t kPaddingField = 0x4246;
constexpr std::uint32_t kSaturated = 0xffffffff;

template <class T>
void put(std::string& out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out += static_cast<char>((value >> (8 * i)) & 0xff);
}

std::uint32_t crc_of(std::uint32_t crc, const void* bytes, std::size_t size) {
  if (size == 0) return crc;  // for a null pointer zlib starts anew
  return static_cast<std::uint32_t>(crc32_z(crc, static_cast<const Bytef*>(bytes), size));
}

bool is_large(std::uint64_t value) {
  return value >= kSaturated;
}
std::uint32_t narrow(std::uint64_t value) {
  return is_large(value) ? kSaturated : static_cast<std::uint32_t>(value);
}

}  // namespace

void ZipWriter::add(const std::string& name, std::string_view content) {
  reserve(name, content.size(), content);
}

std::uint64_t ZipWriter::reserve(const std::string& name, std::uint64_t size, std::string_view head,
                                 std::size_t alignment) {
  std::string extra;
  if (is_large(size)) {
    put<std::uint16_t>(extra, kZip64Field);
    put<std::uint16_t>(extra, 16);
    put<std::uint64_t>(extra, size);
    put<std::uint64_t>(extra, size);
  }
  const std::uint64_t plain = end_ + kLocalBytes + name.size() + extra.size();
  if (plain % alignment != 0) {
    constexpr std::size_t kFieldHeader = 4;
    const std::size_t padding = (alignment - (plain + kFieldHeader) % alignment) % alignment;
    put<std::uint16_t>(extra, kPaddingField);
    put<std::uint16_t>(extra, static_cast<std::uint16_t>(padding));
    extra.append(padding, '\0');
  }
  std::string header;
  put<std::uint32_t>(header, kLocalSignature);
  put<std::uint16_t>(header, is_large(size) ? kVersion64 : kVersion);
  put<std::uint16_t>(header, 0);  // flags
  put<std::uint16_t>(header, kStored);
  put<std::uint16_t>(header, kTime);
  put<std::uint16_t>(header, kDate);
  put<std::uint32_t>(header, 0);  // the checksum, written by finish()
  put<std::uint32_t>(header, narrow(size));
  put<std::uint32_t>(header, narrow(size));
  put<std::uint16_t>(header, static_cast<std::uint16_t>(name.size()));
  put<std::uint16_t>(header, static_cast<std::uint16_t>(extra.size()));
  header += name + extra;
  file_.write_at(end_, header);
  file_.write_at(end_ + header.size(), head);
  const std::uint64_t data = end_ + header.size();
  entries_.push_back({name, size, end_, crc_of(0, head.data(), head.size())});
  end_ = data + size;
  return data + head.size();
}

void ZipWriter::checksum(std::size_t entry, const void* bytes, std::size_t size) {
  entries_[entry].crc = crc_of(entries_[entry].crc, bytes, size);
}

void ZipWriter::finish() {
  std::string central;
  for (const Entry& entry : entries_) {
    std::string crc;
    put<std::uint32_t>(crc, entry.crc);
    file_.write_at(entry.header + kCrcPlace, crc);

    std::string extra;
    if (is_large(entry.size) || is_large(entry.header)) {
      std::string values;
      if (is_large(entry.size)) {
        put<std::uint64_t>(values, entry.size);
        put<std::uint64_t>(values, entry.size);
      }
      if (is_large(entry.header)) put<std::uint64_t>(values, entry.header);
      put<std::uint16_t>(extra, kZip64Field);
      put<std::uint16_t>(extra, static_cast<std::uint16_t>(values.size()));
      extra += values;
    }
    const std::uint16_t version = extra.empty() ? kVersion : kVersion64;
    put<std::uint32_t>(central, kCentralSignature);
    put<std::uint16_t>(central, version);  // made by
    put<std::uint16_t>(central, version);
    put<std::uint16_t>(central, 0);  // flags
    put<std::uint16_t>(central, kStored);
    put<std::uint16_t>(central, kTime);
    put<std::uint16_t>(central, kDate);
    put<std::uint32_t>(central, entry.crc);
    put<std::uint32_t>(central, narrow(entry.size));
    put<std::uint32_t>(central, narrow(entry.size));
    put<std::uint16_t>(central, static_cast<std::uint16_t>(entry.name.size()));
    put<std::uint16_t>(central, static_cast<std::uint16_t>(extra.size()));
    put<std::uint16_t>(central, 0);  // comment
    put<std::uint16_t>(central, 0);  // disk
    put<std::uint16_t>(central, 0);  // internal attributes
    put<std::uint32_t>(central, 0);  // external attributes
    put<std::uint32_t>(central, narrow(entry.header));
    central += entry.name + extra;
  }
  std::string end;
  constexpr std::uint64_t kMostEntries = 0xffff;
  if (is_large(end_) || is_large(central.size()) || entries_.size() >= kMostEntries) {
    put<std::uint32_t>(end, kEnd64Signature);
    put<std::uint64_t>(end, 44);  // length of the rest of this record
    put<std::uint16_t>(end, kVersion64);
    put<std::uint16_t>(end, kVersion64);
    put<std::uint32_t>(end, 0);  // this disk
    put<std::uint32_t>(end, 0);  // disk of the directory
    put<std::uint64_t>(end, entries_.size());
    put<std::uint64_t>(end, entries_.size());
    put<std::uint64_t>(end, central.size());
    put<std::uint64_t>(end, end_);
    put<std::uint32_t>(end, kLocator64Signature);
    put<std::uint32_t>(end, 0);  // disk of the record above
    put<std::uint64_t>(end, end_ + central.size());
    put<std::uint32_t>(end, 1);  // disks
  }
  const auto count = static_cast<std::uint16_t>(std::min<std::uint64_t>(entries_.size(), kMostEntries));
  put<std::uint32_t>(end, kEndSignature);
  put<std::uint16_t>(end, 0);  // this disk
  put<std::uint16_t>(end, 0);  // disk of the directory
  put<std::uint16_t>(end, count);
  put<std::uint16_t>(end, count);
  put<std::uint32_t>(end, narrow(central.size()));
  put<std::uint32_t>(end, narrow(end_));
  put<std::uint16_t>(end, 0);  // comment
  file_.write_at(end_, central);
  file_.write_at(end_ + central.size(), end);
}

}  // namespace smile::data

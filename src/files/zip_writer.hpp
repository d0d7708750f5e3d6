// SPDX-License-Identifier: Apache-2.0
/// ZIP archives of stored (uncompressed) entries of any size, whose content may be written in pieces and in
/// any order.
/// @source PKWARE APPNOTE 6.3: local headers, central directory, ZIP64 extensions
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "smile/files/atomic_file.hpp"

namespace smile::data {

class ZipWriter {
 public:
  explicit ZipWriter(AtomicFile& file) : file_(file) {}

  /// A small entry, at once.
  void add(const std::string& name, std::string_view content);

  /// An entry of `size` bytes that begins with `head`; the rest is for the caller to write to the file.
  /// @param alignment  the content's place in the file is a multiple of it
  /// @return where the bytes behind `head` belong in the file
  std::uint64_t reserve(const std::string& name, std::uint64_t size, std::string_view head = {},
                        std::size_t alignment = 1);
  /// Says which bytes were written behind the head of entry number `entry`, in order, for its checksum.
  void checksum(std::size_t entry, const void* bytes, std::size_t size);
  std::size_t entries() const { return entries_.size(); }

  /// Writes the checksums and the list of entries. The file is then complete but for its commit().
  void finish();

 private:
  struct Entry {
    std::string name;
    std::uint64_t size = 0, header = 0;
    std::uint32_t crc = 0;
  };
  AtomicFile& file_;
  std::vector<Entry> entries_;
  std::uint64_t end_ = 0;
};

}  // namespace smile::data

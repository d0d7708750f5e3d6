/// Files that appear whole or not at all: write to a temporary name, fsync, rename, fsync the directory
/// (spec 5.3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace smile {

/// A file under construction. Until commit() the old file of that name, if any, is untouched; a destructor
/// without commit() removes the temporary. Every failure (no such folder, no permission, full disk) throws an
/// Error of kind `run` that names the path.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Writes over bytes that were written, or beyond the end (what lies between is then zero). The next
  /// write() goes on where the last one ended.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  void write_at(std::uint64_t offset, std::string_view text);
  /// Makes the content durable and gives the file its name.
  void commit();

 private:
  std::filesystem::path path_, temporary_;
  int descriptor_ = -1;
};

/// The whole content at once.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace smile

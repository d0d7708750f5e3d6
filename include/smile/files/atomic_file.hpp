// SPDX-License-Identifier: Apache-2.0
/// The one writer of outputs. Files appear whole or not at all: write to a temporary name, fsync, rename,
/// fsync the directory (spec 5.3). Links are followed; what is no regular file is written to in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace smile {

/// Where an output goes: the file behind a path, or an open stream.
struct OutputTarget {
  std::filesystem::path path;  ///< links followed; it need not exist
  int descriptor = -1;         ///< of the process, for "-" (standard output), /dev/stdout, /dev/fd/N; else -1
  bool stream = false;         ///< a pipe, a device, a descriptor: written to in place, never renamed over
};
/// @throws Error (usage) for a folder, an empty path, and links that lead in a circle
OutputTarget output_target(const std::filesystem::path& path);

/// A file under construction. Until commit() the old file of that name, if any, is untouched; a destructor
/// without commit() removes the temporary. Every failure (no such folder, no permission, full disk) throws an
/// Error of kind `run` that names the path. A stream gets the whole content at commit().
class AtomicFile {
 public:
  /// @param path  as output_target() takes it
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
  /// The regular file that holds the content until commit(), for a library that writes files by their names.
  const std::filesystem::path& temporary() const { return temporary_; }
  /// Makes the content durable and gives the file its name.
  void commit();

 private:
  void copy_to_stream();
  std::filesystem::path path_;  ///< as it was given, for messages
  OutputTarget target_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

/// The whole content at once.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace smile

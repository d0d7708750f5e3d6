// SPDX-License-Identifier: Apache-2.0
/// Errors of the operating system with the mend that fits them. What a signal has interrupted is done again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "smile/error.hpp"

namespace smile::data {

/// The machine refused (a limit, a broken disk): nothing is known of the file itself, so that nobody may go
/// on as if it were missing or damaged.
class MachineError : public Error {
 public:
  using Error::Error;
};

/// For any use of a file: "PATH: cannot write the file (No space left on device); …". Of kind `run`.
MachineError write_error(const std::filesystem::path& path, const std::string& what, int error_number);

/// Writes all bytes at the descriptor's position. @throws write_error, also for a short write
void write_all(int descriptor, const void* bytes, std::size_t size, const std::filesystem::path& path);

/// open(2), with O_CLOEXEC. @return −1 with errno where it fails
int open_file(const std::filesystem::path& path, int flags, unsigned mode = 0);

/// Makes what was written to the file durable. @throws write_error
void sync_file(int descriptor, const std::filesystem::path& path);

/// Opens an input file, or a pipe. Refuses folders and devices.
/// @return a descriptor that the caller closes
/// @throws Error (usage) with the cause: no such file, a folder, no permission; MachineError
int open_input(const std::filesystem::path& path);

/// Reads up to `size` bytes at the descriptor's position; fewer only at the end of the file.
/// @throws MachineError
std::size_t read_some(int descriptor, char* bytes, std::size_t size, const std::filesystem::path& path);

/// The same at a place of the file.
std::size_t read_some_at(int descriptor, std::uint64_t offset, void* bytes, std::size_t size,
                         const std::filesystem::path& path);

/// The whole content of an input file, whatever its size. @throws Error (usage) as open_input()
std::string read_whole_file(const std::filesystem::path& path);

/// The same; nothing where there is no such file.
std::optional<std::string> read_file_if_there(const std::filesystem::path& path);

}  // namespace smile::data

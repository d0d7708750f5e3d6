/// Errors of the operating system with the mend that fits them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "smile/error.hpp"

namespace smile::data {

/// An Error of kind `run` for an output file: "PATH: cannot write the file (No space left on device); …".
Error write_error(const std::filesystem::path& path, const std::string& what, int error_number);

/// Writes all bytes at the descriptor's position. @throws write_error, also for a short write
void write_all(int descriptor, const void* bytes, std::size_t size, const std::filesystem::path& path);

/// Opens an input file, or a pipe. Refuses folders and devices.
/// @return a descriptor that the caller closes
/// @throws Error (usage) with the cause: no such file, a folder, no permission
int open_input(const std::filesystem::path& path);

/// Reads up to `size` bytes at the descriptor's position; fewer only at the end of the file.
std::size_t read_some(int descriptor, char* bytes, std::size_t size, const std::filesystem::path& path);

/// The whole content of an input file, whatever its size. @throws Error (usage) as open_input()
std::string read_whole_file(const std::filesystem::path& path);

}  // namespace smile::data

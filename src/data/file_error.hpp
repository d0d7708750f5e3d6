/// Errors of the operating system with the mend that fits them.
#pragma once

#include <filesystem>
#include <string>

#include "smile/error.hpp"

namespace smile::data {

/// An Error of kind `run` for an output file: "PATH: cannot write the file (No space left on device); …".
Error write_error(const std::filesystem::path& path, const std::string& what, int error_number);

/// Writes all bytes at the descriptor's position. @throws write_error, also for a short write
void write_all(int descriptor, const void* bytes, std::size_t size, const std::filesystem::path& path);

/// The whole content of an input file, whatever its size. Refuses folders and devices.
/// @throws Error (usage) with the cause: no such file, a folder, no permission
std::string read_whole_file(const std::filesystem::path& path);

}  // namespace smile::data

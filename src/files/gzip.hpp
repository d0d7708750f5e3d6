// SPDX-License-Identifier: Apache-2.0
/// Files that may be compressed with gzip.
#pragma once

#include <filesystem>
#include <string>

namespace smile::data {

/// The whole content, unpacked where the file begins as a gzip file does (whatever its name).
/// @throws Error as read_whole_file does, and for packed data that is cut short, damaged, or fails its
/// checksum
std::string read_maybe_gzip(const std::filesystem::path& path);

}  // namespace smile::data

/// The header of a .npy file: a Python dictionary literal after a magic string.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "smile/files/npy.hpp"

namespace smile::data {

struct NpyHeader {
  NpyType type = NpyType::float64;
  std::size_t characters = 0;  ///< width of the strings of NpyType::text
  std::vector<std::size_t> shape;
  std::size_t bytes = 0;  ///< length of magic and header: where the data starts

  std::size_t item_bytes() const;
  /// Bytes of data that the shape asks for. @throws Error at `where` where that overflows
  std::size_t data_bytes(const std::string& where) const;
};

/// Reads the header at the start of `file`, which may be longer. @throws Error at `where`
NpyHeader parse_npy_header(std::string_view file, const std::string& where);

/// Magic and header, padded with blanks to a multiple of 64 bytes and at least `minimum` bytes.
std::string format_npy_header(const NpyHeader& header, std::size_t minimum = 0);

/// Parses a whole .npy file in memory. @throws Error at `where`, also where data are missing; bytes after the
/// data are ignored, as NumPy does
NpyArray parse_npy(std::string_view file, const std::string& where);

}  // namespace smile::data

// SPDX-License-Identifier: Apache-2.0
/// The header of a .npy file: a Python dictionary literal after a magic string.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "smile/files/npy.hpp"

namespace smile::data {

/// An element, or a field of a record, of whatever type.
struct NpyField {
  std::string name;  ///< of a record's field
  std::string type;  ///< as NumPy writes it: "<f8"
  char kind = 'f';   ///< f, i, u or b: a number; U or S: text; others: neither
  std::size_t bytes = 0;
  std::size_t offset = 0;  ///< in the record
  bool swapped = false;    ///< the most significant byte comes first

  bool is_text() const { return kind == 'U' || kind == 'S'; }
  bool is_number() const {
    const bool known = kind == 'f'   ? bytes == 2 || bytes == 4 || bytes == 8
                       : kind == 'b' ? bytes == 1
                                     : bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    return (kind == 'f' || kind == 'i' || kind == 'u' || kind == 'b') && known;
  }
};

struct NpyHeader {
  NpyType type = NpyType::float64;  ///< where `is_known`
  std::size_t characters = 0;       ///< width of the strings of NpyType::text
  std::vector<std::size_t> shape;
  NpyField element;              ///< of an array that is not one of records
  std::vector<NpyField> fields;  ///< of an array of records; else empty
  std::size_t record_bytes = 0;
  bool is_known = false;       ///< the elements are of a type of NpyType
  bool fortran_order = false;  ///< the first index runs fastest
  std::size_t bytes = 0;       ///< length of magic and header: where the data starts

  std::size_t item_bytes() const;
  /// Bytes of data that the shape asks for. @throws Error at `where` where that overflows
  std::size_t data_bytes(const std::string& where) const;
};

/// Reads the header at the start of `file`, which may be longer: of elements of any type, or of records.
/// @throws Error at `where`
NpyHeader parse_any_npy_header(std::string_view file, const std::string& where);
/// The same for an array of elements of a NpyType in C order. @throws Error at `where` for any other
NpyHeader parse_npy_header(std::string_view file, const std::string& where);

/// Magic and header, padded with blanks to a multiple of 64 bytes and at least `minimum` bytes.
std::string format_npy_header(const NpyHeader& header, std::size_t minimum = 0);

/// Parses a whole .npy file in memory. @throws Error at `where`, also where data are missing; bytes after the
/// data are ignored, as NumPy does
NpyArray parse_npy(std::string_view file, const std::string& where);

}  // namespace smile::data

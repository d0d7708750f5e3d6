// SPDX-License-Identifier: Apache-2.0
/// NumPy's array files: .npy (format 1.0 and 2.0), .npz (uncompressed ZIP), and a file of draws that grows.
/// Little-endian, C order. Errors name the file; a damaged file is an Error, never a wrong array.
/// @source NumPy Enhancement Proposal 1; PKWARE APPNOTE 6.3 (stored entries, CRC-32)
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace smile {

enum class NpyType : std::uint8_t {
  float32,
  float64,
  int32,
  int64,
  uint32,
  uint8,
  boolean,
  text,
  float16,  ///< read as float or double; written as ready bytes
  uint16
};

/// An array in memory, as it lies in the file.
class NpyArray {
 public:
  NpyArray() = default;
  /// @param shape  product = values.size(); {} is a scalar (one value)
  NpyArray(std::vector<std::size_t> shape, std::span<const float> values);
  NpyArray(std::vector<std::size_t> shape, std::span<const double> values);
  NpyArray(std::vector<std::size_t> shape, std::span<const std::int32_t> values);
  NpyArray(std::vector<std::size_t> shape, std::span<const std::int64_t> values);
  NpyArray(std::vector<std::size_t> shape, std::span<const std::uint32_t> values);
  NpyArray(std::vector<std::size_t> shape, std::span<const std::uint8_t> values);
  /// UTF-8 strings, stored as NumPy's fixed-width unicode.
  NpyArray(std::vector<std::size_t> shape, std::span<const std::string> values);
  /// Takes ready bytes; `characters` is the width of the strings of NpyType::text.
  NpyArray(std::vector<std::size_t> shape, NpyType type, std::vector<std::byte> bytes,
           std::size_t characters = 0);

  const std::vector<std::size_t>& shape() const { return shape_; }
  std::size_t size() const;
  NpyType type() const { return type_; }
  std::span<const std::byte> bytes() const { return bytes_; }

  /// All values converted to T (float, double, int32_t, int64_t, uint32_t). Throws Error where an integer is
  /// asked for and a value is no integer of that range, or where the array holds text.
  template <class T>
  std::vector<T> as() const;
  /// Strings of an array of type text.
  std::vector<std::string> strings() const;
  /// The .npy form: magic, header, data.
  std::string header() const;

 private:
  std::vector<std::size_t> shape_;
  NpyType type_ = NpyType::float64;
  std::size_t characters_ = 0;
  std::vector<std::byte> bytes_;
};

/// Writes atomically. @throws Error (run) where the file cannot be written
void write_npy(const std::filesystem::path& path, const NpyArray& array);
void write_npy(const std::filesystem::path& path, std::vector<std::size_t> shape,
               std::span<const float> values);
void write_npy(const std::filesystem::path& path, std::vector<std::size_t> shape,
               std::span<const double> values);
void write_npy(const std::filesystem::path& path, std::vector<std::size_t> shape,
               std::span<const std::int64_t> values);

/// @throws Error for what is no .npy file, is cut short, has another byte order or element type, or Fortran
/// order
NpyArray read_npy(const std::filesystem::path& path);

struct NamedArray {
  std::string name;  ///< without ".npy"
  NpyArray array;
};

/// Writes atomically; the same arrays give the same bytes (no time stamps).
void write_npz(const std::filesystem::path& path, std::span<const NamedArray> arrays);
/// Reads what write_npz and numpy.savez write. @throws Error for damage (checksums are verified) and
/// compression
std::vector<NamedArray> read_npz(const std::filesystem::path& path);
/// The array of that name. @throws Error that lists the names there are
const NpyArray& array_named(std::span<const NamedArray> arrays, const std::string& name,
                            const std::filesystem::path& path);

/// An array [S, d] of float32 (or of 16-bit elements, given as their bits) that grows by rows. The header is
/// padded so that S is rewritten in place after each row, so the file is a valid .npy file, which others may
/// map, at every moment; a killed process loses at most the row being written.
class NpyAppender {
 public:
  /// Starts an empty file, replacing one that is there.
  /// @param type  float32, float16 or uint16
  static NpyAppender create(const std::filesystem::path& path, std::size_t columns,
                            NpyType type = NpyType::float32);
  /// Opens a file written by this class and cuts it to its first `rows` rows (for --resume).
  /// @throws Error where the file is no such array, has other columns or elements, or fewer rows
  static NpyAppender reopen(const std::filesystem::path& path, std::size_t columns, std::size_t rows,
                            NpyType type = NpyType::float32);

  NpyAppender(NpyAppender&& other) noexcept;
  NpyAppender& operator=(NpyAppender&& other) noexcept;
  ~NpyAppender();

  /// @param row @shape [d]. On failure (full disk, short write) throws Error (run); the rows before stay
  /// valid.
  void append(std::span<const float> row);
  /// The same for 16-bit elements.
  void append(std::span<const std::uint16_t> row);
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  /// Waits until all rows are on the disk; call before a checkpoint that counts on them.
  void sync();

 private:
  NpyAppender(std::filesystem::path path, int descriptor, std::size_t columns, std::size_t rows,
              NpyType type);
  void append_bytes(std::span<const std::byte> row, std::size_t item_bytes);
  void write_header();
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::size_t columns_ = 0, rows_ = 0;
  NpyType type_ = NpyType::float32;
};

/// A float32 [S, d] file mapped into memory, read row by row; it may still be growing (S is that of the
/// opening).
class NpyRows {
 public:
  explicit NpyRows(const std::filesystem::path& path);
  NpyRows(NpyRows&& other) noexcept;
  NpyRows& operator=(NpyRows&& other) noexcept;
  ~NpyRows();
  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  std::span<const float> row(std::size_t i) const { return {values_ + i * columns_, columns_}; }

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_bytes_ = 0, rows_ = 0, columns_ = 0;
  const float* values_ = nullptr;
};

}  // namespace smile

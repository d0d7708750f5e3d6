// SPDX-License-Identifier: Apache-2.0
/// Where a chain's draws are kept: written one at a time, read one at a time (spec 5.3).
///
/// Draws of up to 64 MiB are rows of one file, `chain-KK.npy` [S, d]. Larger ones are a file each,
/// `chain-KK/draw-SSSSSS.npy` [d]. Both are valid NumPy files at every moment; nothing here keeps more than
/// one draw in memory, nor maps files, so that memory does not grow with the number of draws.
///
/// Types: float32 ('<f4'); float16 ('<f2', rounded to nearest even; beyond ±65504 infinity); bfloat16, which
/// NumPy does not have, as its 16 bits in an array of '<u2' (float32 is (bits << 16)), rounded to nearest
/// even.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "smile/named.hpp"

namespace smile {

enum class DrawsType : std::uint8_t { float32, float16, bfloat16 };
template <>
struct Named<DrawsType> {
  static constexpr Alternative<DrawsType> all[] = {
      {DrawsType::float32, "float32"}, {DrawsType::float16, "float16"}, {DrawsType::bfloat16, "bfloat16"}};
};
std::size_t bytes_of(DrawsType type);
/// What is read again of values that are stored as `type`: rounded to it.
void round_as_stored(DrawsType type, std::span<float> values);

/// Above so many bytes a draw has a file of its own.
inline constexpr std::size_t kLargestSharedDraw = std::size_t{64} << 20;

/// Writes one chain's draws.
class DrawsWriter {
 public:
  struct Options {
    DrawsType type = DrawsType::float32;
    std::size_t largest_shared_draw = kLargestSharedDraw;
  };
  /// Starts anew, replacing what is there.
  /// @param path  "samples/chain-03.npy"; draws with a file each go to "samples/chain-03/"
  /// @throws Error (run) where files cannot be made
  static DrawsWriter create(const std::filesystem::path& path, std::size_t columns, Options options);
  /// Goes on after the first `rows` draws; later ones are removed.
  /// @throws Error where there are fewer, or draws of another size or type
  static DrawsWriter reopen(const std::filesystem::path& path, std::size_t columns, std::size_t rows,
                            Options options);
  DrawsWriter(DrawsWriter&&) noexcept;
  DrawsWriter& operator=(DrawsWriter&&) noexcept;
  ~DrawsWriter();

  /// @param draw @shape [d]. On failure (full disk) throws Error (run); the draws before stay valid.
  void append(std::span<const float> draw);
  std::size_t rows() const;
  /// Waits until all draws are on the disk; call before a checkpoint that counts on them.
  void sync();

 private:
  struct Files;
  explicit DrawsWriter(std::unique_ptr<Files> files);
  std::unique_ptr<Files> files_;
};

/// Reads one chain's draws, whichever way they are stored; they may still be growing (S is that of the
/// opening). May be used from several threads at once.
class DrawsReader {
 public:
  /// @param path  "samples/chain-03.npy", as for DrawsWriter
  /// @throws Error where there are none, or they are damaged
  explicit DrawsReader(const std::filesystem::path& path);
  /// Whether there is anything to open.
  static bool exist(const std::filesystem::path& path);
  DrawsReader(DrawsReader&&) noexcept;
  DrawsReader& operator=(DrawsReader&&) noexcept;
  ~DrawsReader();

  std::size_t rows() const;
  std::size_t columns() const;
  DrawsType type() const;
  /// Draw i. @param out @shape [d], overwritten. @throws Error (run) where it cannot be read
  void read(std::size_t i, std::span<float> out) const;
  /// Some parameters of draw i; of a large draw without reading the rest.
  /// @param out as long as `parameters`, overwritten
  void read(std::size_t i, std::span<const std::size_t> parameters, std::span<float> out) const;

 private:
  struct Files;
  std::unique_ptr<const Files> files_;
};

}  // namespace smile

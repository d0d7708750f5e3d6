// SPDX-License-Identifier: Apache-2.0
#include "data/orientation.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace smile::data {
namespace {

/// The numbers of a TIFF structure, whose byte order it names itself. 0 beyond its end.
class Tiff {
 public:
  explicit Tiff(std::span<const unsigned char> bytes)
      : bytes_(bytes), big_(!bytes.empty() && bytes[0] == 'M') {}
  std::uint32_t number(std::size_t at, std::size_t length) const {
    std::uint32_t value = 0;
    for (std::size_t k = 0; k < length; ++k) {
      const std::size_t place = at + (big_ ? k : length - 1 - k);
      value = value << 8 | (place < bytes_.size() ? bytes_[place] : 0u);
    }
    return value;
  }

 private:
  std::span<const unsigned char> bytes_;
  bool big_;
};

}  // namespace

int exif_orientation(std::span<const unsigned char> segment) {
  constexpr std::string_view kExif("Exif\0\0", 6);
  constexpr std::size_t kEntry = 12;
  constexpr std::uint32_t kTag = 0x0112, kShort = 3;
  if (segment.size() < kExif.size() + 8 ||
      !std::equal(kExif.begin(), kExif.end(), segment.begin(),
                  [](char a, unsigned char b) { return static_cast<unsigned char>(a) == b; }))
    return 1;
  const auto bytes = segment.subspan(kExif.size());
  const Tiff tiff(bytes);
  const std::size_t directory = tiff.number(4, 4);
  const std::size_t entries = directory + 2 <= bytes.size() ? tiff.number(directory, 2) : 0;
  for (std::size_t k = 0; k < entries; ++k) {
    const std::size_t entry = directory + 2 + k * kEntry;
    if (entry + kEntry > bytes.size()) break;
    if (tiff.number(entry, 2) != kTag || tiff.number(entry + 2, 2) != kShort) continue;
    const std::uint32_t value = tiff.number(entry + 8, 2);
    return value >= 1 && value <= 8 ? int(value) : 1;
  }
  return 1;
}

void apply_orientation(DecodedImage& image, int orientation) {
  if (orientation <= 1 || orientation > 8) return;
  const std::size_t height = image.height, width = image.width;
  const bool turned = orientation >= 5;  // rows become columns
  const std::size_t new_height = turned ? width : height, new_width = turned ? height : width;
  // Where the stored picture's first row and column are seen: at the bottom, at the right.
  const bool from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  std::vector<std::uint8_t> pixels(image.pixels.size());
  for (std::size_t c = 0; c * height * width < pixels.size(); ++c)
    for (std::size_t y = 0; y < new_height; ++y)
      for (std::size_t x = 0; x < new_width; ++x) {
        std::size_t row = turned ? x : y, column = turned ? y : x;
        if (from_bottom) row = height - 1 - row;
        if (from_right) column = width - 1 - column;
        pixels[(c * new_height + y) * new_width + x] = image.pixels[(c * height + row) * width + column];
      }
  image.pixels = std::move(pixels);
  image.height = new_height;
  image.width = new_width;
}

}  // namespace smile::data

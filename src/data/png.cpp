// SPDX-License-Identifier: Apache-2.0
// PNG files through libpng's simplified interface, which converts palettes, grey, 16 bits and transparency.
#include <png.h>

#include "data/image_readers.hpp"
#include "smile/error.hpp"

namespace smile::data {
namespace {

/// libpng's reader, freed whatever happens.
struct Reader {
  png_image image{};
  Reader() { image.version = PNG_IMAGE_VERSION; }
  ~Reader() { png_image_free(&image); }
};

}  // namespace

DecodedImage decode_png(const std::string& bytes, const std::string& where) {
  Reader reader;
  png_image& png = reader.image;
  const auto damaged = [&] {
    throw Error(where, "the PNG file is damaged or cut short (" + std::string(png.message) + ")",
                "replace or remove the file");
  };
  if (png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()) == 0) damaged();
  DecodedImage out;
  out.height = png.height;
  out.width = png.width;
  const std::size_t size = out.height * out.width;
  if (size > kMostPixels)
    throw Error(where, "the PNG image is too large", "give images of at most 2^27 pixels");
  png.format = PNG_FORMAT_RGB;
  png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // else 16 bits would count as linear light, unlike 8
  std::vector<std::uint8_t> rows(3 * size);
  const png_color black{0, 0, 0};
  if (png_image_finish_read(&png, &black, rows.data(), 0, nullptr) == 0) damaged();
  if (PNG_IMAGE_FAILED(png)) damaged();
  out.pixels.resize(3 * size);
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < size; ++i) out.pixels[c * size + i] = rows[3 * i + c];
  return out;
}

}  // namespace smile::data

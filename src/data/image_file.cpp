// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "data/image_readers.hpp"
#include "files/file_error.hpp"
#include "smile/error.hpp"

namespace smile {

DecodedImage read_image_file(const std::filesystem::path& path) {
  return data::decode_image(data::read_whole_file(path), path.string());
}

bool data::is_picture(const std::string& bytes) {
  return bytes.starts_with("\xff\xd8") || bytes.starts_with("\x89PNG");
}

std::string data::shape_text(const ImageShape& shape) {
  return std::to_string(shape.width) + " × " + std::to_string(shape.height) +
         (shape.channels == 1 ? " (grey)" : " (colour)");
}

DecodedImage data::decode_image(const std::string& bytes, const std::string& where) {
  // By content: names lie more often than the first bytes do.
  if (bytes.starts_with("\xff\xd8")) return decode_jpeg(bytes, where);
  if (bytes.starts_with("\x89PNG")) return decode_png(bytes, where);
  throw Error(where, bytes.empty() ? "the image file is empty" : "is neither a JPEG nor a PNG file",
              "replace or remove the file");
}

namespace {

/// Weights of the inputs of one output position.
struct Taps {
  std::size_t first = 0;
  std::vector<float> weights;
};

/// The triangle filter centred at each output position, as wide as an output pixel where that is the wider.
std::vector<Taps> triangle_taps(std::size_t from, std::size_t to) {
  const double scale = double(from) / double(to), support = std::max(1.0, scale);
  std::vector<Taps> taps(to);
  for (std::size_t i = 0; i < to; ++i) {
    const double centre = (double(i) + 0.5) * scale;
    const auto first = static_cast<std::size_t>(std::max(0.0, std::floor(centre - support)));
    const auto last = std::min(from, static_cast<std::size_t>(std::ceil(centre + support)));
    taps[i].first = first;
    double sum = 0;
    std::vector<double> weights;
    for (std::size_t j = first; j < last; ++j) {
      weights.push_back(std::max(0.0, 1 - std::abs(double(j) + 0.5 - centre) / support));
      sum += weights.back();
    }
    for (const double weight : weights) taps[i].weights.push_back(static_cast<float>(weight / sum));
  }
  return taps;
}

}  // namespace

std::vector<std::uint8_t> resize_image(std::span<const std::uint8_t> pixels, const ImageShape& shape,
                                       std::size_t height, std::size_t width) {
  if (shape.height == height && shape.width == width) return {pixels.begin(), pixels.end()};
  const auto across = triangle_taps(shape.width, width), down = triangle_taps(shape.height, height);
  std::vector<float> rows(shape.height * width);
  std::vector<std::uint8_t> out(shape.channels * height * width);
  for (std::size_t c = 0; c < shape.channels; ++c) {
    const auto plane = pixels.subspan(c * shape.height * shape.width);
    for (std::size_t y = 0; y < shape.height; ++y)
      for (std::size_t x = 0; x < width; ++x) {
        const Taps& taps = across[x];
        float sum = 0;
        for (std::size_t k = 0; k < taps.weights.size(); ++k)
          sum += taps.weights[k] * float(plane[y * shape.width + taps.first + k]);
        rows[y * width + x] = sum;
      }
    for (std::size_t y = 0; y < height; ++y)
      for (std::size_t x = 0; x < width; ++x) {
        const Taps& taps = down[y];
        float sum = 0;
        for (std::size_t k = 0; k < taps.weights.size(); ++k)
          sum += taps.weights[k] * rows[(taps.first + k) * width + x];
        out[(c * height + y) * width + x] = static_cast<std::uint8_t>(std::clamp(sum + 0.5F, 0.0F, 255.0F));
      }
  }
  return out;
}

}  // namespace smile

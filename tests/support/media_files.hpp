// SPDX-License-Identifier: Apache-2.0
/// Files of images and their parts for tests: IDX, CIFAR, JPEG and PNG, whole, so that tests can break them.
#pragma once

#include <cstdio>  // before jpeglib.h

#include <jpeglib.h>
#include <png.h>
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace smile::test {

inline std::string big_endian(std::uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
  return out;
}

/// An IDX file of images whose pixel k is k mod 251.
inline std::string idx_images(std::uint32_t count, std::uint32_t height, std::uint32_t width) {
  std::string out = big_endian(0x803) + big_endian(count) + big_endian(height) + big_endian(width);
  for (std::uint32_t k = 0; k < count * height * width; ++k) out += static_cast<char>(k % 251);
  return out;
}
inline std::string idx_labels(const std::vector<int>& labels) {
  std::string out = big_endian(0x801) + big_endian(static_cast<std::uint32_t>(labels.size()));
  for (const int label : labels) out += static_cast<char>(label);
  return out;
}

/// CIFAR-10 records; pixel k of record i is (7 i + k) mod 256.
inline std::string cifar_records(const std::vector<int>& labels) {
  std::string out;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    out += static_cast<char>(labels[i]);
    for (std::size_t k = 0; k < 3072; ++k) out += static_cast<char>((7 * i + k) % 256);
  }
  return out;
}

inline std::string gzipped(const std::string& text) {
  std::string out(text.size() + 1000, '\0');
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// A JPEG file of best quality. @param components  3 (RGB) or 1 (grey)
/// @param pixels @shape [height, width, components]
inline std::string jpeg_file(std::size_t height, std::size_t width, int components,
                             std::vector<std::uint8_t> pixels) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &bytes, &size);
  info.image_height = static_cast<JDIMENSION>(height);
  info.image_width = static_cast<JDIMENSION>(width);
  info.input_components = components;
  info.in_color_space = components == 3 ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = pixels.data() + info.next_scanline * width * static_cast<std::size_t>(components);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  std::string out(reinterpret_cast<char*>(bytes), size);
  jpeg_destroy_compress(&info);
  std::free(bytes);
  return out;
}

/// A PNG file. @param format  PNG_FORMAT_RGB, PNG_FORMAT_GRAY, PNG_FORMAT_RGBA, …
inline std::string png_file(std::size_t height, std::size_t width, png_uint_32 format,
                            const std::vector<std::uint8_t>& pixels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.height = static_cast<png_uint_32>(height);
  image.width = static_cast<png_uint_32>(width);
  image.format = format;
  png_alloc_size_t size = 0;
  png_image_write_to_memory(&image, nullptr, &size, 0, pixels.data(), 0, nullptr);
  std::string out(size, '\0');
  png_image_write_to_memory(&image, out.data(), &size, 0, pixels.data(), 0, nullptr);
  out.resize(size);
  return out;
}

/// A smooth colour picture, @shape [height, width, 3], that tells top from bottom, left from right, and
/// colours from each other.
inline std::vector<std::uint8_t> smooth_picture(std::size_t height, std::size_t width) {
  std::vector<std::uint8_t> pixels;
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x) {
      pixels.push_back(static_cast<std::uint8_t>(40 + 160 * x / width));
      pixels.push_back(static_cast<std::uint8_t>(220 - 180 * y / height));
      pixels.push_back(static_cast<std::uint8_t>(30 + 60 * (x + y) / (height + width)));
    }
  return pixels;
}

}  // namespace smile::test

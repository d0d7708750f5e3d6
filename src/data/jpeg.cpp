// SPDX-License-Identifier: Apache-2.0
// JPEG files through libjpeg, whose errors come as jumps and whose warnings as counts.
#include <cstdio>  // before jpeglib.h, which needs FILE and size_t

#include <jerror.h>
#include <jpeglib.h>

#include <csetjmp>

#include "data/image_readers.hpp"
#include "data/orientation.hpp"
#include "smile/error.hpp"

namespace smile::data {
namespace {

/// libjpeg's manager with what it has to say. Errors jump out of the library; a warning that means lost
/// pixels is one too: libjpeg itself would fill the rest of the image with grey.
struct Manager {
  jpeg_error_mgr base;
  std::jmp_buf out;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void fail(j_common_ptr info) {
  auto* manager = reinterpret_cast<Manager*>(info->err);
  info->err->format_message(info, manager->message);
  std::longjmp(manager->out, 1);
}

void warn(j_common_ptr info, int level) {
  if (level >= 0) return;
  switch (info->err->msg_code) {
    case JWRN_ADOBE_XFORM:
    case JWRN_BOGUS_PROGRESSION:
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_JFIF_MAJOR:
    case JWRN_TOO_MUCH_DATA:
      return;  // unusual files with whole pixels
    default:
      fail(info);
  }
}

/// Everything that must not be destroyed by a jump lives in the caller.
struct Decoder {
  jpeg_decompress_struct info{};
  Manager manager{};
  std::vector<std::uint8_t> row;
  DecodedImage image;
  int orientation = 1;
  bool too_large = false, four_colours = false;
  ~Decoder() { jpeg_destroy_decompress(&info); }
};

/// @return false where libjpeg has failed; no object with a destructor lives in this frame
bool read_header(Decoder& d, const std::string& bytes) {
  d.info.err = jpeg_std_error(&d.manager.base);
  d.manager.base.error_exit = fail;
  d.manager.base.emit_message = warn;
  if (setjmp(d.manager.out) != 0) return false;
  jpeg_create_decompress(&d.info);
  jpeg_mem_src(&d.info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_save_markers(&d.info, JPEG_APP0 + 1, 0xffff);
  jpeg_read_header(&d.info, TRUE);
  for (jpeg_saved_marker_ptr marker = d.info.marker_list; marker && d.orientation == 1; marker = marker->next)
    d.orientation = exif_orientation({marker->data, marker->data_length});
  d.too_large = std::size_t{d.info.image_width} * d.info.image_height > kMostPixels;
  d.four_colours = d.info.jpeg_color_space == JCS_CMYK || d.info.jpeg_color_space == JCS_YCCK;
  return true;
}

bool read_rows(Decoder& d) {
  if (setjmp(d.manager.out) != 0) return false;
  d.info.out_color_space = JCS_RGB;  // grey is spread by the library
  d.info.dct_method = JDCT_ISLOW;
  jpeg_start_decompress(&d.info);
  const std::size_t height = d.image.height, width = d.image.width;
  while (d.info.output_scanline < d.info.output_height) {
    const std::size_t y = d.info.output_scanline;
    JSAMPROW row = d.row.data();
    jpeg_read_scanlines(&d.info, &row, 1);
    for (std::size_t c = 0; c < 3; ++c)
      for (std::size_t x = 0; x < width; ++x) d.image.pixels[(c * height + y) * width + x] = d.row[3 * x + c];
  }
  jpeg_finish_decompress(&d.info);
  return true;
}

}  // namespace

DecodedImage decode_jpeg(const std::string& bytes, const std::string& where) {
  Decoder d;
  const auto damaged = [&] {
    throw Error(where, "the JPEG file is damaged or cut short (" + std::string(d.manager.message) + ")",
                "replace or remove the file");
  };
  if (!read_header(d, bytes)) damaged();
  if (d.too_large) throw Error(where, "the JPEG image is too large", "give images of at most 2^27 pixels");
  if (d.four_colours)
    throw Error(where, "the JPEG image is in four colours (CMYK)", "convert it to RGB or remove the file");
  d.image.height = d.info.image_height;
  d.image.width = d.info.image_width;
  d.image.pixels.resize(3 * d.image.height * d.image.width);
  d.row.resize(3 * d.image.width);
  if (!read_rows(d)) damaged();
  apply_orientation(d.image, d.orientation);
  return std::move(d.image);
}

}  // namespace smile::data

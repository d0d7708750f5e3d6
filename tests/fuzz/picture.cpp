// SPDX-License-Identifier: Apache-2.0
/// JPEG and PNG. Pictures of many pixels are lawful and slow, which is no finding.
#include "data/image_readers.hpp"
#include "fuzz.hpp"

SMILE_FUZZ(input) {
  const std::string bytes(input);
  smile::fuzz::read_or_refuse([&] { static_cast<void>(smile::data::decode_image(bytes, "picture")); });
  smile::fuzz::read_or_refuse([&] { static_cast<void>(smile::data::decode_png(bytes, "picture.png")); });
  smile::fuzz::read_or_refuse([&] { static_cast<void>(smile::data::decode_jpeg(bytes, "picture.jpg")); });
}

// SPDX-License-Identifier: Apache-2.0
/// IDX files of images and of labels.
#include "data/image_readers.hpp"
#include "fuzz.hpp"

SMILE_FUZZ(input) {
  using namespace smile;
  fuzz::read_or_refuse([&] { static_cast<void>(data::idx_images(std::string(input), "images")); });
  const auto path = fuzz::file_of(input, "labels");
  fuzz::read_or_refuse([&] { static_cast<void>(data::read_idx_labels(path)); });
}

// SPDX-License-Identifier: Apache-2.0
/// The orientation tag of photographs: a camera that was held upright stores a lying picture and says so.
/// @source CIPA DC-008 (Exif 2.32), tag 0x0112
#pragma once

#include <cstddef>
#include <span>

#include "smile/data/images.hpp"

namespace smile::data {

/// The tag's value, 1 to 8, in the content of a JPEG file's APP1 segment; 1 (as stored) where there is none,
/// or where the segment is damaged.
int exif_orientation(std::span<const unsigned char> segment);

/// Turns and mirrors the picture as the tag asks. @param orientation  1 to 8
void apply_orientation(DecodedImage& image, int orientation);

}  // namespace smile::data

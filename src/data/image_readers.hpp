// SPDX-License-Identifier: Apache-2.0
/// Readers of the image formats, each giving all images of some files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "smile/data/images.hpp"

namespace smile::data {

/// What a reader has found beside the images: where each one is, for messages.
struct ReadImages {
  ImageSet images;
  std::vector<std::string> class_names;  ///< empty: the numbers
  std::vector<std::string> warnings;
};

/// A pair of IDX files. @throws Error for another magic number, sizes that do not agree, missing or surplus
/// bytes, another number of labels than images
ReadImages read_idx(const std::filesystem::path& images, const std::filesystem::path& labels);

/// Images from the bytes of an IDX file, without labels.
ImageSet idx_images(std::string bytes, const std::string& where);
std::vector<std::uint32_t> read_idx_labels(const std::filesystem::path& path);
/// Whether these are the first bytes of an IDX file.
bool is_idx(const std::string& bytes);

/// Files of CIFAR records, one after the other. @param fine  CIFAR-100 (two label bytes) instead of CIFAR-10
/// @throws Error for a length that is no multiple of a record's, a label out of range (record named)
ReadImages read_cifar(const std::vector<std::filesystem::path>& files, bool fine);
/// The records of one file's bytes, added to `set`.
void add_cifar(const std::string& bytes, const std::string& where, bool fine, ImageSet& set);

/// A folder of class folders. @param classes  names that are allowed, in order; empty: those that are there
/// @param side  resized to side × side; empty: all must be of one size
/// @throws Error that names every image that cannot be read, or those of different size
ReadImages read_class_folders(const std::filesystem::path& root, const std::vector<std::string>& classes,
                              std::optional<std::size_t> side);

/// .jpg, .jpeg or .png, in any case.
bool is_image_name(const std::filesystem::path& path);
/// The images of a folder, sorted by name. @param others  files of other kinds, and folders, are counted
std::vector<std::filesystem::path> image_files(const std::filesystem::path& folder, std::size_t& others);

/// @throws Error that names images that cannot be read; none where there are none
/// @param first_cause  of the first of them
void refuse_broken(const std::filesystem::path& root, const std::vector<std::string>& broken,
                   const std::string& first_cause);

/// "28 × 28 (grey)", width first.
std::string shape_text(const ImageShape& shape);

/// Class folders of `root`, sorted by name; hidden ones are left out.
std::vector<std::string> class_folders(const std::filesystem::path& root);

/// Whether bytes begin as JPEG or PNG files do.
bool is_picture(const std::string& bytes);
/// One image from the bytes of a file; the first takes either form. @throws Error at `where`
DecodedImage decode_image(const std::string& bytes, const std::string& where);
DecodedImage decode_jpeg(const std::string& bytes, const std::string& where);
DecodedImage decode_png(const std::string& bytes, const std::string& where);

/// More pixels than this are a damaged header or no image for a network.
inline constexpr std::size_t kMostPixels = std::size_t{1} << 27;

}  // namespace smile::data

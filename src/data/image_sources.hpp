// SPDX-License-Identifier: Apache-2.0
/// Which files a set of images consists of.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "smile/data/images.hpp"

namespace smile::data {

struct ImageSources {
  ImageFormat format = ImageFormat::idx;  ///< never `detect`
  /// idx: images and labels; cifar10, cifar100: files of records; folder: the folder of class folders
  std::vector<std::filesystem::path> train, test;  ///< `test` is empty where the set has no test files
  std::vector<std::string> class_names;            ///< from batches.meta.txt or fine_label_names.txt
  std::vector<std::string> warnings;
};

/// The file of labels that lies beside a file of IDX images under the corresponding name.
std::optional<std::filesystem::path> idx_labels_beside(const std::filesystem::path& images);

/// Looks for the files. @throws Error that says which are missing
ImageSources find_images(const ImageOptions& options);

}  // namespace smile::data

// SPDX-License-Identifier: Apache-2.0
/// Sets of images: pixels as they are in the files, and batches made of them on demand (spec 2.4).
///
/// An ImageSet owns 8-bit pixels, once, whatever the number of chains. ImageRows is a part of it (training,
/// validation or test) with a normalisation: it fills a float batch for given items. Nothing else is copied.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "smile/data/dataset.hpp"
#include "smile/random/stream.hpp"

namespace smile {

struct ImageShape {
  std::size_t channels = 0, height = 0, width = 0;
  std::size_t size() const { return channels * height * width; }
  bool operator==(const ImageShape&) const = default;
};

/// Images of one shape with their labels; immutable once read, shared between threads.
struct ImageSet {
  ImageShape shape;
  std::vector<std::uint8_t> pixels;   ///< @shape [N, C, H, W]; channels red, green, blue, or one of grey
  std::vector<std::uint32_t> labels;  ///< @shape [N], from 0

  std::size_t size() const { return labels.size(); }
  std::span<const std::uint8_t> image(std::size_t i) const {
    return std::span(pixels).subspan(i * shape.size(), shape.size());
  }
};

/// x = (pixel/255 − mean)/sd for each channel.
struct ImageNormalisation {
  std::vector<double> mean, sd;  ///< @shape [C]
  /// To [0, 1].
  static ImageNormalisation unit(std::size_t channels);
  static ImageNormalisation cifar();     ///< three channels; CIFAR-10's training images
  static ImageNormalisation imagenet();  ///< three channels
};

/// Some images of a set, in a fixed order, seen through a normalisation. Cheap to copy; may be used from
/// several threads at once.
class ImageRows {
 public:
  ImageRows() = default;
  /// @param rows  positions in the set
  ImageRows(std::shared_ptr<const ImageSet> images, std::vector<std::uint32_t> rows,
            const ImageNormalisation& normalisation);

  std::size_t size() const { return rows_.size(); }
  const ImageShape& shape() const { return images_->shape; }
  /// Labels of all items, in order. @shape [size()]
  std::span<const std::uint32_t> labels() const { return labels_; }
  /// Positions in the set. @shape [size()]
  std::span<const std::uint32_t> rows() const { return rows_; }

  /// Normalised images of `items` (positions in this part).
  /// @param items  empty: all, as Likelihood has it   @param out @shape [B, C, H, W], overwritten
  void assemble(std::span<const std::uint32_t> items, std::span<float> out) const;

  /// As assemble(), each image augmented (`augment: basic`): flipped left to right with probability ½; with
  /// probability 0.95 a random window of 70 % of each side, resized back (bilinear). The numbers are those of
  /// (key, step) and of the place in the batch; key.purpose should be Purpose::augmentation.
  void assemble_augmented(std::span<const std::uint32_t> items, StreamKey key, std::uint64_t step,
                          std::span<float> out) const;

 private:
  void fill(std::size_t item, std::span<float> out) const;
  std::shared_ptr<const ImageSet> images_;
  std::vector<std::uint32_t> rows_, labels_;
  std::vector<std::array<float, 256>> value_of_;  ///< per channel: pixel to normalised value
};

/// How a folder (or file) of images is laid out.
enum class ImageFormat {
  detect,    ///< by the names of the files that are there
  idx,       ///< {train,t10k}-{images-idx3,labels-idx1}-ubyte, plain or .gz: MNIST and its relatives
  cifar10,   ///< records of a label byte and 3×32×32 bytes, plain or .gz
  cifar100,  ///< records of a coarse label, a fine label (taken) and 3×32×32 bytes, plain or .gz
  folder,    ///< a folder for each class with .jpg, .jpeg and .png files; perhaps below train/ and test/ or
             ///< val/
};
template <>
struct Named<ImageFormat> {
  static constexpr Alternative<ImageFormat> all[] = {{ImageFormat::detect, "auto"},
                                                     {ImageFormat::idx, "idx"},
                                                     {ImageFormat::cifar10, "cifar10"},
                                                     {ImageFormat::cifar100, "cifar100"},
                                                     {ImageFormat::folder, "folder"}};
};

struct ImageOptions {
  ImageFormat format = ImageFormat::detect;
  /// The training images (and, where `test_path` is empty, the test images): a folder, or a file of records.
  std::filesystem::path path;
  std::filesystem::path test_path = {};
  /// The path is one of torchvision's: its folder name says which set, whose usual sub-folders are searched.
  bool torchvision = false;
  std::optional<std::size_t> side =
      {};                 ///< resized to side × side; empty: as they are, which must be all alike
  bool normalize = true;  ///< colour: per channel with the set's usual mean and sd; else to [0, 1]
  SplitFractions split = {};
  std::uint64_t seed = 0;
  /// Number of classes, where it is known: a label of that size or more is an Error. Else that of the format
  /// or, for IDX, the largest training label and one.
  std::optional<std::size_t> classes = {};
  std::optional<std::size_t> max_rows = {};  ///< only so many of the shuffled training files' images
};

struct ImageDataset {
  DatasetInfo info;                        ///< task, label names, rows of the parts, `image`, checksum
  std::shared_ptr<const ImageSet> images;  ///< those of the training files, then those of the test files
  ImageRows train, valid, test;
  std::vector<std::string> warnings;  ///< one line each
};

/// Reads and splits. Where the set has test files of its own they are the test part, and the training files'
/// images, shuffled with (seed, Purpose::split), are divided between training and validation in the
/// proportion of their fractions; else all three parts come from the shuffled images.
/// @throws Error that names the file (and the item) for missing files, files that are cut short or damaged,
///         counts or sizes that do not agree, labels out of the format's range, images of different sizes
ImageDataset load_image_dataset(const ImageOptions& options);

/// An image set as rows of a table, for networks without notion of space: features [C·H·W], normalised.
Dataset flatten(const ImageDataset& images);
DataPart flatten(const ImageRows& images);

/// One image file of any kind that a folder may hold, as RGB (grey is spread over three channels,
/// transparency shows black). @return @shape [3, height, width]
/// @throws Error that names the file and what is wrong with it
struct DecodedImage {
  std::size_t height = 0, width = 0;
  std::vector<std::uint8_t> pixels;
};
DecodedImage read_image_file(const std::filesystem::path& path);

/// Resized with a triangle filter (bilinear; widened when shrinking, so that no pixel is left out).
/// @param pixels @shape [C, shape.height, shape.width]   @return @shape [C, height, width]
std::vector<std::uint8_t> resize_image(std::span<const std::uint8_t> pixels, const ImageShape& shape,
                                       std::size_t height, std::size_t width);

}  // namespace smile

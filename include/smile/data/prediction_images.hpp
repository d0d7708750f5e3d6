/// New images for a trained network, in blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "smile/data/images.hpp"

namespace smile {

struct PredictionImages {
  ImageRows images;                   ///< of the network's shape, normalised as in training
  std::vector<std::uint32_t> labels;  ///< @shape [images.size()], or empty
  std::vector<std::string> names;     ///< of their files below the given path; empty for files of many images
  std::size_t first = 0;              ///< place of the first among all, from 0
};

/// Reads
///   an image (.jpg, .jpeg, .png);
///   a folder of images, in the order of their names; or of a folder of images for each class, which gives
///     labels;
///   a file of IDX images, plain or .gz, with labels where the file of its labels is beside it;
///   a file of CIFAR records, plain or .gz, with its labels.
/// A photograph becomes grey where the network takes grey. Files of photographs are decoded block by block.
class PredictionImageReader {
 public:
  /// @param info    of the training images
  /// @param resize  images are resized to the network's size, as the training images were; else they must
  ///                have it
  /// @throws Error for what is none of these, damaged files, a class that training had not, another shape
  PredictionImageReader(const std::filesystem::path& path, const DatasetInfo& info, bool resize);
  PredictionImageReader(PredictionImageReader&&) noexcept;
  ~PredictionImageReader();

  std::size_t size() const;
  bool has_names() const;
  /// The longest name's bytes.
  std::size_t longest_name() const;
  /// The next images, at most `most`; false at the end. @throws Error that names an image that cannot be read
  bool next(std::size_t most, PredictionImages& block);
  /// One line each.
  const std::vector<std::string>& warnings() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace smile

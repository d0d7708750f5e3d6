// SPDX-License-Identifier: Apache-2.0
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
///   a photograph (JPEG or PNG);
///   a folder of photographs (.jpg, .jpeg, .png), in the order of their names; or of a folder of photographs
///     for each class, which gives labels;
///   a file of IDX images, plain or .gz, with labels where their file is beside it (…images… → …labels…);
///   a file of CIFAR records, plain or .gz, with its labels.
/// Labels that training did not have are left aside, with a warning. A photograph becomes grey where the
/// network takes grey. All photographs are looked at first, so that none is found broken when others have
/// been predicted, and decoded again block by block; the other files are kept as a whole.
class PredictionImageReader {
 public:
  /// @param info    of the training images
  /// @param resize  images are resized to the network's size, as the training images were; else they must
  ///                have it
  /// @throws Error for what is none of these, damaged files (all photographs named), a folder of a class that
  ///         training had not, another shape
  PredictionImageReader(const std::filesystem::path& path, const DatasetInfo& info, bool resize);
  PredictionImageReader(PredictionImageReader&&) noexcept;
  ~PredictionImageReader();

  std::size_t size() const;
  /// The longest name's bytes.
  std::size_t longest_name() const;
  /// The files that are read.
  const std::vector<std::filesystem::path>& files() const;
  /// The next images, at most `most` ≥ 1; false at the end.
  bool next(std::size_t most, PredictionImages& block);
  /// One line each.
  const std::vector<std::string>& warnings() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// Parts of a data set as batches of tensors.
#pragma once

#include <torch/torch.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "smile/network/network.hpp"

namespace smile {
struct NetworkData;
}

namespace smile::deep {

struct Batch {
  torch::Tensor inputs;   ///< images @shape [B, C, H, W], rows [B, features], tokens [B, T] of int64
  torch::Tensor targets;  ///< labels [B] or [B, T] of int64, or targets [B]
  std::size_t rows = 0;
};

/// Cheap to copy; may be used from several threads at once.
class Batches {
 public:
  Batches(const NetworkData& data, Task task, torch::Device device);
  /// Training rows from tensors. @param inputs @shape [N, …]   @param targets @shape [N, …]
  Batches(torch::Tensor inputs, torch::Tensor targets);

  std::size_t rows(Part part) const;
  std::size_t points(Part part) const;
  std::size_t points_per_row() const;
  BatchOrder order(std::size_t batch_size, BatchMode mode, StreamKey key) const;

  /// @param rows  of the part, or offsets of windows in a text; not empty
  Batch of(Part part, std::span<const std::uint32_t> rows) const;
  /// Training images, randomly flipped and cropped (`augment: basic`).
  Batch augmented(std::span<const std::uint32_t> rows, StreamKey key, std::uint64_t number) const;

  /// A part as batches in order, each point once.
  std::size_t chunks(Part part) const;
  Batch chunk(Part part, std::size_t i) const;

  torch::Device device() const { return device_; }

 private:
  Batch windows(Part part, std::span<const std::uint32_t> offsets, std::size_t length) const;
  std::shared_ptr<const NetworkData> data_;  // read where it is of images or text
  torch::Device device_;
  // Of tables and tensors: inputs and targets, by part.
  torch::Tensor inputs_[3], targets_[3];
};

}  // namespace smile::deep

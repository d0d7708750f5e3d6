// SPDX-License-Identifier: Apache-2.0
/// A flat vector on any device of LibTorch, and the fused passes on it. The samplers are templates over the
/// vector: a chain on a GPU is the same text as a chain on the host.
#pragma once

#include <torch/torch.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "smile/archive.hpp"
#include "smile/kernels/passes.hpp"

namespace smile {

/// Owning vector of single precision with value semantics: copies are copies of the numbers.
class TensorVector {
 public:
  using value_type = float;
  /// Scalars of the dynamics are double whatever the element type (spec 1.3).
  using Scalar = double;

  /// Vectors that are made on this thread while one of these lives are on its device.
  class OnDevice {
   public:
    explicit OnDevice(torch::Device device);
    ~OnDevice();
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

   private:
    torch::Device before_;
  };

  TensorVector() = default;
  /// Zeros on the thread's device (see OnDevice; the CPU by default).
  explicit TensorVector(std::size_t size, float value = 0);
  /// Takes the tensor as it is. @param tensor @shape [d], contiguous, float32
  explicit TensorVector(torch::Tensor tensor) : tensor_(std::move(tensor)) {}
  TensorVector(const TensorVector& other) { *this = other; }
  TensorVector(TensorVector&&) noexcept = default;
  TensorVector& operator=(const TensorVector& other);
  TensorVector& operator=(TensorVector&&) noexcept = default;

  std::size_t size() const { return tensor_.defined() ? std::size_t(tensor_.numel()) : 0; }
  void swap(TensorVector& other) noexcept { std::swap(tensor_, other.tensor_); }
  const torch::Tensor& tensor() const { return tensor_; }

  /// Bytes of an archive are those of a host vector.
  void serialise(Archive& archive);

 private:
  torch::Tensor tensor_;
};

inline void swap(TensorVector& a, TensorVector& b) noexcept {
  a.swap(b);
}

namespace kernels {

inline void take_where(TensorVector& x, TensorVector& y, bool chains) {
  if (chains) x.swap(y);
}
inline void copy_where(TensorVector& x, const TensorVector& y, bool chains) {
  if (chains) x = y;
}

}  // namespace kernels
}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// A flat vector in memory, aligned and padded for the fused passes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>

namespace smile {

/// Memory for a vector, released with std::free: aligned to 128 bytes, or, for vectors of several MiB, made
/// of huge pages where the system has them, which spares most of the address translations of a sweep. Throws
/// std::bad_alloc.
void* allocate_vector_memory(std::size_t bytes);

/// Owning array of `size()` elements of float or double. The memory is aligned to 128 bytes and padded with
/// zeros to a multiple of 64 elements; passes may read and write the padding, and must keep it zero.
template <class T>
class HostVector {
 public:
  using value_type = T;
  /// Scalars of the dynamics are double whatever the element type (spec 1.3).
  using Scalar = double;
  static constexpr std::size_t kPadding = 64;
  static constexpr std::size_t kAlignment = 128;

  HostVector() = default;
  explicit HostVector(std::size_t size, T value = T{0}) { resize(size, value); }
  HostVector(const HostVector& other) { *this = other; }
  HostVector(HostVector&& other) noexcept { swap(other); }
  HostVector& operator=(const HostVector& other) {
    if (this != &other) {
      allocate(other.size_);
      std::copy_n(other.data(), other.padded_size(), data());
    }
    return *this;
  }
  HostVector& operator=(HostVector&& other) noexcept {
    swap(other);
    return *this;
  }

  void resize(std::size_t size, T value = T{0}) {
    allocate(size);
    std::fill_n(data(), size, value);
    std::fill(data() + size, data() + padded_size(), T{0});
  }
  void swap(HostVector& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(size_, other.size_);
  }

  std::size_t size() const noexcept { return size_; }
  std::size_t padded_size() const noexcept { return (size_ + kPadding - 1) / kPadding * kPadding; }
  T* data() noexcept { return memory_.get(); }
  const T* data() const noexcept { return memory_.get(); }
  T& operator[](std::size_t i) noexcept { return memory_[i]; }
  const T& operator[](std::size_t i) const noexcept { return memory_[i]; }
  std::span<T> span() noexcept { return {data(), size_}; }
  std::span<const T> span() const noexcept { return {data(), size_}; }

 private:
  struct Free {
    void operator()(T* p) const noexcept { std::free(p); }
  };
  void allocate(std::size_t size) {
    const std::size_t padded = (size + kPadding - 1) / kPadding * kPadding;
    if (size != size_ || !memory_) {
      memory_.reset(
          static_cast<T*>(allocate_vector_memory(std::max<std::size_t>(padded, kPadding) * sizeof(T))));
      size_ = size;
    }
  }
  std::unique_ptr<T[], Free> memory_;
  std::size_t size_ = 0;
};

}  // namespace smile

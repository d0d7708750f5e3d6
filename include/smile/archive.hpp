// SPDX-License-Identifier: Apache-2.0
/// Saving and restoring the state of a sampler: one text serves both directions.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "smile/error.hpp"

namespace smile {

/// A sequence of bytes that is either being written or being read. `serialise(Archive&)` of a type names its
/// fields once; the same bytes always restore the same state.
class Archive {
 public:
  /// Starts an empty archive to write to.
  Archive() : reading_(false) {}
  /// Reads what was written before.
  explicit Archive(std::vector<char> bytes) : bytes_(std::move(bytes)), reading_(true) {}

  bool reading() const { return reading_; }
  const std::vector<char>& bytes() const { return bytes_; }
  /// The bytes themselves; the archive is empty afterwards.
  std::vector<char> take_bytes() { return std::move(bytes_); }
  /// Room for so many bytes to write; memory that is never used costs nothing.
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  /// Whether everything written has been read.
  bool exhausted() const { return position_ == bytes_.size(); }

  template <class Value>
  requires std::is_trivially_copyable_v<Value>
  void value(Value& value) { raw(&value, sizeof value); }

  /// A flat vector whose size is known from the configuration.
  template <class Vector>
  void vector(Vector& vector) {
    if constexpr (requires { vector.serialise(*this); }) {
      vector.serialise(*this);  // its numbers are not in this memory
      return;
    } else {
      host_vector(vector);
    }
  }

  void text(std::string& text) {
    std::uint64_t size = text.size();
    value(size);
    if (reading_ && size > bytes_.size() - position_) broken();
    text.resize(size);
    raw(text.data(), size);
  }
  /// Bytes that a text might be; in the archive they look like one.
  void block(std::vector<char>& block) {
    std::uint64_t size = block.size();
    value(size);
    if (reading_ && size > bytes_.size() - position_) broken();
    block.resize(size);
    raw(block.data(), size);
  }

 private:
  template <class Vector>
  void host_vector(Vector& vector) {
    std::uint64_t size = vector.size();
    value(size);
    if (reading_ && size > (bytes_.size() - position_) / sizeof(typename Vector::value_type)) broken();
    if (size != vector.size()) {
      if (vector.size() != 0) broken();
      vector = Vector(size);
    }
    raw(vector.data(), size * sizeof(typename Vector::value_type));
  }
  void raw(void* data, std::size_t size) {
    char* p = static_cast<char*>(data);
    if (reading_) {
      if (size > bytes_.size() - position_) broken();
      std::copy_n(bytes_.data() + position_, size, p);
      position_ += size;
    } else {
      bytes_.insert(bytes_.end(), p, p + size);
    }
  }
  [[noreturn]] static void broken() {
    throw Error("checkpoint", "the saved state does not fit this configuration",
                "resume with the configuration of the run, or start a new run", ErrorKind::run);
  }

  std::vector<char> bytes_;
  bool reading_;
  std::size_t position_ = 0;
};

}  // namespace smile

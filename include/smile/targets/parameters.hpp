// SPDX-License-Identifier: Apache-2.0
/// How a flat parameter vector is made of named tensors.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace smile {

/// Priors treat kernels of dense and convolution layers and embeddings as `weight`, all else as `other`
/// (spec 2.2).
enum class ParameterKind { weight, other };

/// One tensor inside the flat vector, row-major, [offset, offset + size).
struct ParameterGroup {
  std::string name;                ///< e.g. "layer0.weight", "layer0.bias", "log_sigma"
  std::vector<std::size_t> shape;  ///< e.g. [out, in]; [1] for log_sigma
  std::size_t offset = 0;
  ParameterKind kind = ParameterKind::other;
  std::size_t fan_in = 0;   ///< weights only (spec 2.1 says what counts as a fan)
  std::size_t fan_out = 0;  ///< weights only

  std::size_t size() const {
    std::size_t n = 1;
    for (std::size_t s : shape) n *= s;
    return n;
  }
};

/// The tensor's layer: its name up to the last dot, so that a weight and its bias are of one.
inline std::string_view layer_of(const ParameterGroup& group) {
  return std::string_view(group.name).substr(0, group.name.rfind('.'));
}

/// All tensors in registration order; they tile [0, size()).
struct ParameterLayout {
  std::vector<ParameterGroup> groups;

  std::size_t size() const { return groups.empty() ? 0 : groups.back().offset + groups.back().size(); }
  /// Appends a tensor at the end and returns its offset.
  std::size_t add(std::string name, std::vector<std::size_t> shape, ParameterKind kind,
                  std::size_t fan_in = 0, std::size_t fan_out = 0) {
    ParameterGroup group{std::move(name), std::move(shape), size(), kind, fan_in, fan_out};
    groups.push_back(std::move(group));
    return groups.back().offset;
  }
};

}  // namespace smile

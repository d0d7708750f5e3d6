// SPDX-License-Identifier: Apache-2.0
/// Derivatives of a network's outputs at single points, for approximations of the posterior by its curvature.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "smile/network/network.hpp"

namespace smile {

/// What the last point has left in a dense layer: its Jacobian is, for each output c of the network and unit
/// j, deltas[c, j] times the inputs (times 1 for the bias).
struct DenseTrace {
  std::size_t weight = 0;  ///< offset in θ of the weight [units, inputs]
  std::size_t bias = 0;    ///< of the bias [units], where there is one
  bool has_bias = false;
  std::vector<double> inputs;  ///< @shape [inputs]
  std::vector<double> deltas;  ///< @shape [outputs of the network, units]
};

/// With the workspace of one thread. Sums in double.
class RowJacobians {
 public:
  virtual ~RowJacobians() = default;
  /// @param position  θ, whole, @shape [d]
  virtual void start(const HostVector<float>& position) = 0;
  /// @param outputs  @shape [outputs of the network]
  /// @param jacobian @shape [outputs of the network, d], overwritten; log σ has zeros
  virtual void at(Part part, std::size_t point, std::span<double> outputs, std::span<double> jacobian) = 0;
  /// Of the last point, by layer; empty where the network is not made of dense layers alone.
  virtual std::span<const DenseTrace> layers() const { return {}; }
};

}  // namespace smile

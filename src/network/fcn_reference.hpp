// SPDX-License-Identifier: Apache-2.0
/// The network in its plain form: one row at a time, in double, as the formulas are written. The engine of
/// Fcn<double>, and what the fast kernels are tested against.
/// @source spec 2.1, 2.3
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "network/fcn_data.hpp"
#include "network/fcn_geometry.hpp"

namespace smile::reference {

/// Values of all layers for one row; the derivative of each unit's activation beside its value.
struct Trace {
  std::vector<std::vector<double>> values, derivatives;
};
void forward(const FcnGeometry& net, const double* features, const double* theta, Trace& trace);
/// Shown ∂/∂(what a layer's units add up) of layer l, from the last to the first.
using LayerSink = std::function<void(std::size_t l, const std::vector<double>& delta)>;
/// Adds one row's gradient. @param delta  ∂/∂outputs   @param sink  may be empty
void backward(const FcnGeometry& net, const double* theta, const Trace& trace, std::vector<double> delta,
              double* gradient, const LayerSink& sink = {});

/// Summed log-likelihood of `rows` (all where empty); its gradient too where `gradient` isn't null.
/// A non-finite entry of θ makes the value and the whole gradient NaN, also where the network would hide it
/// (relu of −∞ is 0, tanh of ∞ is 1).
/// @param theta, gradient  @shape [net.parameters]
double log_likelihood(const FcnGeometry& net, const FcnData<double>::Storage& data,
                      std::span<const std::uint32_t> rows, const double* theta, double* gradient);

/// Network outputs of all rows, @shape [rows, outputs] row-major; all NaN where θ has a non-finite entry.
void predict(const FcnGeometry& net, const FcnData<double>::Storage& data, const double* theta,
             double* outputs);

}  // namespace smile::reference

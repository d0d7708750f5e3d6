// SPDX-License-Identifier: Apache-2.0
#include "network/fcn_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "smile/targets/task_likelihood.hpp"

namespace smile::reference {
namespace {

constexpr double kLeakySlope = 0.01;

struct Activated {
  double value = 0;
  double derivative = 0;
};

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

bool all_finite(const double* values, std::size_t count) {
  return std::all_of(values, values + count, [](double x) { return std::isfinite(x); });
}

/// spec 2.1: gelu is a·Φ(a); relu′(0) = 0; leaky_relu has slope 0.01 also at 0.
Activated activate(Activation activation, double a) {
  switch (activation) {
    case Activation::relu:
      // Not std::max: a NaN must stay one.
      return {a <= 0 ? 0 : a, a > 0 ? 1.0 : 0.0};
    case Activation::tanh: {
      const double h = std::tanh(a);
      return {h, 1 - h * h};
    }
    case Activation::sigmoid: {
      const double h = 1 / (1 + std::exp(-a));
      return {h, h * (1 - h)};
    }
    case Activation::gelu: {
      const double cdf = 0.5 * std::erfc(-a / std::numbers::sqrt2);
      const double density = std::exp(-0.5 * a * a) / std::sqrt(2 * std::numbers::pi);
      return {a * cdf, cdf + a * density};
    }
    case Activation::leaky_relu:
      return a > 0 ? Activated{a, 1} : Activated{kLeakySlope * a, kLeakySlope};
    case Activation::identity:
      break;
  }
  return {a, 1};
}

}  // namespace

void forward(const FcnGeometry& net, const double* features, const double* theta, Trace& trace) {
  trace.values.resize(net.layers.size() + 1);
  trace.derivatives.resize(net.layers.size() + 1);
  trace.values[0].assign(features, features + net.inputs());
  for (std::size_t l = 0; l < net.layers.size(); ++l) {
    const FcnGeometry::Layer& layer = net.layers[l];
    const Activation activation = l + 1 < net.layers.size() ? net.activation : Activation::identity;
    trace.values[l + 1].resize(layer.outputs);
    trace.derivatives[l + 1].resize(layer.outputs);
    for (std::size_t j = 0; j < layer.outputs; ++j) {
      double a = net.has_bias ? theta[layer.bias + j] : 0;
      for (std::size_t k = 0; k < layer.inputs; ++k)
        a += theta[layer.weight + j * layer.inputs + k] * trace.values[l][k];
      const Activated h = activate(activation, a);
      trace.values[l + 1][j] = h.value;
      trace.derivatives[l + 1][j] = h.derivative;
    }
  }
}

void backward(const FcnGeometry& net, const double* theta, const Trace& trace, std::vector<double> delta,
              double* gradient, const LayerSink& sink) {
  for (std::size_t l = net.layers.size(); l-- > 0;) {
    const FcnGeometry::Layer& layer = net.layers[l];
    if (sink) sink(l, delta);
    std::vector<double> below(layer.inputs, 0);
    for (std::size_t j = 0; j < layer.outputs; ++j) {
      if (net.has_bias) gradient[layer.bias + j] += delta[j];
      for (std::size_t k = 0; k < layer.inputs; ++k) {
        gradient[layer.weight + j * layer.inputs + k] += delta[j] * trace.values[l][k];
        below[k] += delta[j] * theta[layer.weight + j * layer.inputs + k];
      }
    }
    if (l > 0)
      for (std::size_t k = 0; k < layer.inputs; ++k) below[k] *= trace.derivatives[l][k];
    delta = std::move(below);
  }
}

double log_likelihood(const FcnGeometry& net, const FcnData<double>::Storage& data,
                      std::span<const std::uint32_t> rows, const double* theta, double* gradient) {
  if (!all_finite(theta, net.parameters)) {
    if (gradient) std::fill_n(gradient, net.parameters, kNaN);
    return kNaN;
  }
  if (gradient) std::fill_n(gradient, net.parameters, 0.0);
  Trace trace;
  std::vector<double> delta(net.outputs());
  double total = 0;
  const std::size_t count = rows.empty() ? data.rows : rows.size();
  for (std::size_t i = 0; i < count; ++i) {
    const double* row = data.by_row.data() + data.row_stride * (rows.empty() ? i : rows[i]);
    const double target = row[net.inputs()];
    forward(net, row, theta, trace);
    const std::vector<double>& output = trace.values.back();
    if (net.task == Task::classification) {
      total += categorical_log_likelihood(output, static_cast<std::size_t>(target), delta);
    } else {
      const bool global_sigma = net.task == Task::mean_regression;
      const NormalScore score =
          normal_log_likelihood(target, output[0], global_sigma ? theta[net.log_sigma] : output[1]);
      total += score.log_likelihood;
      delta[0] = score.d_mean;
      if (!global_sigma)
        delta[1] = score.d_log_sigma;
      else if (gradient)
        gradient[net.log_sigma] += score.d_log_sigma;
    }
    if (gradient) backward(net, theta, trace, delta, gradient);
  }
  return total;
}

void predict(const FcnGeometry& net, const FcnData<double>::Storage& data, const double* theta,
             double* outputs) {
  if (!all_finite(theta, net.parameters)) {
    std::fill_n(outputs, data.rows * net.outputs(), kNaN);
    return;
  }
  Trace trace;
  for (std::size_t r = 0; r < data.rows; ++r) {
    forward(net, data.by_row.data() + r * data.row_stride, theta, trace);
    outputs = std::copy(trace.values.back().begin(), trace.values.back().end(), outputs);
  }
}

}  // namespace smile::reference

// SPDX-License-Identifier: Apache-2.0
#include "network/fcn_kernels.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <limits>

#include "smile/instruction_set.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "network/fcn_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "network/simd/activations-inl.hpp"
#include "network/simd/dense-inl.hpp"
#include "network/simd/outputs-inl.hpp"
#include "network/simd/vector-inl.hpp"

#ifndef SMILE_FCN_KERNELS_ONCE
#define SMILE_FCN_KERNELS_ONCE
namespace smile::simd {
/// A mini-batch's rows are transposed four columns at a time.
inline std::size_t transposed_columns(const FcnGeometry& net) {
  return (net.inputs() + 1 + 3) / 4 * 4;
}
}  // namespace smile::simd
#endif

HWY_BEFORE_NAMESPACE();
namespace smile::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

bool all_finite(const float* values, std::size_t count) {
  auto good = hn::Zero(kFloats);
  std::size_t i = 0;
  // x·0 is 0, or NaN where x is not finite.
  for (; i + kLanes <= count; i += kLanes)
    good = hn::MulAdd(hn::LoadU(kFloats, values + i), hn::Zero(kFloats), good);
  float rest = sum_of_lanes(good);
  for (; i < count; ++i) rest += values[i] * 0.0f;
  return rest == 0.0f;
}

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE void transpose_rows(const float* const* row, std::size_t columns, float* out) {
  for (std::size_t c = 0; c < columns; ++c) out[c * kTileStride] = row[0][c];
}

#else

/// Four columns of rows i, 4 + i, 8 + i, …: a block of four lanes from each.
HWY_INLINE Vec load_every_fourth(const float* const* row, std::size_t i, std::size_t column) {
  const auto block = [&](std::size_t b) HWY_ATTR { return hn::Load(FourFloats(), row[4 * b + i] + column); };
#if HWY_TARGET <= HWY_AVX3
  const hn::Half<Floats> half;
  return hn::Combine(kFloats, hn::Combine(half, block(3), block(2)), hn::Combine(half, block(1), block(0)));
#elif HWY_TARGET == HWY_AVX2
  return hn::Combine(kFloats, block(1), block(0));
#else
  return block(0);
#endif
}

/// Columns of kLanes rows become vectors; done within blocks of four lanes, where shuffles are cheap.
HWY_INLINE void transpose_rows(const float* const* row, std::size_t columns, float* out) {
  for (std::size_t c = 0; c < columns; c += 4, out += 4 * kTileStride) {
    const Vec r0 = load_every_fourth(row, 0, c), r1 = load_every_fourth(row, 1, c);
    const Vec r2 = load_every_fourth(row, 2, c), r3 = load_every_fourth(row, 3, c);
    const auto low01 = hn::BitCast(kDoubles, hn::InterleaveLower(kFloats, r0, r1));
    const auto low23 = hn::BitCast(kDoubles, hn::InterleaveLower(kFloats, r2, r3));
    const auto high01 = hn::BitCast(kDoubles, hn::InterleaveUpper(kFloats, r0, r1));
    const auto high23 = hn::BitCast(kDoubles, hn::InterleaveUpper(kFloats, r2, r3));
    store(hn::BitCast(kFloats, hn::InterleaveLower(kDoubles, low01, low23)), out);
    store(hn::BitCast(kFloats, hn::InterleaveUpper(kDoubles, low01, low23)), out + kTileStride);
    store(hn::BitCast(kFloats, hn::InterleaveLower(kDoubles, high01, high23)), out + 2 * kTileStride);
    store(hn::BitCast(kFloats, hn::InterleaveUpper(kDoubles, high01, high23)), out + 3 * kTileStride);
  }
}

#endif

/// Rows `rows[0 … count)` of the padded row form become columns × rows in `out`; the last row fills up to
/// padded_rows.
void gather_transposed(const FcnData<float>::Storage& data, const std::uint32_t* rows, std::size_t count,
                       std::size_t padded_rows, std::size_t columns, float* out) {
  for (std::size_t r = 0; r < padded_rows; r += kLanes) {
    const float* row[kLanes];
    for (std::size_t i = 0; i < kLanes; ++i) {
      const std::uint32_t index = rows[std::min(r + i, count - 1)];
      assert(index < data.rows);
      row[i] = data.by_row.data() + index * data.row_stride;
    }
    transpose_rows(row, columns, out + r);
  }
}

HWY_INLINE std::size_t padded(std::size_t rows) {
  return (rows + kPassRows - 1) / kPassRows * kPassRows;
}

/// One dense layer, forward.
template <class Activation>
void forward_layer(const FcnGeometry& net, const FcnGeometry::Layer& layer, const float* theta,
                   const float* input, float* output, float* derivative, std::size_t padded_rows) {
  for_each_block(layer.outputs, kUnits, [&](std::size_t first, std::size_t size) HWY_ATTR {
    kForwardBlocks<Activation>[size](input, theta + layer.weight + first * layer.inputs, layer.inputs,
                                     net.has_bias ? theta + layer.bias + first : nullptr,
                                     output + first * kTileStride, derivative + first * kTileStride,
                                     padded_rows);
  });
}

/// Adds a layer's weight gradient over the tile.
inline void weight_gradient(const FcnGeometry::Layer& layer, const float* delta, const float* input,
                            std::size_t padded_rows, float* gradient) {
  for_each_block(layer.outputs, kGradientOutputs, [&](std::size_t j, std::size_t outputs) HWY_ATTR {
    for_each_block(layer.inputs, kGradientInputs, [&](std::size_t i, std::size_t inputs) HWY_ATTR {
      weight_gradient_of(outputs, inputs)(delta + j * kTileStride, input + i * kTileStride, padded_rows,
                                          gradient + layer.weight + j * layer.inputs + i, layer.inputs);
    });
  });
}

template <class Activation>
double evaluate(const FcnGeometry& net, const FcnData<float>::Storage& data, const std::uint32_t* rows,
                std::size_t count, const float* theta, float* gradient, float* workspace) {
  const std::size_t depth = net.layers.size();
  // Unit blocks in the workspace: gathered columns, then each layer's outputs, then the derivatives that are
  // kept.
  float* const gathered = workspace;
  float* const units = gathered + transposed_columns(net) * kTileStride;
  std::size_t total_units = 0;
  for (const FcnGeometry::Layer& layer : net.layers) total_units += layer.outputs;
  const std::size_t derivative_offset = Activation::kKeepsDerivative ? total_units * kTileStride : 0;

  const ClippedSigma sigma = net.task == Task::mean_regression
                                 ? clipped_sigma(static_cast<double>(theta[net.log_sigma]))
                                 : ClippedSigma{};
  const double inverse_variance = 1.0 / (sigma.sigma * sigma.sigma);
  double score = 0;

  for (std::size_t first = 0; first < count; first += kTileRows) {
    const std::size_t tile_rows = std::min(kTileRows, count - first);
    const std::size_t padded_rows = padded(tile_rows);
    const float* features = data.by_tile.data() + first / kTileRows * data.tile_size();
    if (rows) {
      gather_transposed(data, rows + first, tile_rows, padded_rows, transposed_columns(net), gathered);
      features = gathered;
    }

    const float* input = features;
    float* output = units;
    for (std::size_t l = 0; l < depth; ++l) {
      const FcnGeometry::Layer& layer = net.layers[l];
      if (l + 1 < depth)
        forward_layer<Activation>(net, layer, theta, input, output, output + derivative_offset, padded_rows);
      else
        forward_layer<Identity>(net, layer, theta, input, output, output, padded_rows);
      input = output;
      output += layer.outputs * kTileStride;
    }

    float* delta = output - net.outputs() * kTileStride;
    const float* target = features + net.inputs() * kTileStride;
    if (net.task == Task::mean_regression)
      score += score_mean(delta, target, tile_rows, padded_rows, static_cast<float>(inverse_variance));
    else if (net.task == Task::regression)
      score += score_mean_and_sigma(delta, target, tile_rows, padded_rows);
    else
      score += score_classes(delta, target, net.outputs(), tile_rows, padded_rows);
    if (!gradient) continue;

    if (net.has_bias)
      for (std::size_t j = 0; j < net.outputs(); ++j) {
        Vec total = hn::Zero(kFloats);
        for (std::size_t r = 0; r < padded_rows; r += kLanes)
          total = hn::Add(total, load(delta + j * kTileStride + r));
        gradient[net.layers.back().bias + j] += sum_of_lanes(total);
      }
    for (std::size_t l = depth; l-- > 0;) {
      const FcnGeometry::Layer& layer = net.layers[l];
      if (l == 0) {
        weight_gradient(layer, delta, features, padded_rows, gradient);
        break;
      }
      float* const hidden = delta - layer.inputs * kTileStride;
      // First the weights: the deltas of the layer below overwrite its activations.
      weight_gradient(layer, delta, hidden, padded_rows, gradient);
      for_each_block(layer.inputs, kUnits, [&](std::size_t k, std::size_t size) HWY_ATTR {
        float* const block = hidden + k * kTileStride;
        kBackwardBlocks<Activation>[size](
            delta, theta + layer.weight + k, layer.outputs, layer.inputs, block, block + derivative_offset,
            net.has_bias ? gradient + net.layers[l - 1].bias + k : nullptr, padded_rows);
      });
      delta = hidden;
    }
  }

  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  const double observations = static_cast<double>(count);
  if (net.task == Task::classification) return score;
  if (net.task == Task::regression) return score - observations * kHalfLogTwoPi;
  const double scaled_errors = score * inverse_variance;
  if (gradient)
    gradient[net.log_sigma] = sigma.active_clip ? 0.0f : static_cast<float>(scaled_errors - observations);
  return -0.5 * scaled_errors - observations * (sigma.log_sigma + kHalfLogTwoPi);
}

double log_likelihood_kernel(const FcnGeometry& net, const FcnData<float>::Storage& data,
                             const std::uint32_t* rows, std::size_t count, const float* theta,
                             float* gradient, float* workspace) {
  if (!all_finite(theta, net.parameters)) {
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    if (gradient) std::fill_n(gradient, net.parameters, kNaN);
    return static_cast<double>(kNaN);
  }
  if (gradient) std::fill_n(gradient, net.parameters, 0.0f);
  switch (net.activation) {
    case Activation::relu:
      return evaluate<Relu>(net, data, rows, count, theta, gradient, workspace);
    case Activation::tanh:
      return evaluate<Tanh>(net, data, rows, count, theta, gradient, workspace);
    case Activation::sigmoid:
      return evaluate<Sigmoid>(net, data, rows, count, theta, gradient, workspace);
    case Activation::gelu:
      return evaluate<Gelu>(net, data, rows, count, theta, gradient, workspace);
    case Activation::leaky_relu:
      return evaluate<LeakyRelu>(net, data, rows, count, theta, gradient, workspace);
    case Activation::identity:
      return evaluate<Identity>(net, data, rows, count, theta, gradient, workspace);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// out[r·width + j] = units[j·kTileStride + r] for the rows and units of a tile.
void store_row_major(const float* units, std::size_t rows, std::size_t width, float* out) {
  std::size_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  // Four units at a time: a shuffle within blocks of four lanes leaves a row's four numbers side by side.
  for (; j + 4 <= width; j += 4) {
    for (std::size_t r = 0; r < rows; r += kLanes) {
      const float* from = units + j * kTileStride + r;
      const Vec u0 = load(from), u1 = load(from + kTileStride);
      const Vec u2 = load(from + 2 * kTileStride), u3 = load(from + 3 * kTileStride);
      const auto low01 = hn::BitCast(kDoubles, hn::InterleaveLower(kFloats, u0, u1));
      const auto low23 = hn::BitCast(kDoubles, hn::InterleaveLower(kFloats, u2, u3));
      const auto high01 = hn::BitCast(kDoubles, hn::InterleaveUpper(kFloats, u0, u1));
      const auto high23 = hn::BitCast(kDoubles, hn::InterleaveUpper(kFloats, u2, u3));
      // Vector i holds rows i, 4 + i, 8 + i, …, four numbers each.
      HWY_ALIGN float of_rows[4][kLanes];
      store(hn::BitCast(kFloats, hn::InterleaveLower(kDoubles, low01, low23)), of_rows[0]);
      store(hn::BitCast(kFloats, hn::InterleaveUpper(kDoubles, low01, low23)), of_rows[1]);
      store(hn::BitCast(kFloats, hn::InterleaveLower(kDoubles, high01, high23)), of_rows[2]);
      store(hn::BitCast(kFloats, hn::InterleaveUpper(kDoubles, high01, high23)), of_rows[3]);
      for (std::size_t i = 0; i < std::min(kLanes, rows - r); ++i)
        std::memcpy(out + (r + i) * width + j, of_rows[i % 4] + i / 4 * 4, 4 * sizeof(float));
    }
  }
#endif
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t k = j; k < width; ++k) out[r * width + k] = units[k * kTileStride + r];
}

/// Forward only, tile by tile through two alternating buffers, so that small networks stay in the first
/// cache.
template <class Activation>
void predict_rows(const FcnGeometry& net, const FcnData<float>::Storage& data, const float* theta,
                  float* outputs, float* workspace) {
  std::size_t widest = 0;
  for (const FcnGeometry::Layer& layer : net.layers) widest = std::max(widest, layer.outputs);
  float* const buffers[2] = {workspace, workspace + widest * kTileStride};
  float* const derivative = workspace + 2 * widest * kTileStride;
  for (std::size_t first = 0; first < data.rows; first += kTileRows) {
    const std::size_t rows = std::min(kTileRows, data.rows - first);
    const float* input = data.by_tile.data() + first / kTileRows * data.tile_size();
    for (std::size_t l = 0; l < net.layers.size(); ++l) {
      float* const output = buffers[l % 2];
      if (l + 1 < net.layers.size())
        forward_layer<Activation>(net, net.layers[l], theta, input, output, derivative, padded(rows));
      else
        forward_layer<Identity>(net, net.layers[l], theta, input, output, derivative, padded(rows));
      input = output;
    }
    store_row_major(input, rows, net.outputs(), outputs + first * net.outputs());
  }
}

void predict_kernel(const FcnGeometry& net, const FcnData<float>::Storage& data, const float* theta,
                    float* outputs, float* workspace) {
  if (!all_finite(theta, net.parameters)) {
    std::fill_n(outputs, data.rows * net.outputs(), std::numeric_limits<float>::quiet_NaN());
    return;
  }
  switch (net.activation) {
    case Activation::relu:
      return predict_rows<Relu>(net, data, theta, outputs, workspace);
    case Activation::tanh:
      return predict_rows<Tanh>(net, data, theta, outputs, workspace);
    case Activation::sigmoid:
      return predict_rows<Sigmoid>(net, data, theta, outputs, workspace);
    case Activation::gelu:
      return predict_rows<Gelu>(net, data, theta, outputs, workspace);
    case Activation::leaky_relu:
      return predict_rows<LeakyRelu>(net, data, theta, outputs, workspace);
    case Activation::identity:
      return predict_rows<Identity>(net, data, theta, outputs, workspace);
  }
}

}  // namespace smile::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace smile::simd {
namespace {

HWY_EXPORT(log_likelihood_kernel);
HWY_EXPORT(predict_kernel);

}  // namespace

std::size_t workspace_size(const FcnGeometry& net) {
  std::size_t units = 0, widest = 0;
  for (const FcnGeometry::Layer& layer : net.layers) {
    units += layer.outputs;
    widest = std::max(widest, layer.outputs);
  }
  const std::size_t derivatives = net.activation == Activation::gelu ? units : 0;
  const std::size_t for_gradient = transposed_columns(net) + units + derivatives;
  return std::max(for_gradient, 3 * widest) * kTileStride;
}

double log_likelihood(const FcnGeometry& net, const FcnData<float>::Storage& data,
                      std::span<const std::uint32_t> rows, const float* theta, float* gradient,
                      float* workspace) {
  apply_simd_environment();
  return HWY_DYNAMIC_DISPATCH(log_likelihood_kernel)(net, data, rows.empty() ? nullptr : rows.data(),
                                                     rows.empty() ? data.rows : rows.size(), theta, gradient,
                                                     workspace);
}

void predict(const FcnGeometry& net, const FcnData<float>::Storage& data, const float* theta, float* outputs,
             float* workspace) {
  apply_simd_environment();
  HWY_DYNAMIC_DISPATCH(predict_kernel)(net, data, theta, outputs, workspace);
}

}  // namespace smile::simd
#endif

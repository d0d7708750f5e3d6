// SPDX-License-Identifier: Apache-2.0
/// The three products of a dense layer on a tile of rows, a block of units at a time.
///
/// A lane is a row: units lie one after the other, each with its rows contiguous (kTileStride apart), and a
/// weight is broadcast. So widths may be anything at run time, nothing is transposed between layers, and a
/// ragged batch costs only the rows up to the next multiple of kPassRows. What bounds such loops is loads and
/// broadcasts, not arithmetic; hence blocks of kUnits × kVectors accumulators, with compile-time sizes, that
/// stay in registers.
#if defined(SMILE_NETWORK_SIMD_DENSE_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef SMILE_NETWORK_SIMD_DENSE_INL_HPP
#undef SMILE_NETWORK_SIMD_DENSE_INL_HPP
#else
#define SMILE_NETWORK_SIMD_DENSE_INL_HPP
#endif

#include <cstddef>

#include "hwy/highway.h"
#include "network/fcn_data.hpp"
#include "network/simd/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace smile::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Largest blocks: 24 accumulators of 32 registers with AVX-512, 12 of 16 elsewhere.
constexpr std::size_t kUnits = 6;
constexpr std::size_t kVectors = HWY_TARGET <= HWY_AVX3 ? 4 : 2;
constexpr std::size_t kGradientOutputs = HWY_TARGET <= HWY_AVX3 ? 6 : 3;
constexpr std::size_t kGradientInputs = 4;
/// Rows that one round of a block covers.
constexpr std::size_t kPassRows = kVectors * kLanes;
static_assert(kTileRows % kPassRows == 0);

/// kOutputs × kVectors sums  Σ_k weight(j, k)·input_k,  each started at bias[j], handed to `finish(j, v,
/// sum)`. Weight (j, k) is at weights[j·unit_step + k·term_step].
template <std::size_t kOutputs, class Finish>
HWY_INLINE void weighted_sums(const float* HWY_RESTRICT input, const float* HWY_RESTRICT weights,
                              std::size_t unit_step, std::size_t term_step, std::size_t terms,
                              const float* bias, Finish finish) {
  Vec sum[kOutputs][kVectors];
  SMILE_UNROLL for (std::size_t j = 0; j < kOutputs; ++j) {
    const Vec start = bias ? broadcast(bias[j]) : hn::Zero(kFloats);
    SMILE_UNROLL for (std::size_t v = 0; v < kVectors; ++v) sum[j][v] = start;
  }
  SMILE_NO_UNROLL for (std::size_t k = 0; k < terms; ++k) {
    Vec x[kVectors];
    SMILE_UNROLL for (std::size_t v = 0; v < kVectors; ++v) x[v] = load(input + v * kLanes);
    SMILE_UNROLL for (std::size_t j = 0; j < kOutputs; ++j) {
      const Vec w = broadcast(weights[j * unit_step]);
      SMILE_UNROLL for (std::size_t v = 0; v < kVectors; ++v) sum[j][v] = hn::MulAdd(w, x[v], sum[j][v]);
    }
    input += kTileStride;
    weights += term_step;
  }
  SMILE_UNROLL for (std::size_t j = 0; j < kOutputs; ++j)
      SMILE_UNROLL for (std::size_t v = 0; v < kVectors; ++v) finish(j, v, sum[j][v]);
}

/// output_j = f(bias_j + Σ_k W_jk input_k) for kOutputs units; all rows for one block of units before the
/// next block, so that its weights stay in the first cache.
/// @param weights      first row of the block, row length `inputs`
/// @param derivative   f′ beside the output where the activation keeps it
template <class Activation, std::size_t kOutputs>
void forward_block(const float* input, const float* weights, std::size_t inputs, const float* bias,
                   float* output, float* derivative, std::size_t rows) {
  for (std::size_t r = 0; r < rows; r += kPassRows)
    weighted_sums<kOutputs>(input + r, weights, inputs, 1, inputs, bias,
                            [=](std::size_t j, std::size_t v, Vec sum) HWY_ATTR {
                              const std::size_t at = j * kTileStride + v * kLanes + r;
                              Vec slope = sum;
                              store(Activation::value(sum, slope), output + at);
                              if constexpr (Activation::kKeepsDerivative) store(slope, derivative + at);
                            });
}

/// Replaces kInputs units' activations by their deltas f′·Σ_j W_jk delta_j, and adds the deltas' sums over
/// the rows to `bias_gradient` where that isn't null.
/// @param weights  W_0k of the block's first unit k; rows of length `inputs`
template <class Activation, std::size_t kInputs>
void backward_block(const float* delta, const float* weights, std::size_t outputs, std::size_t inputs,
                    float* hidden, const float* derivative, float* bias_gradient, std::size_t rows) {
  Vec total[kInputs];
  SMILE_UNROLL for (std::size_t k = 0; k < kInputs; ++k) total[k] = hn::Zero(kFloats);
  for (std::size_t r = 0; r < rows; r += kPassRows)
    weighted_sums<kInputs>(delta + r, weights, 1, inputs, outputs, nullptr,
                           [&](std::size_t k, std::size_t v, Vec sum) HWY_ATTR {
                             const std::size_t at = k * kTileStride + v * kLanes + r;
                             const Vec h = load(hidden + at);
                             const Vec slope = Activation::kKeepsDerivative ? load(derivative + at) : h;
                             const Vec d = Activation::delta(h, slope, sum);
                             store(d, hidden + at);
                             total[k] = hn::Add(total[k], d);
                           });
  if (bias_gradient)
    SMILE_UNROLL for (std::size_t k = 0; k < kInputs; ++k) bias_gradient[k] += sum_of_lanes(total[k]);
}

#if HWY_TARGET == HWY_SCALAR

template <std::size_t kOutputs, std::size_t kInputs>
HWY_INLINE void add_lane_sums(const Vec (&sums)[kOutputs][kGradientInputs], float* gradient,
                              std::size_t row_length) {
  for (std::size_t j = 0; j < kOutputs; ++j)
    for (std::size_t i = 0; i < kInputs; ++i) gradient[j * row_length + i] += hn::GetLane(sums[j][i]);
}

#else

/// Adds up pairs of lanes, half of them from `a`, half from `b`: the step of a transposing sum.
HWY_INLINE Vec add_adjacent_lanes(Vec a, Vec b) {
  return hn::Add(hn::OddEven(b, a), hn::Shuffle2301(hn::OddEven(a, b)));
}
HWY_INLINE Vec add_adjacent_pairs(Vec a, Vec b) {
  const Vec low_high = hn::BitCast(kFloats, hn::OddEven(hn::BitCast(kDoubles, b), hn::BitCast(kDoubles, a)));
  const Vec high_low = hn::BitCast(kFloats, hn::OddEven(hn::BitCast(kDoubles, a), hn::BitCast(kDoubles, b)));
  return hn::Add(low_high, hn::Shuffle1032(high_low));
}
/// In each block of four lanes: the block's sum of s0, of s1, of s2, of s3.
HWY_INLINE Vec add_within_blocks(Vec s0, Vec s1, Vec s2, Vec s3) {
  return add_adjacent_pairs(add_adjacent_lanes(s0, s1), add_adjacent_lanes(s2, s3));
}

using FourFloats = hn::FixedTag<float, 4>;

/// gradient[j·row_length + i] += Σ over lanes of sums[j][i].
template <std::size_t kOutputs, std::size_t kInputs>
HWY_INLINE void add_lane_sums(const Vec (&sums)[kOutputs][kGradientInputs], float* gradient,
                              std::size_t row_length) {
  constexpr FourFloats four;
  HWY_ALIGN float blocks[kOutputs * kLanes];
  SMILE_UNROLL for (std::size_t j = 0; j < kOutputs; ++j)
      store(add_within_blocks(sums[j][0], sums[j][1], sums[j][2], sums[j][3]), blocks + j * kLanes);
  SMILE_UNROLL for (std::size_t j = 0; j < kOutputs; ++j) {
    auto total = hn::Load(four, blocks + j * kLanes);
    SMILE_UNROLL for (std::size_t b = 4; b < kLanes; b += 4) total =
        hn::Add(total, hn::Load(four, blocks + j * kLanes + b));
    float* out = gradient + j * row_length;
    if constexpr (kInputs == 4) {
      hn::StoreU(hn::Add(hn::LoadU(four, out), total), four, out);
    } else {
      HWY_ALIGN float lanes[4];
      hn::Store(total, four, lanes);
      SMILE_UNROLL for (std::size_t i = 0; i < kInputs; ++i) out[i] += lanes[i];
    }
  }
}

#endif

/// gradient_ji += Σ over the rows of delta_j·input_i, for kOutputs × kInputs weights. The sums stay in
/// registers over the whole tile; only then are lanes added up.
/// @param gradient  of the block's first weight; rows of length `row_length`
template <std::size_t kOutputs, std::size_t kInputs>
void weight_gradient_block(const float* HWY_RESTRICT delta, const float* HWY_RESTRICT input, std::size_t rows,
                           float* HWY_RESTRICT gradient, std::size_t row_length) {
  Vec sum[kOutputs][kGradientInputs];
  SMILE_UNROLL for (std::size_t j = 0; j < kOutputs; ++j)
      SMILE_UNROLL for (std::size_t i = 0; i < kGradientInputs; ++i) sum[j][i] = hn::Zero(kFloats);
  SMILE_NO_UNROLL for (std::size_t r = 0; r < rows; r += kLanes) {
    Vec x[kInputs];
    SMILE_UNROLL for (std::size_t i = 0; i < kInputs; ++i) x[i] = load(input + i * kTileStride + r);
    SMILE_UNROLL for (std::size_t j = 0; j < kOutputs; ++j) {
      const Vec d = load(delta + j * kTileStride + r);
      SMILE_UNROLL for (std::size_t i = 0; i < kInputs; ++i) sum[j][i] = hn::MulAdd(d, x[i], sum[j][i]);
    }
  }
  add_lane_sums<kOutputs, kInputs>(sum, gradient, row_length);
}

// The blocks by their size, index 0 unused.
using ForwardBlock = void (*)(const float*, const float*, std::size_t, const float*, float*, float*,
                              std::size_t);
using BackwardBlock = void (*)(const float*, const float*, std::size_t, std::size_t, float*, const float*,
                               float*, std::size_t);
using WeightGradientBlock = void (*)(const float*, const float*, std::size_t, float*, std::size_t);

template <class A>
constexpr ForwardBlock kForwardBlocks[kUnits + 1] = {nullptr,
                                                     forward_block<A, 1>,
                                                     forward_block<A, 2>,
                                                     forward_block<A, 3>,
                                                     forward_block<A, 4>,
                                                     forward_block<A, 5>,
                                                     forward_block<A, 6>};
template <class A>
constexpr BackwardBlock kBackwardBlocks[kUnits + 1] = {nullptr,
                                                       backward_block<A, 1>,
                                                       backward_block<A, 2>,
                                                       backward_block<A, 3>,
                                                       backward_block<A, 4>,
                                                       backward_block<A, 5>,
                                                       backward_block<A, 6>};
template <std::size_t kOutputs>
constexpr WeightGradientBlock kWeightGradientRow[kGradientInputs + 1] = {
    nullptr, weight_gradient_block<kOutputs, 1>, weight_gradient_block<kOutputs, 2>,
    weight_gradient_block<kOutputs, 3>, weight_gradient_block<kOutputs, 4>};

HWY_INLINE WeightGradientBlock weight_gradient_of(std::size_t outputs, std::size_t inputs) {
  switch (outputs) {
    case 1:
      return kWeightGradientRow<1>[inputs];
    case 2:
      return kWeightGradientRow<2>[inputs];
    case 3:
      return kWeightGradientRow<3>[inputs];
#if HWY_TARGET <= HWY_AVX3
    case 4:
      return kWeightGradientRow<4>[inputs];
    case 5:
      return kWeightGradientRow<5>[inputs];
    default:
      return kWeightGradientRow<6>[inputs];
#else
    default:
      return nullptr;
#endif
  }
}

/// Cuts n units into as few blocks of at most `largest` as possible, of nearly equal size, and calls
/// body(first, size) for each.
template <class Body>
HWY_INLINE void for_each_block(std::size_t n, std::size_t largest, Body body) {
  const std::size_t blocks = (n + largest - 1) / largest;
  std::size_t first = 0;
  for (std::size_t left = blocks; left > 0; --left) {
    const std::size_t size = (n - first + left - 1) / left;
    body(first, size);
    first += size;
  }
}

}  // namespace smile::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

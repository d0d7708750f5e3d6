// SPDX-License-Identifier: Apache-2.0
/// From the network's outputs on a tile to the log-likelihood and its derivatives with respect to the
/// outputs, which overwrite them. Rows from `rows` on are fillers: they score nothing and get derivative 0.
/// @source spec 2.1; plain form: smile/targets/task_likelihood.hpp
#if defined(SMILE_NETWORK_SIMD_OUTPUTS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef SMILE_NETWORK_SIMD_OUTPUTS_INL_HPP
#undef SMILE_NETWORK_SIMD_OUTPUTS_INL_HPP
#else
#define SMILE_NETWORK_SIMD_OUTPUTS_INL_HPP
#endif

#include <cmath>
#include <cstddef>

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "network/simd/activations-inl.hpp"
#include "network/simd/vector-inl.hpp"
#include "smile/targets/task_likelihood.hpp"

HWY_BEFORE_NAMESPACE();
namespace smile::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// x where the row is real, else 0, whatever x is there.
HWY_INLINE Vec only_real_rows(Vec x, std::size_t first_row, std::size_t rows) {
  if (first_row + kLanes <= rows) return x;
  return hn::IfThenElseZero(hn::FirstN(kFloats, first_row < rows ? rows - first_row : 0), x);
}

/// Task mean_regr with σ given: output ← (y − m)/σ². Returns Σ (y − m)², in double: the derivative with
/// respect to log σ is a small difference of large sums.
HWY_INLINE double score_mean(float* output, const float* target, std::size_t rows, std::size_t padded_rows,
                             float inverse_variance) {
  VecDouble lower = hn::Zero(kDoubles), upper = lower;
  for (std::size_t r = 0; r < padded_rows; r += kLanes) {
    const Vec error = only_real_rows(hn::Sub(load(target + r), load(output + r)), r, rows);
    const VecDouble low = lower_to_double(error), high = upper_to_double(error);
    lower = hn::MulAdd(low, low, lower);
    upper = hn::MulAdd(high, high, upper);
    store(hn::Mul(error, broadcast(inverse_variance)), output + r);
  }
  return sum_of_lanes(hn::Add(lower, upper));
}

/// Task regr: outputs (m, r = log σ). Returns Σ [−z²/2 − log σ] with z = (y − m)/σ.
HWY_INLINE double score_mean_and_sigma(float* output, const float* target, std::size_t rows,
                                       std::size_t padded_rows) {
  const Vec lowest = broadcast(std::log(static_cast<float>(kSigmaMin)));
  const Vec highest = broadcast(std::log(static_cast<float>(kSigmaMax)));
  float* mean = output;
  float* log_sigma = output + kTileStride;
  VecDouble total = hn::Zero(kDoubles);
  for (std::size_t r = 0; r < padded_rows; r += kLanes) {
    const Vec raw = load(log_sigma + r);
    const Vec clipped = at_least(lowest, at_most(highest, raw));
    const Vec inverse_sigma = hn::Exp(kFloats, hn::Neg(clipped));
    const Vec z = hn::Mul(hn::Sub(load(target + r), load(mean + r)), inverse_sigma);
    store(only_real_rows(hn::Mul(z, inverse_sigma), r, rows), mean + r);
    // Where the clip changed r its derivative is 0; a NaN compares unequal too, but then z carries it.
    const Vec d = hn::IfThenElseZero(hn::Eq(raw, clipped), hn::MulSub(z, z, broadcast(1.0f)));
    store(only_real_rows(d, r, rows), log_sigma + r);
    const Vec real_z = only_real_rows(z, r, rows), real_log_sigma = only_real_rows(clipped, r, rows);
    const VecDouble low = lower_to_double(real_z), high = upper_to_double(real_z);
    const VecDouble squares = hn::MulAdd(low, low, hn::Mul(high, high));
    const VecDouble logs = hn::Add(lower_to_double(real_log_sigma), upper_to_double(real_log_sigma));
    total = hn::Sub(total, hn::MulAdd(squares, hn::Set(kDoubles, 0.5), logs));
  }
  return sum_of_lanes(total);
}

/// Task class: `outputs` logits. Returns Σ log-softmax at the label; logits ← indicator − probability.
HWY_INLINE double score_classes(float* output, const float* target, std::size_t outputs, std::size_t rows,
                                std::size_t padded_rows) {
  VecDouble total = hn::Zero(kDoubles);
  for (std::size_t r = 0; r < padded_rows; r += kLanes) {
    Vec largest = load(output + r);
    for (std::size_t c = 1; c < outputs; ++c) largest = hn::Max(largest, load(output + c * kTileStride + r));
    const Vec label = load(target + r);
    Vec sum = hn::Zero(kFloats), at_label = sum;
    for (std::size_t c = 0; c < outputs; ++c) {
      float* logit = output + c * kTileStride + r;
      const Vec below_largest = hn::Sub(load(logit), largest);
      // A NaN logit gives a NaN here whatever `largest` is, and so a NaN sum.
      const Vec e = exp_nonpositive(below_largest);
      sum = hn::Add(sum, e);
      at_label = hn::IfThenElse(hn::Eq(label, broadcast(static_cast<float>(c))), below_largest, at_label);
      store(e, logit);
    }
    const Vec inverse = hn::Div(broadcast(1.0f), sum);
    for (std::size_t c = 0; c < outputs; ++c) {
      float* logit = output + c * kTileStride + r;
      const Vec indicator =
          hn::IfThenElseZero(hn::Eq(label, broadcast(static_cast<float>(c))), broadcast(1.0f));
      store(only_real_rows(hn::NegMulAdd(load(logit), inverse, indicator), r, rows), logit);
    }
    const Vec value = only_real_rows(hn::Sub(at_label, hn::Log(kFloats, sum)), r, rows);
    total = hn::Add(total, hn::Add(lower_to_double(value), upper_to_double(value)));
  }
  return sum_of_lanes(total);
}

}  // namespace smile::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

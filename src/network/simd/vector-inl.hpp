// SPDX-License-Identifier: Apache-2.0
/// The few vector helpers that the network's kernels share. Included once per instruction set.
#if defined(SMILE_NETWORK_SIMD_VECTOR_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef SMILE_NETWORK_SIMD_VECTOR_INL_HPP
#undef SMILE_NETWORK_SIMD_VECTOR_INL_HPP
#else
#define SMILE_NETWORK_SIMD_VECTOR_INL_HPP
#endif

#include <cstddef>

#include "hwy/highway.h"

/// Blocks of accumulators live in registers only if every loop over them is unrolled completely.
#define SMILE_UNROLL _Pragma("GCC unroll 64")
#define SMILE_NO_UNROLL _Pragma("GCC unroll 1")

HWY_BEFORE_NAMESPACE();
namespace smile::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
#if HWY_TARGET == HWY_SCALAR
using Doubles = hn::ScalableTag<double>;
#else
using Doubles = hn::Repartition<double, Floats>;
#endif
using Vec = hn::Vec<Floats>;
using VecDouble = hn::Vec<Doubles>;
constexpr Floats kFloats;
constexpr Doubles kDoubles;
constexpr std::size_t kLanes = HWY_LANES(float);

HWY_INLINE Vec load(const float* p) {
  return hn::Load(kFloats, p);
}
HWY_INLINE void store(Vec v, float* p) {
  hn::Store(v, kFloats, p);
}
HWY_INLINE Vec broadcast(float x) {
  return hn::Set(kFloats, x);
}

// max and min with a constant that let a NaN in x pass. On x86 the instruction returns its second operand
// where the two don't compare; Highway's portable form would return the bound.
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
HWY_INLINE Vec at_least(Vec bound, Vec x) {
  return hn::IfThenElse(hn::Lt(x, bound), bound, x);
}
HWY_INLINE Vec at_most(Vec bound, Vec x) {
  return hn::IfThenElse(hn::Gt(x, bound), bound, x);
}
#else
HWY_INLINE Vec at_least(Vec bound, Vec x) {
  return hn::Max(bound, x);
}
HWY_INLINE Vec at_most(Vec bound, Vec x) {
  return hn::Min(bound, x);
}
#endif

HWY_INLINE float sum_of_lanes(Vec v) {
  return hn::GetLane(hn::SumOfLanes(kFloats, v));
}
HWY_INLINE double sum_of_lanes(VecDouble v) {
  return hn::GetLane(hn::SumOfLanes(kDoubles, v));
}

/// The two halves of a vector in double. A vector of one lane has no upper half: zero stands for it.
#if HWY_TARGET == HWY_SCALAR
HWY_INLINE VecDouble lower_to_double(Vec v) {
  return hn::PromoteTo(kDoubles, v);
}
HWY_INLINE VecDouble upper_to_double(Vec /*v*/) {
  return hn::Zero(kDoubles);
}
#else
HWY_INLINE VecDouble lower_to_double(Vec v) {
  return hn::PromoteTo(kDoubles, hn::LowerHalf(hn::Half<Floats>(), v));
}
HWY_INLINE VecDouble upper_to_double(Vec v) {
  return hn::PromoteTo(kDoubles, hn::UpperHalf(hn::Half<Floats>(), v));
}
#endif

}  // namespace smile::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

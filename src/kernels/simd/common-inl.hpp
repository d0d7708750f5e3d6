// SPDX-License-Identifier: Apache-2.0
// What the vector passes share. Included once for every instruction set, hence the guard that flips.
//
// All loops run over whole registers: a HostVector is padded with zeros to a multiple of 64 elements, which
// is a multiple of every step used here. Zeros in g, u, θ stay zeros and add nothing to a sum; only s² needs
// care.
#if defined(SMILE_KERNELS_SIMD_COMMON_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SMILE_KERNELS_SIMD_COMMON_INL
#undef SMILE_KERNELS_SIMD_COMMON_INL
#else
#define SMILE_KERNELS_SIMD_COMMON_INL
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "smile/kernels/passes.hpp"

HWY_BEFORE_NAMESPACE();
namespace smile::kernels::simd {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Constructors of classes that hold vectors are written out: an implicit one would be compiled for the
// baseline.

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vector = hn::Vec<Tag<T>>;

/// An accumulator in single precision takes this many terms, then it is added to one in double. The rounding
/// of 64 additions, averaged over the lanes, stays below 1e-7 of the sum.
inline constexpr std::size_t kTermsPerFlush = 64;
inline constexpr std::size_t kUnroll = 2;

/// Elements that the registers of `unroll` steps need to cover `size`; never beyond the padding.
template <class T>
HWY_INLINE std::size_t covered(std::size_t size, std::size_t unroll = kUnroll) {
  const std::size_t step = unroll * hn::Lanes(Tag<T>());
  return (size + step - 1) / step * step;
}

/// Sum in double of vectors of T.
template <class T>
class DoubleSum {
 public:
  HWY_INLINE DoubleSum() : sum_(hn::Zero(hn::ScalableTag<double>())) {}
  HWY_INLINE void add(Vector<T> terms) {
    const hn::ScalableTag<double> dd;
    if constexpr (sizeof(T) == sizeof(double)) {
      sum_ = hn::Add(sum_, terms);
    } else {
#if HWY_TARGET == HWY_SCALAR
      sum_ = hn::Add(sum_, hn::PromoteTo(dd, terms));
#else
      const hn::Half<Tag<T>> half;
      sum_ = hn::Add(sum_, hn::PromoteTo(dd, hn::LowerHalf(half, terms)));
      sum_ = hn::Add(sum_, hn::PromoteTo(dd, hn::UpperHalf(half, terms)));
#endif
    }
  }
  HWY_INLINE double total() const {
    return hn::GetLane(hn::SumOfLanes(hn::ScalableTag<double>(), sum_));
  }

 private:
  hn::Vec<hn::ScalableTag<double>> sum_;
};

/// A register of T as registers of double.
template <class T>
struct Wide {
  using Double = hn::Vec<hn::ScalableTag<double>>;
  HWY_INLINE explicit Wide(Vector<T> x) {
    const hn::ScalableTag<double> dd;
    if constexpr (sizeof(T) == sizeof(double)) {
      low = x;
    } else {
#if HWY_TARGET == HWY_SCALAR
      low = hn::PromoteTo(dd, x);
#else
      const hn::Half<Tag<T>> half;
      low = hn::PromoteTo(dd, hn::LowerHalf(half, x));
      high = hn::PromoteTo(dd, hn::UpperHalf(half, x));
#endif
    }
  }
  static constexpr bool kTwo = sizeof(T) < sizeof(double) && HWY_TARGET != HWY_SCALAR;
  Double low, high;
};

/// Sum of products in double, exact for the factors as they are: p = e·u must be that of the very vectors
/// that a kick combines, for 1 + p may be all that is left of it.
template <class T>
class ProductSum {
 public:
  HWY_INLINE ProductSum() : low_(hn::Zero(hn::ScalableTag<double>())), high_(low_) {}
  HWY_INLINE void add(const Wide<T>& a, const Wide<T>& b) {
    low_ = hn::MulAdd(a.low, b.low, low_);
    if constexpr (Wide<T>::kTwo) high_ = hn::MulAdd(a.high, b.high, high_);
  }
  HWY_INLINE double total() const {
    return hn::GetLane(hn::SumOfLanes(hn::ScalableTag<double>(), hn::Add(low_, high_)));
  }

 private:
  hn::Vec<hn::ScalableTag<double>> low_, high_;
};

/// 1/sqrt(x) for normal positive x, to about 1.5 ulp: an estimate with one Newton step (AVX-512, 14 bits) or
/// one step of the next order (12 bits); exact operations for double.
template <class D, class V>
HWY_INLINE V reciprocal_sqrt(D d, V x) {
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(float)) {
    const V y = hn::ApproximateReciprocalSqrt(x);
    const V error = hn::NegMulAdd(hn::Mul(x, y), y, hn::Set(d, 1));  // 1 − x y²
#if HWY_TARGET == HWY_AVX3
    return hn::MulAdd(hn::Mul(y, hn::Set(d, 0.5f)), error, y);
#else
    return hn::MulAdd(hn::Mul(y, error), hn::MulAdd(error, hn::Set(d, 0.375f), hn::Set(d, 0.5f)), y);
#endif
  }
#endif
  return hn::Div(hn::Set(d, 1), hn::Sqrt(x));
}

/// clamp(s², lower, upper)^(−½). The padding of s² is zero: the smallest normal number as lower bound keeps
/// its inverse finite, so that 0 · (1/ŝ) is 0.
template <class T>
class InverseRoot {
 public:
  HWY_INLINE explicit InverseRoot(const Scaling& scaling)
      : lower_(hn::Set(Tag<T>(), lower_bound(scaling))),
        upper_(hn::Set(Tag<T>(), T(std::min(scaling.upper, double(std::numeric_limits<T>::max()))))) {}
  HWY_INLINE Vector<T> clamp(Vector<T> variance) const { return hn::Min(hn::Max(variance, lower_), upper_); }
  HWY_INLINE Vector<T> operator()(Vector<T> variance) const {
    return reciprocal_sqrt(Tag<T>(), clamp(variance));
  }

 private:
  static T lower_bound(const Scaling& scaling) {
    return T(std::clamp(scaling.lower, double(std::numeric_limits<T>::min()),
                        double(std::numeric_limits<T>::max())));
  }
  Vector<T> lower_, upper_;
};

/// Asks for the line that a sweep reads 2 KiB later. The hardware's own prefetching leaves up to a fifth of
/// the memory's speed unused when a sweep computes between its loads. An address past the end does no harm.
template <class T>
HWY_INLINE void prefetch_ahead(const T* p) {
  hwy::Prefetch(reinterpret_cast<const T*>(reinterpret_cast<std::uintptr_t>(p) + 2048));
}
template <class T>
HWY_INLINE Vector<T> load_ahead(const T* p) {
  prefetch_ahead(p);
  return hn::Load(Tag<T>(), p);
}

/// 1/ŝ without its factor, and 1 where there is no preconditioner.
template <class T, bool kMetric>
class InverseScale {
 public:
  HWY_INLINE explicit InverseScale(const Metric<HostVector<T>>& metric)
      : inverse_root_(metric.scaling), variance_(kMetric ? metric.variance->data() : nullptr) {}
  /// x · (1/ŝ) / factor
  HWY_INLINE Vector<T> at(std::size_t i) const {
    if constexpr (kMetric)
      return inverse_root_(load_ahead(variance_ + i));
    else
      return hn::Set(Tag<T>(), T{1});
  }

 private:
  InverseRoot<T> inverse_root_;
  const T* variance_;
};

template <class T>
HWY_INLINE double factor_of(const Metric<HostVector<T>>& metric) {
  return metric.variance ? metric.scaling.factor : 1.0;
}

/// Whether the sums of squares kept within the range of T: neither overflowed (or non-finite entries) nor
/// underflowed.
template <class T>
HWY_INLINE bool squares_in_range(const MomentumSums& sums, double factor) {
  const double smallest = 1e12 * double(std::numeric_limits<T>::min()) * factor * factor;
  return std::isfinite(sums.gradient_norm2 + sums.projection + sums.velocity_norm2) &&
         (sums.gradient_norm2 > smallest || sums.largest == 0);
}

/// Becomes NaN with the first non-finite entry: 0·∞ and 0·NaN are NaN.
template <class T>
class FiniteCheck {
 public:
  HWY_INLINE FiniteCheck() : zero_(hn::Zero(Tag<T>())) {}
  HWY_INLINE void look(Vector<T> x) { zero_ = hn::MulAdd(x, hn::Zero(Tag<T>()), zero_); }
  HWY_INLINE bool finite() const {
    const Tag<T> d;
    return hn::AllTrue(d, hn::Eq(zero_, zero_));
  }

 private:
  Vector<T> zero_;
};

/// Ordinary stores for vectors that stay in the caches; stores past the caches for vectors that do not, which
/// saves reading the lines about to be overwritten.
template <bool kPastCaches, class T>
HWY_INLINE void store(Vector<T> x, T* p) {
  if constexpr (kPastCaches)
    hn::Stream(x, Tag<T>(), p);
  else
    hn::Store(x, Tag<T>(), p);
}
inline constexpr std::size_t kPastCachesBytes = std::size_t{8} << 20;
template <class T>
HWY_INLINE bool past_caches(const HostVector<T>& out) {
  return out.size() * sizeof(T) >= kPastCachesBytes;
}

template <class T>
HWY_INLINE void zero_padding(HostVector<T>& x) {
  std::fill(x.data() + x.size(), x.data() + x.padded_size(), T{0});
}

}  // namespace HWY_NAMESPACE
}  // namespace smile::kernels::simd
HWY_AFTER_NAMESPACE();
#endif

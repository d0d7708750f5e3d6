// SPDX-License-Identifier: Apache-2.0
// The moving estimates of spec 1.7 for one register of elements.
#if defined(SMILE_KERNELS_SIMD_ESTIMATE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SMILE_KERNELS_SIMD_ESTIMATE_INL
#undef SMILE_KERNELS_SIMD_ESTIMATE_INL
#else
#define SMILE_KERNELS_SIMD_ESTIMATE_INL
#endif

#include "kernels/simd/common-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace smile::kernels::simd {
namespace HWY_NAMESPACE {

/// m ← m + α (g − m);  s² ← max((1−α) s² + α (g − m)², floor), with g − m_new = (1−α)(g − m_old), which keeps
/// its digits where g is close to m.
template <class T, Centre kCentre>
class Estimator {
 public:
  static constexpr bool kUsesMean = kCentre == Centre::mean;

  HWY_INLINE explicit Estimator(const MovingEstimate& estimate)
      : rate_(hn::Set(Tag<T>(), T(estimate.rate))),
        keep_(hn::Set(Tag<T>(), T(1 - estimate.rate))),
        weight_(hn::Set(Tag<T>(), T(weight(estimate.rate)))),
        floor_(hn::Set(Tag<T>(), T(estimate.floor))) {}

  /// Replaces m (where it is used) and returns the new s².
  HWY_INLINE Vector<T> operator()(Vector<T> gradient, Vector<T>& mean, Vector<T> variance) const {
    Vector<T> deviation = gradient;
    if constexpr (kCentre == Centre::mean) {
      deviation = hn::Sub(gradient, mean);
      mean = hn::MulAdd(rate_, deviation, mean);
    } else if constexpr (kCentre == Centre::authors) {
      deviation = hn::Sub(gradient, hn::MulAdd(rate_, gradient, keep_));
    }
    const Vector<T> square = hn::Mul(hn::Mul(weight_, deviation), deviation);
    return hn::Max(hn::MulAdd(keep_, variance, square), floor_);
  }

 private:
  static double weight(double rate) {
    return kCentre == Centre::mean ? rate * (1 - rate) * (1 - rate) : rate;
  }
  Vector<T> rate_, keep_, weight_, floor_;
};

/// Calls f(std::integral_constant<Centre, c>()) for the centre c known at run time only.
template <class F>
HWY_INLINE auto with_centre(Centre centre, F f) {
  switch (centre) {
    case Centre::none:
      return f(std::integral_constant<Centre, Centre::none>());
    case Centre::authors:
      return f(std::integral_constant<Centre, Centre::authors>());
    case Centre::mean:
      break;
  }
  return f(std::integral_constant<Centre, Centre::mean>());
}

}  // namespace HWY_NAMESPACE
}  // namespace smile::kernels::simd
HWY_AFTER_NAMESPACE();
#endif

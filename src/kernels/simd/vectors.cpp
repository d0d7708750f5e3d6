// SPDX-License-Identifier: Apache-2.0
// Refreshment, directions, norms, clipping and finiteness for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/vectors.cpp"
#include <hwy/foreach_target.h>

#include "kernels/reference/passes.hpp"
#include "kernels/simd/common-inl.hpp"
#include "kernels/simd/dispatch.hpp"
#include "kernels/simd/tables.hpp"

HWY_BEFORE_NAMESPACE();
namespace smile::kernels::simd {
namespace HWY_NAMESPACE {

/// Σ f(i)² over registers starting at i.
template <class T, class F>
HWY_INLINE double sum_of_squares(std::size_t size, F f) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d), end = covered<T>(size);
  DoubleSum<T> sum;
  for (std::size_t i = 0; i < end;) {
    auto even = hn::Zero(d), odd = hn::Zero(d);
    const std::size_t stop = std::min(end, i + kTermsPerFlush * kUnroll * lanes);
    for (; i < stop; i += 2 * lanes) {
      const auto a = f(i), b = f(i + lanes);
      even = hn::MulAdd(a, a, even);
      odd = hn::MulAdd(b, b, odd);
    }
    sum.add(hn::Add(even, odd));
  }
  return sum.total();
}

template <class T>
double norm2(const HostVector<T>& x) {
  const T* p = x.data();
  const double sum =
      sum_of_squares<T>(x.size(), [p](std::size_t i) HWY_ATTR { return hn::Load(Tag<T>(), p + i); });
  // Squares may leave the range of T although the entries do not.
  if (!std::isfinite(sum) || sum < 1e12 * double(std::numeric_limits<T>::min())) return reference::norm2(x);
  return sum;
}

template <class T>
void unit_direction(HostVector<T>& velocity, const HostVector<T>& normals) {
  const Tag<T> d;
  const auto inverse = hn::Set(d, T(1 / std::sqrt(simd::HWY_NAMESPACE::norm2(normals))));
  const T* z = normals.data();
  T* u = velocity.data();
  const std::size_t lanes = hn::Lanes(d), end = covered<T>(velocity.size(), 1);
  for (std::size_t i = 0; i < end; i += lanes) hn::Store(hn::Mul(hn::Load(d, z + i), inverse), d, u + i);
}

template <class T>
void refresh(HostVector<T>& velocity, const HostVector<T>& normals, double nu) {
  const Tag<T> d;
  const auto weight = hn::Set(d, T(nu));
  const T* z = normals.data();
  T* u = velocity.data();
  const auto mixed = [=](std::size_t i)
                         HWY_ATTR { return hn::MulAdd(weight, hn::Load(d, z + i), hn::Load(d, u + i)); };
  const double sum = sum_of_squares<T>(velocity.size(), mixed);
  if (!std::isfinite(sum)) return reference::refresh(velocity, normals, nu);  // squares beyond the range of T
  const auto inverse = hn::Set(d, T(1 / std::sqrt(sum)));
  const std::size_t lanes = hn::Lanes(d), end = covered<T>(velocity.size(), 1);
  for (std::size_t i = 0; i < end; i += lanes) hn::Store(hn::Mul(mixed(i), inverse), d, u + i);
}

template <class T>
double add_normals(const T* velocity, const T* normals, double nu, T* out, std::size_t count) {
  const Tag<T> d;
  const auto weight = hn::Set(d, T(nu));
  return sum_of_squares<T>(count, [=](std::size_t i) HWY_ATTR {
    const auto mixed = hn::MulAdd(weight, hn::Load(d, normals + i), hn::Load(d, velocity + i));
    hn::Store(mixed, d, out + i);
    return mixed;
  });
}

template <class T>
bool all_finite(const HostVector<T>& x) {
  const Tag<T> d;
  const T* p = x.data();
  const std::size_t lanes = hn::Lanes(d), end = covered<T>(x.size());
  FiniteCheck<T> even, odd;
  for (std::size_t i = 0; i < end; i += 2 * lanes) {
    even.look(hn::Load(d, p + i));
    odd.look(hn::Load(d, p + i + lanes));
  }
  return even.finite() && odd.finite();
}

template <class T>
MomentumSums examine(const HostVector<T>& gradient) {
  const Tag<T> d;
  const T* g = gradient.data();
  const std::size_t lanes = hn::Lanes(d), end = covered<T>(gradient.size(), 1);
  auto largest = hn::Zero(d);
  FiniteCheck<T> check;
  for (std::size_t i = 0; i < end; i += lanes) {
    const auto x = hn::Load(d, g + i);
    check.look(x);
    largest = hn::Max(hn::Abs(x), largest);
  }
  // How the maximum treats NaN differs between machines; the plain form ignores it.
  if (!check.finite()) return reference::examine(gradient);
  MomentumSums sums;
  sums.largest = double(hn::GetLane(hn::MaxOfLanes(d, largest)));
  return sums;
}

template <class T>
void clip(HostVector<T>& gradient, double limit, bool zero_nan) {
  const Tag<T> d;
  const auto low = hn::Set(d, T(-limit)), high = hn::Set(d, T(limit));
  const auto nan_becomes = hn::Set(d, zero_nan ? T{0} : std::numeric_limits<T>::quiet_NaN());
  T* g = gradient.data();
  const std::size_t lanes = hn::Lanes(d), end = covered<T>(gradient.size(), 1);
  for (std::size_t i = 0; i < end; i += lanes) {
    const auto x = hn::Load(d, g + i);
    const auto clipped = hn::Min(hn::Max(x, low), high);
    hn::Store(hn::IfThenElse(hn::IsNaN(x), nan_becomes, clipped), d, g + i);
  }
}

SMILE_SIMD_TABLES(vectors, VectorTable, refresh<T>, add_normals<T>, unit_direction<T>, examine<T>, clip<T>,
                  all_finite<T>, norm2<T>)

}  // namespace HWY_NAMESPACE
}  // namespace smile::kernels::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace smile::kernels::simd {
SMILE_SIMD_EXPORT(vectors, VectorTable)
}  // namespace smile::kernels::simd
#endif

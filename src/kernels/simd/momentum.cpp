// SPDX-License-Identifier: Apache-2.0
// reduce, kick, drift and kick_drift for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/momentum.cpp"
#include <hwy/foreach_target.h>

#include "kernels/reference/passes.hpp"
#include "kernels/simd/common-inl.hpp"
#include "kernels/simd/dispatch.hpp"
#include "kernels/simd/tables.hpp"

HWY_BEFORE_NAMESPACE();
namespace smile::kernels::simd {
namespace HWY_NAMESPACE {

template <class T, bool kMetric>
MomentumSums reduce_sweep(const HostVector<T>& gradient, const HostVector<T>& velocity,
                          const Metric<HostVector<T>>& metric) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d), end = covered<T>(gradient.size(), 1);
  const InverseScale<T, kMetric> inverse_scale(metric);
  const T* g = gradient.data();
  const T* u = velocity.data();
  ProductSum<T> gradient_norm2, projection, velocity_norm2;
  Vector<T> largest = hn::Zero(d);
  for (std::size_t i = 0; i < end; i += lanes) {
    const auto gi = load_ahead(g + i);
    const Wide<T> q(hn::Mul(gi, inverse_scale.at(i))), ui(load_ahead(u + i));
    gradient_norm2.add(q, q);
    projection.add(ui, q);
    velocity_norm2.add(ui, ui);
    largest = hn::Max(hn::Abs(gi), largest);
  }
  const double factor = factor_of(metric);
  MomentumSums sums;
  sums.gradient_norm2 = factor * factor * gradient_norm2.total();
  sums.projection = factor * projection.total();
  sums.velocity_norm2 = velocity_norm2.total();
  sums.largest = double(hn::GetLane(hn::MaxOfLanes(d, largest)));
  return sums;
}

template <class T>
MomentumSums reduce(const HostVector<T>& gradient, const HostVector<T>& velocity,
                    const Metric<HostVector<T>>& metric) {
  const MomentumSums sums = metric.variance ? reduce_sweep<T, true>(gradient, velocity, metric)
                                            : reduce_sweep<T, false>(gradient, velocity, metric);
  // A non-finite sum means a non-finite entry, or squares beyond the range of T, as a vanishing one means
  // squares below it. Both are rare: the plain form in double tells.
  if (!squares_in_range<T>(sums, factor_of(metric))) return reference::reduce(gradient, velocity, metric);
  return sums;
}

template <class T, bool kMetric>
void kick_sweep(HostVector<T>& velocity, const HostVector<T>& gradient, const Metric<HostVector<T>>& metric,
                Kick k) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d), end = covered<T>(velocity.size(), 1);
  const InverseScale<T, kMetric> inverse_scale(metric);
  const auto a = hn::Set(d, T(k.gradient * factor_of(metric))), b = hn::Set(d, T(k.velocity));
  const T* g = gradient.data();
  T* u = velocity.data();
  for (std::size_t i = 0; i < end; i += lanes) {
    const auto q = hn::Mul(load_ahead(g + i), inverse_scale.at(i));
    hn::Store(hn::MulAdd(a, q, hn::Mul(b, load_ahead(u + i))), d, u + i);
  }
}

template <class T>
void kick(HostVector<T>& velocity, const HostVector<T>& gradient, const Metric<HostVector<T>>& metric,
          Kick k) {
  metric.variance ? kick_sweep<T, true>(velocity, gradient, metric, k)
                  : kick_sweep<T, false>(velocity, gradient, metric, k);
}

template <class T, bool kMetric, bool kPastCaches>
bool drift_sweep(const HostVector<T>& velocity, const Metric<HostVector<T>>& metric,
                 const HostVector<T>& position_in, HostVector<T>& position_out, double h) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d), end = covered<T>(velocity.size(), 1);
  const InverseScale<T, kMetric> inverse_scale(metric);
  const auto c = hn::Set(d, T(h * factor_of(metric)));
  const T* u = velocity.data();
  const T* in = position_in.data();
  T* out = position_out.data();
  FiniteCheck<T> check;
  for (std::size_t i = 0; i < end; i += lanes) {
    const auto move = hn::Mul(load_ahead(u + i), inverse_scale.at(i));
    const auto position = hn::MulAdd(c, move, load_ahead(in + i));
    check.look(position);
    store<kPastCaches>(position, out + i);
  }
  if constexpr (kPastCaches) hwy::FlushStream();
  return check.finite();
}

template <class T, bool kMetric, bool kPastCaches>
bool kick_drift_sweep(HostVector<T>& velocity, const HostVector<T>& gradient,
                      const Metric<HostVector<T>>& metric, Kick k, const HostVector<T>& position_in,
                      HostVector<T>& position_out, double h) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d), end = covered<T>(velocity.size(), 1);
  const InverseScale<T, kMetric> inverse_scale(metric);
  const auto a = hn::Set(d, T(k.gradient * factor_of(metric))), b = hn::Set(d, T(k.velocity));
  const auto c = hn::Set(d, T(h * factor_of(metric)));
  const T* g = gradient.data();
  const T* in = position_in.data();
  T* u = velocity.data();
  T* out = position_out.data();
  FiniteCheck<T> check;
  for (std::size_t i = 0; i < end; i += lanes) {
    const auto scale = inverse_scale.at(i);
    const auto next = hn::MulAdd(a, hn::Mul(load_ahead(g + i), scale), hn::Mul(b, load_ahead(u + i)));
    hn::Store(next, d, u + i);
    const auto position = hn::MulAdd(c, hn::Mul(next, scale), load_ahead(in + i));
    check.look(position);
    store<kPastCaches>(position, out + i);
  }
  if constexpr (kPastCaches) hwy::FlushStream();
  return check.finite();
}

template <class T>
bool drift(const HostVector<T>& velocity, const Metric<HostVector<T>>& metric,
           const HostVector<T>& position_in, HostVector<T>& position_out, double h) {
  const bool past = &position_in != &position_out && past_caches(position_out);
  const auto sweep = metric.variance ? (past ? drift_sweep<T, true, true> : drift_sweep<T, true, false>)
                                     : (past ? drift_sweep<T, false, true> : drift_sweep<T, false, false>);
  return sweep(velocity, metric, position_in, position_out, h);
}

template <class T>
bool kick_drift(HostVector<T>& velocity, const HostVector<T>& gradient, const Metric<HostVector<T>>& metric,
                Kick k, const HostVector<T>& position_in, HostVector<T>& position_out, double h) {
  const bool past = &position_in != &position_out && past_caches(position_out);
  const auto sweep = metric.variance
                         ? (past ? kick_drift_sweep<T, true, true> : kick_drift_sweep<T, true, false>)
                         : (past ? kick_drift_sweep<T, false, true> : kick_drift_sweep<T, false, false>);
  return sweep(velocity, gradient, metric, k, position_in, position_out, h);
}

SMILE_SIMD_TABLES(momentum, MomentumTable, reduce<T>, kick<T>, drift<T>, kick_drift<T>)

}  // namespace HWY_NAMESPACE
}  // namespace smile::kernels::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace smile::kernels::simd {
SMILE_SIMD_EXPORT(momentum, MomentumTable)
}  // namespace smile::kernels::simd
#endif

// SPDX-License-Identifier: Apache-2.0
// The updates of the stochastic-gradient baselines (spec 1.9) for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/baselines.cpp"
#include <hwy/foreach_target.h>

#include "kernels/simd/common-inl.hpp"
#include "kernels/simd/dispatch.hpp"
#include "kernels/simd/tables.hpp"

HWY_BEFORE_NAMESPACE();
namespace smile::kernels::simd {
namespace HWY_NAMESPACE {

/// Calls f(i) for the start i of every register that covers `size` elements.
template <class T, class F>
HWY_INLINE void for_registers(std::size_t size, F f) {
  const std::size_t lanes = hn::Lanes(Tag<T>()), end = covered<T>(size, 1);
  for (std::size_t i = 0; i < end; i += lanes) f(i);
}

template <class T>
void add_scaled(HostVector<T>& position, const HostVector<T>& gradient, double a,
                const HostVector<T>& normals, double b) {
  const Tag<T> d;
  const auto wa = hn::Set(d, T(a)), wb = hn::Set(d, T(b));
  T* x = position.data();
  const T *g = gradient.data(), *z = normals.data();
  for_registers<T>(position.size(), [=](std::size_t i) HWY_ATTR {
    const auto noise = hn::Mul(wb, hn::Load(d, z + i));
    hn::Store(hn::Add(hn::Load(d, x + i), hn::MulAdd(wa, hn::Load(d, g + i), noise)), d, x + i);
  });
}

template <class T>
void psgld_update(HostVector<T>& position, HostVector<T>& variance, const HostVector<T>& gradient,
                  const HostVector<T>& normals, const PsgldUpdate& p) {
  const Tag<T> d;
  const auto inverse_n = hn::Set(d, T(p.inverse_n)), one = hn::Set(d, T{1});
  const auto keep = hn::Set(d, T(p.first ? 0 : p.decay)), take = hn::Set(d, T(p.first ? 1 : 1 - p.decay));
  const auto lambda = hn::Set(d, T(p.lambda)), step_size = hn::Set(d, T(p.step_size));
  const auto noise_variance = hn::Set(d, T(2 * p.step_size * p.temperature));
  T *x = position.data(), *v = variance.data();
  const T *g = gradient.data(), *z = normals.data();
  for_registers<T>(position.size(), [=](std::size_t i) HWY_ATTR {
    const auto gi = hn::Load(d, g + i), scaled = hn::Mul(gi, inverse_n);
    const auto vi = hn::MulAdd(take, hn::Mul(scaled, scaled), hn::Mul(keep, hn::Load(d, v + i)));
    hn::Store(vi, d, v + i);
    const auto preconditioner = hn::Div(one, hn::Add(lambda, hn::Sqrt(vi)));
    const auto noise = hn::Mul(hn::Sqrt(hn::Mul(noise_variance, preconditioner)), hn::Load(d, z + i));
    const auto move = hn::MulAdd(hn::Mul(step_size, preconditioner), gi, noise);
    hn::Store(hn::Add(hn::Load(d, x + i), move), d, x + i);
  });
}

template <class T>
double momentum_update(HostVector<T>& position, HostVector<T>& momentum, const HostVector<T>& gradient,
                       const HostVector<T>& normals, double a, double b, double c, double e) {
  const Tag<T> d;
  const auto wa = hn::Set(d, T(a)), wb = hn::Set(d, T(b)), wc = hn::Set(d, T(c)), we = hn::Set(d, T(e));
  T *x = position.data(), *v = momentum.data();
  const T *g = gradient.data(), *z = normals.data();
  const std::size_t lanes = hn::Lanes(d), end = covered<T>(position.size(), 1);
  DoubleSum<T> norm2;
  for (std::size_t i = 0; i < end;) {
    auto terms = hn::Zero(d);
    const std::size_t stop = std::min(end, i + kTermsPerFlush * lanes);
    for (; i < stop; i += lanes) {
      const auto pushed = hn::MulAdd(wb, hn::Load(d, g + i), hn::Mul(wc, hn::Load(d, z + i)));
      const auto vi = hn::MulAdd(wa, hn::Load(d, v + i), pushed);
      hn::Store(vi, d, v + i);
      hn::Store(hn::MulAdd(we, vi, hn::Load(d, x + i)), d, x + i);
      terms = hn::MulAdd(vi, vi, terms);
    }
    norm2.add(terms);
  }
  return norm2.total();
}

template <class T>
void adapt_scale(HostVector<T>& tau, HostVector<T>& mean, HostVector<T>& variance,
                 const HostVector<T>& kept_gradient) {
  const Tag<T> d;
  const auto one = hn::Set(d, T{1}), tiny = hn::Set(d, T(1e-7)), bound = hn::Set(d, T(1e6));
  T *t = tau.data(), *m = mean.data(), *v = variance.data();
  const T* g = kept_gradient.data();
  for_registers<T>(tau.size(), [=](std::size_t i) HWY_ATTR {
    const auto gi = hn::Load(d, g + i), mi = hn::Load(d, m + i), vi = hn::Load(d, v + i);
    // 1 − ḡ²/(s² + 1e−7) as one quotient, which keeps its digits where ḡ² is close to s².
    const auto denominator = hn::Add(vi, tiny);
    const auto shrink = hn::Div(hn::NegMulAdd(mi, mi, denominator), denominator);
    const auto ti = hn::MulAdd(hn::Load(d, t + i), shrink, one);
    const auto weight = hn::Div(one, hn::Add(ti, one)), keep = hn::Sub(one, weight);
    hn::Store(ti, d, t + i);
    const auto next = hn::NegMulAdd(gi, weight, hn::Mul(keep, mi));
    hn::Store(hn::Min(hn::Max(next, hn::Neg(bound)), bound), d, m + i);
    hn::Store(hn::Max(hn::MulAdd(hn::Mul(gi, gi), weight, hn::Mul(keep, vi)), tiny), d, v + i);
  });
  zero_padding(tau);
  zero_padding(variance);
}

template <class T>
void adapt_rms(HostVector<T>& variance, const HostVector<T>& kept_gradient, double rho) {
  const Tag<T> d;
  const auto keep = hn::Set(d, T(rho)), take = hn::Set(d, T(1 - rho)), floor = hn::Set(d, T(1e-7));
  T* v = variance.data();
  const T* g = kept_gradient.data();
  for_registers<T>(variance.size(), [=](std::size_t i) HWY_ATTR {
    const auto gi = hn::Load(d, g + i);
    const auto square = hn::Mul(take, hn::Mul(gi, gi));
    hn::Store(hn::Max(hn::MulAdd(keep, hn::Load(d, v + i), square), floor), d, v + i);
  });
  zero_padding(variance);
}

template <class T>
void scaled_momentum_update(HostVector<T>& position, HostVector<T>& momentum, const HostVector<T>& variance,
                            const HostVector<T>& gradient, const HostVector<T>& normals, double step_size,
                            double friction) {
  const Tag<T> d;
  const auto h = hn::Set(d, T(step_size)), keep = hn::Set(d, T(1 - friction)),
             twice = hn::Set(d, T(2 * friction));
  const auto floor = hn::Set(d, T(1e-7)), smallest = hn::Set(d, std::numeric_limits<T>::min());
  T *x = position.data(), *p = momentum.data();
  const T *v = variance.data(), *g = gradient.data(), *z = normals.data();
  for_registers<T>(position.size(), [=](std::size_t i) HWY_ATTR {
    // The padding of s² is zero; the bound keeps 0/s there at 0.
    const auto s = hn::Sqrt(hn::Max(hn::Load(d, v + i), smallest)), hs = hn::Mul(h, s);
    const auto noise = hn::Sqrt(hn::Max(hn::NegMulAdd(hs, hs, hn::Mul(twice, s)), floor));
    const auto pushed = hn::MulAdd(h, hn::Load(d, g + i), hn::Mul(noise, hn::Load(d, z + i)));
    const auto pi = hn::MulAdd(keep, hn::Load(d, p + i), pushed);
    hn::Store(pi, d, p + i);
    hn::Store(hn::Add(hn::Load(d, x + i), hn::Div(hn::Mul(h, pi), s)), d, x + i);
  });
}

SMILE_SIMD_TABLES(baselines, BaselineTable, add_scaled<T>, psgld_update<T>, momentum_update<T>,
                  adapt_scale<T>, adapt_rms<T>, scaled_momentum_update<T>)

}  // namespace HWY_NAMESPACE
}  // namespace smile::kernels::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace smile::kernels::simd {
SMILE_SIMD_EXPORT(baselines, BaselineTable)
}  // namespace smile::kernels::simd
#endif

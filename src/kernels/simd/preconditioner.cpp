// SPDX-License-Identifier: Apache-2.0
// absorb, normalise and close_and_open for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/preconditioner.cpp"
#include <hwy/foreach_target.h>

#include "kernels/simd/common-inl.hpp"
#include "kernels/simd/dispatch.hpp"
#include "kernels/simd/estimate-inl.hpp"
#include "kernels/simd/tables.hpp"

HWY_BEFORE_NAMESPACE();
namespace smile::kernels::simd {
namespace HWY_NAMESPACE {

template <class T, Centre kCentre>
void absorb_sweep(const HostVector<T>& gradient, HostVector<T>* mean, HostVector<T>& variance,
                  const MovingEstimate& estimate) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d), end = covered<T>(variance.size(), 1);
  const Estimator<T, kCentre> absorbed(estimate);
  const T* g = gradient.data();
  T* v = variance.data();
  T* m = Estimator<T, kCentre>::kUsesMean ? mean->data() : nullptr;
  auto mi = hn::Zero(d);
  for (std::size_t i = 0; i < end; i += lanes) {
    if constexpr (Estimator<T, kCentre>::kUsesMean) mi = load_ahead(m + i);
    hn::Store(absorbed(load_ahead(g + i), mi, load_ahead(v + i)), d, v + i);
    if constexpr (Estimator<T, kCentre>::kUsesMean) hn::Store(mi, d, m + i);
  }
  zero_padding(variance);
}

template <class T>
void absorb(const HostVector<T>& gradient, HostVector<T>* mean, HostVector<T>& variance,
            const MovingEstimate& estimate) {
  with_centre(estimate.centre, [&](auto centre) {
    absorb_sweep<T, decltype(centre)::value>(gradient, mean, variance, estimate);
  });
}

/// Σ f(s²_i) over the elements (not the padding).
template <class T, class F>
HWY_INLINE double sum_over(const HostVector<T>& variance, F f) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d), whole = variance.size() / lanes * lanes;
  const T* v = variance.data();
  DoubleSum<T> sum;
  for (std::size_t i = 0; i < whole;) {
    auto terms = hn::Zero(d);
    const std::size_t stop = std::min(whole, i + kTermsPerFlush * lanes);
    for (; i < stop; i += lanes) terms = hn::Add(terms, f(load_ahead(v + i)));
    sum.add(terms);
  }
  if (whole < variance.size())
    sum.add(hn::IfThenElseZero(hn::FirstN(d, variance.size() - whole), f(hn::Load(d, v + whole))));
  return sum.total();
}

template <class T>
Scaling normalise(const HostVector<T>& variance, Normalisation normalisation, double relative_floor) {
  const double size = double(variance.size());
  Scaling scaling;
  if (normalisation == Normalisation::inverse_rms) {
    const Tag<T> d;
    scaling.factor =
        std::sqrt(size / sum_over(variance, [d](Vector<T> v) HWY_ATTR { return hn::Div(hn::Set(d, 1), v); }));
    return scaling;
  }
  if (normalisation == Normalisation::rms_absolute) {
    scaling.lower = 1e-4;
    scaling.upper = 1e8;
  } else if (normalisation == Normalisation::half_reference) {
    const double root = sum_over(variance, [](Vector<T> v) HWY_ATTR { return hn::Sqrt(hn::Sqrt(v)); }) / size;
    scaling.lower = 0.01 * root * root * root * root;
    scaling.upper = 100 * root * root * root * root;
  } else {
    const double mean = sum_over(variance, [](Vector<T> v) HWY_ATTR { return v; }) / size;
    scaling.lower = relative_floor * relative_floor * mean;
  }
  const InverseRoot<T> root(scaling);
  scaling.factor =
      std::sqrt(sum_over(variance, [root](Vector<T> v) HWY_ATTR { return root.clamp(v); }) / size);
  return scaling;
}

/// What close_and_open works on.
template <class T>
struct StepEnds {
  T *velocity, *velocity_next, *mean, *variance;
  const T *gradient, *position_in;
  T* position_out;
  std::size_t size;
};

template <class T, Centre kCentre, bool kPastCaches>
bool close_and_open_sweep(const StepEnds<T>& x, const Scaling& now, const Scaling& next,
                          const MovingEstimate& estimate, Kick closing, Kick opening, double h) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d), end = covered<T>(x.size, 1);
  const Estimator<T, kCentre> absorbed(estimate);
  const InverseRoot<T> root_now(now), root_next(next);
  const auto a1 = hn::Set(d, T(closing.gradient * now.factor)), b1 = hn::Set(d, T(closing.velocity));
  const auto a2 = hn::Set(d, T(opening.gradient * next.factor)), b2 = hn::Set(d, T(opening.velocity));
  const auto c = hn::Set(d, T(h * next.factor));
  FiniteCheck<T> check;
  auto mean = hn::Zero(d);
  for (std::size_t i = 0; i < end; i += lanes) {
    const auto g = load_ahead(x.gradient + i), variance = load_ahead(x.variance + i);
    if constexpr (Estimator<T, kCentre>::kUsesMean) mean = load_ahead(x.mean + i);
    const auto closed =
        hn::MulAdd(a1, hn::Mul(g, root_now(variance)), hn::Mul(b1, load_ahead(x.velocity + i)));
    hn::Store(closed, d, x.velocity + i);
    const auto variance_next = absorbed(g, mean, variance);
    hn::Store(variance_next, d, x.variance + i);
    if constexpr (Estimator<T, kCentre>::kUsesMean) hn::Store(mean, d, x.mean + i);
    const auto scale = root_next(variance_next);
    const auto opened = hn::MulAdd(a2, hn::Mul(g, scale), hn::Mul(b2, closed));
    store<kPastCaches>(opened, x.velocity_next + i);
    const auto position = hn::MulAdd(c, hn::Mul(opened, scale), load_ahead(x.position_in + i));
    check.look(position);
    store<kPastCaches>(position, x.position_out + i);
  }
  if constexpr (kPastCaches) hwy::FlushStream();
  return check.finite();
}

/// Without preconditioner.
template <class T, bool kPastCaches>
bool plain_sweep(const StepEnds<T>& x, Kick closing, Kick opening, double h) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d), end = covered<T>(x.size, 1);
  const auto a1 = hn::Set(d, T(closing.gradient)), b1 = hn::Set(d, T(closing.velocity));
  const auto a2 = hn::Set(d, T(opening.gradient)), b2 = hn::Set(d, T(opening.velocity));
  const auto c = hn::Set(d, T(h));
  FiniteCheck<T> check;
  for (std::size_t i = 0; i < end; i += lanes) {
    const auto g = load_ahead(x.gradient + i);
    const auto closed = hn::MulAdd(a1, g, hn::Mul(b1, load_ahead(x.velocity + i)));
    hn::Store(closed, d, x.velocity + i);
    const auto opened = hn::MulAdd(a2, g, hn::Mul(b2, closed));
    store<kPastCaches>(opened, x.velocity_next + i);
    const auto position = hn::MulAdd(c, opened, load_ahead(x.position_in + i));
    check.look(position);
    store<kPastCaches>(position, x.position_out + i);
  }
  if constexpr (kPastCaches) hwy::FlushStream();
  return check.finite();
}

template <class T>
bool close_and_open(HostVector<T>& velocity, HostVector<T>& velocity_next, const HostVector<T>& gradient,
                    HostVector<T>* mean, HostVector<T>* variance, const Scaling& now, const Scaling& next,
                    const MovingEstimate& estimate, Kick closing, Kick opening,
                    const HostVector<T>& position_in, HostVector<T>& position_out, double h) {
  const StepEnds<T> x{velocity.data(),
                      velocity_next.data(),
                      mean ? mean->data() : nullptr,
                      variance ? variance->data() : nullptr,
                      gradient.data(),
                      position_in.data(),
                      position_out.data(),
                      velocity.size()};
  const bool past = past_caches(position_out);
  if (!variance)
    return past ? plain_sweep<T, true>(x, closing, opening, h)
                : plain_sweep<T, false>(x, closing, opening, h);
  const bool finite = with_centre(estimate.centre, [&](auto centre) {
    constexpr Centre kCentre = decltype(centre)::value;
    return past ? close_and_open_sweep<T, kCentre, true>(x, now, next, estimate, closing, opening, h)
                : close_and_open_sweep<T, kCentre, false>(x, now, next, estimate, closing, opening, h);
  });
  zero_padding(*variance);
  return finite;
}

SMILE_SIMD_TABLES(preconditioner, PreconditionerTable, absorb<T>, normalise<T>, close_and_open<T>)

}  // namespace HWY_NAMESPACE
}  // namespace smile::kernels::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace smile::kernels::simd {
SMILE_SIMD_EXPORT(preconditioner, PreconditionerTable)
}  // namespace smile::kernels::simd
#endif

// SPDX-License-Identifier: Apache-2.0
// reduce_closing for every instruction set.
//
// The relative floor f² = r²·mean(s'²) is known only at the end of the sweep. But s'² ≥ (1−α) s², so f² is at
// least (1−α) times its last value, and it rarely grows by more than a few α. The sweep sorts the entries by
// a bracket around the last value: above it c² = s'², and their sums are final; below it c² = f², and their
// sums wait for one division; the few inside are set aside. A floor that leaves the bracket costs a second
// sweep, with f² known.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/closing.cpp"
#include <hwy/foreach_target.h>

#include <vector>

#include "kernels/reference/passes.hpp"
#include "kernels/simd/common-inl.hpp"
#include "kernels/simd/dispatch.hpp"
#include "kernels/simd/estimate-inl.hpp"
#include "kernels/simd/tables.hpp"

#ifndef SMILE_KERNELS_SIMD_CLOSING_ONCE
#define SMILE_KERNELS_SIMD_CLOSING_ONCE
namespace smile::kernels::simd {

/// The entries inside the bracket: s'², g, u and q = g/c(s), as columns.
template <class T>
struct SetAside {
  static constexpr std::size_t kSlack = 64;  // a compressed store may write a whole register
  std::vector<T> columns[4];
  std::size_t count = 0, capacity = 0;

  /// Room for 1/16 of the entries, or for all of a short vector.
  void prepare(std::size_t size) {
    capacity = std::max(size / 16, std::min<std::size_t>(size, 4096));
    if (columns[0].size() < capacity + kSlack)
      for (auto& column : columns) column.resize(capacity + kSlack);
    count = 0;
  }
};

/// One for each thread, kept from step to step.
template <class T>
SetAside<T>& set_aside_of_this_thread(std::size_t size) {
  static thread_local SetAside<T> set_aside;
  set_aside.prepare(size);
  return set_aside;
}

/// The sums of a sweep without the factors of the scalings.
struct ClosingTotals {
  double now_norm2 = 0, now_projection = 0, velocity_norm2 = 0, largest = 0;
  double next_norm2 = 0, cross = 0, next_projection = 0;
  double clamped = 0;  ///< Σ c²
  double inverse = 0;  ///< Σ 1/c², of the sweep with a known clamp only
};

}  // namespace smile::kernels::simd
#endif

HWY_BEFORE_NAMESPACE();
namespace smile::kernels::simd {
namespace HWY_NAMESPACE {

/// g, u, m, s² of one sweep, and what both kinds of sweep compute from a register of them.
template <class T, Centre kCentre>
struct ClosingInput {
  const T *gradient, *velocity, *mean, *variance;
  std::size_t size;
  InverseRoot<T> root_now;
  Estimator<T, kCentre> absorbed;

  struct Register {
    Vector<T> g, u, q, variance_next;
  };
  HWY_INLINE Register at(std::size_t i) const {
    const Tag<T> d;
    Register r;
    r.g = load_ahead(gradient + i);
    r.u = load_ahead(velocity + i);
    const auto v = load_ahead(variance + i);
    auto m = hn::Zero(d);
    if constexpr (Estimator<T, kCentre>::kUsesMean) m = load_ahead(mean + i);
    r.q = hn::Mul(r.g, root_now(v));
    r.variance_next = absorbed(r.g, m, v);
    return r;
  }
};

/// The sums with this step's ŝ, the same in both kinds of sweep.
template <class T>
struct NowSums {
  HWY_INLINE NowSums() {}
  ProductSum<T> norm2, projection, velocity;
  HWY_INLINE void add(const Wide<T>& q, const Wide<T>& u) {
    norm2.add(q, q);
    projection.add(u, q);
    velocity.add(u, u);
  }
  HWY_INLINE void write(ClosingTotals& totals) const {
    totals.now_norm2 = norm2.total();
    totals.now_projection = projection.total();
    totals.velocity_norm2 = velocity.total();
  }
};

/// Sums of r², q·r, u·r for some r.
template <class T>
struct CrossSums {
  HWY_INLINE CrossSums() {}
  ProductSum<T> norm2, cross, projection;
  HWY_INLINE void add(const Wide<T>& r, const Wide<T>& q, const Wide<T>& u) {
    norm2.add(r, r);
    cross.add(q, r);
    projection.add(u, r);
  }
};

/// One sweep with a clamp of s'² that is known beforehand.
template <class T, Centre kCentre>
ClosingTotals known_clamp_sweep(const ClosingInput<T, kCentre>& input, const Scaling& next) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d), whole = input.size / lanes * lanes;
  const InverseRoot<T> root_next(next);
  NowSums<T> now;
  CrossSums<T> then;
  DoubleSum<T> clamped, inverse;
  auto largest = hn::Zero(d);
  const auto end = covered<T>(input.size, 1);
  for (std::size_t i = 0; i < end;) {
    auto clamped_terms = hn::Zero(d), inverse_terms = hn::Zero(d);
    const std::size_t stop = std::min(end, i + kTermsPerFlush * lanes);
    for (; i < stop; i += lanes) {
      const auto r = input.at(i);
      largest = hn::Max(hn::Abs(r.g), largest);
      const Wide<T> q(r.q), u(r.u);
      now.add(q, u);
      auto c2 = root_next.clamp(r.variance_next);
      auto w = reciprocal_sqrt(d, c2);
      if (i >= whole) {  // the padding of s² counts in no sum
        const auto inside = hn::FirstN(d, input.size - whole);
        c2 = hn::IfThenElseZero(inside, c2);
        w = hn::IfThenElseZero(inside, w);
      }
      clamped_terms = hn::Add(clamped_terms, c2);
      inverse_terms = hn::MulAdd(w, w, inverse_terms);
      then.add(Wide<T>(hn::Mul(r.g, w)), q, u);
    }
    clamped.add(clamped_terms);
    inverse.add(inverse_terms);
  }
  ClosingTotals totals;
  now.write(totals);
  totals.largest = double(hn::GetLane(hn::MaxOfLanes(d, largest)));
  totals.next_norm2 = then.norm2.total();
  totals.cross = then.cross.total();
  totals.next_projection = then.projection.total();
  totals.clamped = clamped.total();
  totals.inverse = inverse.total();
  return totals;
}

/// The sweep that looks for the floor. Returns false where a second sweep is needed; `floor` is set in any
/// case.
template <class T, Centre kCentre>
bool bracket_sweep(const ClosingInput<T, kCentre>& input, double present_floor, double rate,
                   double relative_floor, ClosingTotals& totals, double& floor) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d), whole = input.size / lanes * lanes, end = covered<T>(input.size, 1);
  // The lower edge leaves room for rounding, the upper one for growth.
  const double low = (1 - rate) * present_floor * (1 - 1e-5), high = (1 + 8 * rate) * present_floor;
  const auto low_edge = hn::Set(d, T(low)), high_edge = hn::Set(d, T(high));
  const auto one = hn::Set(d, T{1}), zero = hn::Zero(d);
  auto& aside = set_aside_of_this_thread<T>(input.size);
  bool overflow = false;
  NowSums<T> now;
  CrossSums<T> above, below;
  DoubleSum<T> variance_above, variance_rest, count_above;
  auto largest = zero;
  for (std::size_t i = 0; i < end;) {
    auto variance_above_terms = zero, variance_rest_terms = zero, count_terms = zero;
    const std::size_t stop = std::min(end, i + kTermsPerFlush * lanes);
    for (; i < stop; i += lanes) {
      auto r = input.at(i);
      if (i >= whole)
        r.variance_next = hn::IfThenElseZero(hn::FirstN(d, input.size - whole), r.variance_next);
      largest = hn::Max(hn::Abs(r.g), largest);
      const Wide<T> q(r.q), u(r.u);
      now.add(q, u);
      const auto is_above = hn::Gt(r.variance_next, high_edge), is_below = hn::Lt(r.variance_next, low_edge);
      variance_above_terms = hn::Add(variance_above_terms, hn::IfThenElseZero(is_above, r.variance_next));
      variance_rest_terms = hn::Add(variance_rest_terms, hn::IfThenZeroElse(is_above, r.variance_next));
      count_terms = hn::Add(count_terms, hn::IfThenElseZero(is_above, one));
      const auto root = reciprocal_sqrt(d, hn::Max(r.variance_next, high_edge));
      above.add(Wide<T>(hn::IfThenElseZero(is_above, hn::Mul(r.g, root))), q, u);
      below.add(Wide<T>(hn::IfThenElseZero(is_below, r.g)), q, u);
      const auto decided = hn::Or(is_above, is_below);
      if (HWY_UNLIKELY(!hn::AllTrue(d, decided))) {
        if (aside.count + lanes > aside.capacity + aside.kSlack - lanes) {
          overflow = true;
          continue;
        }
        const auto inside = hn::Not(decided);
        const std::size_t at = aside.count;
        hn::CompressStore(r.variance_next, inside, d, aside.columns[0].data() + at);
        hn::CompressStore(r.g, inside, d, aside.columns[1].data() + at);
        hn::CompressStore(r.u, inside, d, aside.columns[2].data() + at);
        aside.count += hn::CompressStore(r.q, inside, d, aside.columns[3].data() + at);
      }
    }
    variance_above.add(variance_above_terms);
    variance_rest.add(variance_rest_terms);
    count_above.add(count_terms);
  }
  const double size = double(input.size), sum_above = variance_above.total();
  floor = relative_floor * relative_floor * (sum_above + variance_rest.total()) / size;
  if (overflow || !(floor >= low && floor <= high)) return false;

  // Those set aside, with the floor now known. Columns end in zeros up to a whole register.
  const std::size_t aside_end = covered<T>(aside.count, 1);
  for (auto& column : aside.columns) std::fill(column.data() + aside.count, column.data() + aside_end, T{0});
  CrossSums<T> inside;
  DoubleSum<T> excess;  // Σ max(s'² − f², 0)
  const auto f2 = hn::Set(d, std::max(T(floor), std::numeric_limits<T>::min()));
  for (std::size_t i = 0; i < aside_end;) {
    auto excess_terms = zero;
    const std::size_t stop = std::min(aside_end, i + kTermsPerFlush * lanes);
    for (; i < stop; i += lanes) {
      const auto c2 = hn::Max(hn::LoadU(d, aside.columns[0].data() + i), f2);
      excess_terms = hn::Add(excess_terms, hn::Sub(c2, f2));
      inside.add(Wide<T>(hn::Mul(hn::LoadU(d, aside.columns[1].data() + i), reciprocal_sqrt(d, c2))),
                 Wide<T>(hn::LoadU(d, aside.columns[3].data() + i)),
                 Wide<T>(hn::LoadU(d, aside.columns[2].data() + i)));
    }
    excess.add(excess_terms);
  }

  const double below_weight = floor > 0 ? 1 / floor : 0, root_weight = std::sqrt(below_weight);
  now.write(totals);
  totals.largest = double(hn::GetLane(hn::MaxOfLanes(d, largest)));
  totals.next_norm2 = above.norm2.total() + below.norm2.total() * below_weight + inside.norm2.total();
  totals.cross = above.cross.total() + below.cross.total() * root_weight + inside.cross.total();
  totals.next_projection =
      above.projection.total() + below.projection.total() * root_weight + inside.projection.total();
  totals.clamped = sum_above + (size - count_above.total()) * floor + excess.total();
  return true;
}

template <class T, Centre kCentre>
ClosingSums reduce_closing_with(const ClosingInput<T, kCentre>& input, const Scaling& now,
                                const MovingEstimate& estimate, Normalisation normalisation,
                                double relative_floor) {
  const double size = double(input.size);
  ClosingSums sums;
  ClosingTotals totals;
  if (normalisation == Normalisation::rms_floor) {
    if (!bracket_sweep(input, now.lower, estimate.rate, relative_floor, totals, sums.next.lower)) {
      sums.swept_twice = true;
      totals = known_clamp_sweep(input, sums.next);
    }
  } else {
    if (normalisation == Normalisation::rms_absolute) {
      sums.next.lower = 1e-4;
      sums.next.upper = 1e8;
    }
    totals = known_clamp_sweep(input, sums.next);
  }
  sums.next.factor =
      std::sqrt(normalisation == Normalisation::inverse_rms ? size / totals.inverse : totals.clamped / size);
  const double f = now.factor, f_next = sums.next.factor;
  sums.now.gradient_norm2 = f * f * totals.now_norm2;
  sums.now.projection = f * totals.now_projection;
  sums.now.velocity_norm2 = totals.velocity_norm2;
  sums.now.largest = totals.largest;
  sums.next_norm2 = f_next * f_next * totals.next_norm2;
  sums.cross = f * f_next * totals.cross;
  sums.next_projection = f_next * totals.next_projection;
  return sums;
}

template <class T>
ClosingSums reduce_closing(const HostVector<T>& gradient, const HostVector<T>& velocity,
                           const HostVector<T>* mean, const Metric<HostVector<T>>& metric,
                           const MovingEstimate& estimate, Normalisation normalisation,
                           double relative_floor) {
  if (normalisation ==
      Normalisation::half_reference)  // not foreseen in one sweep: IsokineticStep does not ask
    return reference::reduce_closing(gradient, velocity, mean, metric, estimate, normalisation,
                                     relative_floor);
  const ClosingSums sums = with_centre(estimate.centre, [&](auto centre) {
    constexpr Centre kCentre = decltype(centre)::value;
    const ClosingInput<T, kCentre> input{gradient.data(),
                                         velocity.data(),
                                         mean ? mean->data() : nullptr,
                                         metric.variance->data(),
                                         gradient.size(),
                                         InverseRoot<T>(metric.scaling),
                                         Estimator<T, kCentre>(estimate)};
    return reduce_closing_with<T, kCentre>(input, metric.scaling, estimate, normalisation, relative_floor);
  });
  // Non-finite entries, or squares outside the range of T: the plain form in double (see reduce).
  if (!squares_in_range<T>(sums.now, metric.scaling.factor) || !std::isfinite(sums.next_norm2))
    return reference::reduce_closing(gradient, velocity, mean, metric, estimate, normalisation,
                                     relative_floor);
  return sums;
}

SMILE_SIMD_TABLES(closing, ClosingTable, reduce_closing<T>)

}  // namespace HWY_NAMESPACE
}  // namespace smile::kernels::simd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace smile::kernels::simd {
SMILE_SIMD_EXPORT(closing, ClosingTable)
}  // namespace smile::kernels::simd
#endif

// SPDX-License-Identifier: Apache-2.0
// A number of every chain of a bundle, one chain a lane; several SIMD registers side by side. Included once
// in a source file that is compiled for one instruction set (ensemble/lanes).
#pragma once

#include <hwy/highway.h>

#include <cstddef>
#include <limits>

#include "hwy/contrib/math/math-inl.h"
#include "smile/refusal.hpp"

HWY_BEFORE_NAMESPACE();
namespace smile::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
/// Chains of a bundle, whatever the width of a register: enough of them hide the latency of divisions.
inline constexpr std::size_t kLanes = 32;
inline constexpr std::size_t kParts = kLanes / hn::MaxLanes(Doubles());

#define SMILE_EACH_PART \
  HWY_UNROLL(8)         \
  for (std::size_t p = 0; p < kParts; ++p)

/// A truth value of every chain.
struct LaneMask {
  hn::Mask<Doubles> part[kParts];

  LaneMask() = default;
  // Not forced inline: implicit constructors of structures, which call it, are compiled for the baseline.
  explicit LaneMask(bool value) {
    SMILE_EACH_PART part[p] = hn::FirstN(Doubles(), value ? hn::MaxLanes(Doubles()) : 0);
  }
};
HWY_INLINE LaneMask operator&&(const LaneMask& a, const LaneMask& b) {
  LaneMask r;
  SMILE_EACH_PART r.part[p] = hn::And(a.part[p], b.part[p]);
  return r;
}
HWY_INLINE LaneMask operator||(const LaneMask& a, const LaneMask& b) {
  LaneMask r;
  SMILE_EACH_PART r.part[p] = hn::Or(a.part[p], b.part[p]);
  return r;
}
HWY_INLINE LaneMask operator!(const LaneMask& a) {
  LaneMask r;
  SMILE_EACH_PART r.part[p] = hn::Not(a.part[p]);
  return r;
}
HWY_INLINE bool all(const LaneMask& a) {
  bool every = true;
  SMILE_EACH_PART every = every && hn::AllTrue(Doubles(), a.part[p]);
  return every;
}
HWY_INLINE bool any(const LaneMask& a) {
  bool none = true;
  SMILE_EACH_PART none = none && hn::AllFalse(Doubles(), a.part[p]);
  return !none;
}

/// The outcome of a step for every chain: which still stand, for which all was finite, and for which no
/// evaluation was at fault.
struct LaneRefusals {
  LaneMask standing, finite, evaluated;
  LaneRefusals() : standing(true), finite(true), evaluated(true) {}
};
HWY_INLINE LaneMask is_accepted(const LaneRefusals& refusals) {
  return refusals.standing;
}
HWY_INLINE LaneMask is_finite_step(const LaneRefusals& refusals) {
  return refusals.finite;
}
HWY_INLINE LaneMask is_evaluated(const LaneRefusals& refusals) {
  return refusals.evaluated;
}
HWY_INLINE bool require(LaneRefusals& refusals, const LaneMask& condition, Refusal why) {
  const LaneMask untouched = condition || !refusals.standing;
  if (!is_finite_step(why)) refusals.finite = refusals.finite && untouched;
  if (!is_evaluated(why)) refusals.evaluated = refusals.evaluated && untouched;
  refusals.standing = refusals.standing && condition;
  return any(refusals.standing);
}

struct LaneScalar {
  using Mask = LaneMask;
  using Refusals = LaneRefusals;
  hn::Vec<Doubles> part[kParts];

  LaneScalar() = default;
  LaneScalar(double value) { SMILE_EACH_PART part[p] = hn::Set(Doubles(), value); }
  /// The number of one chain.
  double at(std::size_t lane) const {
    HWY_ALIGN double values[kLanes];
    SMILE_EACH_PART hn::Store(part[p], Doubles(), values + p * hn::MaxLanes(Doubles()));
    return values[lane];
  }
  /// From the numbers of all chains.
  static LaneScalar of(const double* values) {
    LaneScalar r;
    SMILE_EACH_PART r.part[p] = hn::LoadU(Doubles(), values + p * hn::MaxLanes(Doubles()));
    return r;
  }
  HWY_INLINE LaneScalar& operator+=(const LaneScalar& b);
  HWY_INLINE LaneScalar& operator-=(const LaneScalar& b);
  HWY_INLINE LaneScalar& operator*=(const LaneScalar& b);
};

#define SMILE_LANE_OPERATOR(symbol, Operation)                                      \
  HWY_INLINE LaneScalar operator symbol(const LaneScalar& a, const LaneScalar& b) { \
    LaneScalar r;                                                                   \
    SMILE_EACH_PART r.part[p] = hn::Operation(a.part[p], b.part[p]);                \
    return r;                                                                       \
  }
#define SMILE_LANE_COMPARISON(symbol, Operation)                                  \
  HWY_INLINE LaneMask operator symbol(const LaneScalar& a, const LaneScalar& b) { \
    LaneMask r;                                                                   \
    SMILE_EACH_PART r.part[p] = hn::Operation(a.part[p], b.part[p]);              \
    return r;                                                                     \
  }
#define SMILE_LANE_FUNCTION(name, expression)       \
  HWY_INLINE LaneScalar name(const LaneScalar& a) { \
    const Doubles d;                                \
    LaneScalar r;                                   \
    SMILE_EACH_PART {                               \
      const auto x = a.part[p];                     \
      r.part[p] = expression;                       \
    }                                               \
    (void)d;                                        \
    return r;                                       \
  }
SMILE_LANE_OPERATOR(+, Add)
SMILE_LANE_OPERATOR(-, Sub)
SMILE_LANE_OPERATOR(*, Mul)
SMILE_LANE_OPERATOR(/, Div)
SMILE_LANE_COMPARISON(<, Lt)
SMILE_LANE_COMPARISON(<=, Le)
SMILE_LANE_COMPARISON(>, Gt)
SMILE_LANE_COMPARISON(>=, Ge)
SMILE_LANE_COMPARISON(==, Eq)
SMILE_LANE_FUNCTION(operator-, hn::Neg(x))
SMILE_LANE_FUNCTION(sqrt, hn::Sqrt(x))
SMILE_LANE_FUNCTION(fabs, hn::Abs(x))
SMILE_LANE_FUNCTION(exp, hn::Exp(d, x))
SMILE_LANE_FUNCTION(expm1, hn::Expm1(d, x))
SMILE_LANE_FUNCTION(log, hn::Log(d, x))
SMILE_LANE_FUNCTION(log1p, hn::Log1p(d, x))
#undef SMILE_LANE_OPERATOR
#undef SMILE_LANE_COMPARISON
#undef SMILE_LANE_FUNCTION

HWY_INLINE LaneScalar& LaneScalar::operator+=(const LaneScalar& b) {
  return *this = *this + b;
}
HWY_INLINE LaneScalar& LaneScalar::operator-=(const LaneScalar& b) {
  return *this = *this - b;
}
HWY_INLINE LaneScalar& LaneScalar::operator*=(const LaneScalar& b) {
  return *this = *this * b;
}
HWY_INLINE LaneScalar max(const LaneScalar& a, const LaneScalar& b) {
  LaneScalar r;
  SMILE_EACH_PART r.part[p] = hn::Max(a.part[p], b.part[p]);
  return r;
}
HWY_INLINE LaneScalar min(const LaneScalar& a, const LaneScalar& b) {
  LaneScalar r;
  SMILE_EACH_PART r.part[p] = hn::Min(a.part[p], b.part[p]);
  return r;
}
HWY_INLINE LaneScalar select(const LaneMask& condition, const LaneScalar& yes, const LaneScalar& no) {
  LaneScalar r;
  SMILE_EACH_PART r.part[p] = hn::IfThenElse(condition.part[p], yes.part[p], no.part[p]);
  return r;
}
/// a/√x for x from 1e−37 to 1e37, to a few units in the last place: from an estimate in single precision by a
/// step of Newton and one of third order. A tenth of the time of a root and a division.
HWY_INLINE LaneScalar over_root(const LaneScalar& a, const LaneScalar& x) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  return a / sqrt(x);
#else
  const Doubles d;
  const hn::Rebind<float, Doubles> half_width;
  const auto one = hn::Set(d, 1.0), half = hn::Set(d, 0.5), third = hn::Set(d, 0.375);
  LaneScalar r;
  SMILE_EACH_PART {
    const auto v = x.part[p];
    auto y = hn::PromoteTo(d, hn::ApproximateReciprocalSqrt(hn::DemoteTo(half_width, v)));
    auto h = hn::NegMulAdd(hn::Mul(v, y), y, one);
    y = hn::MulAdd(hn::Mul(y, h), half, y);
    h = hn::NegMulAdd(hn::Mul(v, y), y, one);
    y = hn::MulAdd(hn::Mul(y, h), hn::MulAdd(third, h, half), y);
    r.part[p] = hn::Mul(a.part[p], y);
  }
  return r;
#endif
}
HWY_INLINE LaneMask isfinite(const LaneScalar& a) {
  return fabs(a) <= LaneScalar(std::numeric_limits<double>::max());
}

}  // namespace smile::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

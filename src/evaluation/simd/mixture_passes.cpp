// SPDX-License-Identifier: Apache-2.0
// The sums for every instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "evaluation/simd/mixture_passes.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "evaluation/mixture_passes.hpp"
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "smile/instruction_set.hpp"
#include "smile/targets/task_likelihood.hpp"

HWY_BEFORE_NAMESPACE();
namespace smile::evaluation {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
using Vec = hn::Vec<Doubles>;
constexpr Doubles kDoubles;

HWY_INLINE Vec load(const float* from) {
  return hn::PromoteTo(kDoubles, hn::LoadU(hn::Rebind<float, Doubles>(), from));
}

/// exp(a²/2)·Q(a)·(a + k) as a polynomial in t = (a − k)/(a + k), k = 3.75; Q is the upper tail of the
/// standard normal. Our own fit (Chebyshev, 22 terms): 5e−16 for all a ≥ 0.
constexpr double kCentre = 3.75;
constexpr double kTail[] = {
    0.750294072265899,     -0.5881884178362853,     0.35293985747810575,     -0.15151686542627116,
    0.03748932541775392,   0.0011683519539980216,   -0.004162868240337031,   0.0006099110804409553,
    0.0004698237707176271, -0.00011721144314314864, -7.007563151779358e-05,  1.707191280598671e-05,
    1.33091351379831e-05,  -1.6591470452352947e-06, -2.7665213523104194e-06, -1.4217905718768428e-07,
    5.37112986150442e-07,  1.339408531282705e-07,   -8.150164187010326e-08,  -3.7231523747618056e-08,
    6.914965219745425e-09, 4.5759443036149285e-09};
constexpr int kTerms = sizeof kTail / sizeof kTail[0];
/// The same with 11 terms: 1.6e−8.
constexpr float kShortTail[] = {0.7502940688f,  -0.5881882873f, 0.3529401109f,  -0.1515195167f,
                                0.0374862921f,  0.0011835405f,  -0.0041494160f, 0.0005739524f,
                                0.00044213377f, -7.847976e-05f, -4.205258e-05f};
constexpr int kShortTerms = sizeof kShortTail / sizeof kShortTail[0];

struct Sums {
  Vec probability, density, slope;

  HWY_INLINE Sums() {
    probability = hn::Zero(kDoubles);
    density = hn::Zero(kDoubles);
    slope = hn::Zero(kDoubles);
  }

  HWY_INLINE void add(Vec mean, Vec sd, Vec y) {
    const Vec one = hn::Set(kDoubles, 1.0);
    const Vec inverse = hn::Div(one, sd), z = hn::Mul(hn::Sub(y, mean), inverse);
    const Vec a = hn::Abs(z), e = hn::Exp(kDoubles, hn::Mul(hn::Mul(z, z), hn::Set(kDoubles, -0.5)));
    const Vec r = hn::Div(one, hn::Add(a, hn::Set(kDoubles, kCentre)));
    const Vec t = hn::NegMulAdd(hn::Set(kDoubles, 2 * kCentre), r, one);
    // Even and odd powers by themselves: two chains of half the length.
    const Vec t2 = hn::Mul(t, t);
    Vec even = hn::Set(kDoubles, kTail[kTerms - 2]), odd = hn::Set(kDoubles, kTail[kTerms - 1]);
    for (int k = kTerms - 4; k >= 0; k -= 2) {
      even = hn::MulAdd(even, t2, hn::Set(kDoubles, kTail[k]));
      odd = hn::MulAdd(odd, t2, hn::Set(kDoubles, kTail[k + 1]));
    }
    const Vec tail = hn::Mul(hn::Mul(e, r), hn::MulAdd(odd, t, even));
    probability =
        hn::Add(probability, hn::IfThenElse(hn::Lt(z, hn::Zero(kDoubles)), tail, hn::Sub(one, tail)));
    const Vec f = hn::Mul(e, inverse);
    density = hn::Add(density, f);
    slope = hn::NegMulAdd(hn::Mul(f, inverse), z, slope);
  }
};

MixtureAt at(const NormalMixture& mixture, double y) {
  const float *means = mixture.means.data(), *sds = mixture.sds.data();
  const std::size_t count = mixture.means.size(), lanes = hn::Lanes(kDoubles);
  Sums sums;
  std::size_t s = 0;
  for (; s + lanes <= count; s += lanes) sums.add(load(means + s), load(sds + s), hn::Set(kDoubles, y));
  MixtureAt out{hn::GetLane(hn::SumOfLanes(kDoubles, sums.probability)),
                hn::GetLane(hn::SumOfLanes(kDoubles, sums.density)),
                hn::GetLane(hn::SumOfLanes(kDoubles, sums.slope))};
  for (; s < count; ++s) {  // the last few, a lane each
    Sums last;
    last.add(hn::Set(kDoubles, double(means[s])), hn::Set(kDoubles, double(sds[s])), hn::Set(kDoubles, y));
    out.probability += hn::GetLane(last.probability);
    out.density += hn::GetLane(last.density);
    out.slope += hn::GetLane(last.slope);
  }
  const double n = double(count), root = std::sqrt(2 * std::numbers::pi);
  return {out.probability / n, out.density / (n * root), out.slope / (n * root)};
}

/// Single precision: F, f and f' of a few components at y = near + rest.
using Floats = hn::ScalableTag<float>;
using Float = hn::Vec<Floats>;
constexpr Floats kFloats;

struct NearSums {
  Float probability, density, slope;

  HWY_INLINE NearSums() {
    probability = hn::Zero(kFloats);
    density = hn::Zero(kFloats);
    slope = hn::Zero(kFloats);
  }
  /// By two of Newton's steps from the machine's guess of 12 bits or more. @param x  a normal number > 0
  static HWY_INLINE Float reciprocal(Float x) {
    const Float two = hn::Set(kFloats, 2.0f);
    Float r = hn::ApproximateReciprocal(x);
    r = hn::Mul(r, hn::NegMulAdd(x, r, two));
    return hn::Mul(r, hn::NegMulAdd(x, r, two));
  }
  HWY_INLINE void add(Float mean, Float sd, Float near, Float rest) {
    const Float one = hn::Set(kFloats, 1.0f), inverse = reciprocal(sd);
    const Float z = hn::Mul(hn::Add(hn::Sub(near, mean), rest), inverse);
    const Float a = hn::Abs(z), e = hn::Exp(kFloats, hn::Mul(hn::Mul(z, z), hn::Set(kFloats, -0.5f)));
    const Float r = reciprocal(hn::Add(a, hn::Set(kFloats, float(kCentre))));
    const Float t = hn::NegMulAdd(hn::Set(kFloats, float(2 * kCentre)), r, one), t2 = hn::Mul(t, t);
    Float even = hn::Set(kFloats, kShortTail[kShortTerms - 1]),
          odd = hn::Set(kFloats, kShortTail[kShortTerms - 2]);
    for (int k = kShortTerms - 3; k >= 2; k -= 2) {
      even = hn::MulAdd(even, t2, hn::Set(kFloats, kShortTail[k]));
      odd = hn::MulAdd(odd, t2, hn::Set(kFloats, kShortTail[k - 1]));
    }
    even = hn::MulAdd(even, t2, hn::Set(kFloats, kShortTail[0]));
    const Float tail = hn::Mul(hn::Mul(e, r), hn::MulAdd(odd, t, even));
    probability =
        hn::Add(probability, hn::IfThenElse(hn::Lt(z, hn::Zero(kFloats)), tail, hn::Sub(one, tail)));
    const Float f = hn::Mul(e, inverse);
    density = hn::Add(density, f);
    slope = hn::NegMulAdd(hn::Mul(f, inverse), z, slope);
  }
};

HWY_INLINE double sum_of(Float v) {
  HWY_ALIGN float lanes[hn::MaxLanes(kFloats)];
  hn::Store(v, kFloats, lanes);
  double sum = 0;
  for (std::size_t i = 0; i < hn::Lanes(kFloats); ++i) sum += double(lanes[i]);
  return sum;
}

MixtureAt near(const NormalMixture& mixture, double y) {
  const float *means = mixture.means.data(), *sds = mixture.sds.data();
  const std::size_t count = mixture.means.size(), lanes = hn::Lanes(kFloats);
  const float first = float(y);
  const Float at_float = hn::Set(kFloats, first), rest = hn::Set(kFloats, float(y - double(first)));
  // Few enough additions in single precision that their rounding does not count.
  constexpr std::size_t kBlock = 16;
  MixtureAt out;
  std::size_t s = 0;
  while (s + lanes <= count) {
    NearSums sums;
    for (std::size_t k = 0; k < kBlock && s + lanes <= count; ++k, s += lanes)
      sums.add(hn::LoadU(kFloats, means + s), hn::LoadU(kFloats, sds + s), at_float, rest);
    out.probability += sum_of(sums.probability);
    out.density += sum_of(sums.density);
    out.slope += sum_of(sums.slope);
  }
  for (; s < count; ++s) {
    NearSums last;
    last.add(hn::Set(kFloats, means[s]), hn::Set(kFloats, sds[s]), at_float, rest);
    out.probability += double(hn::GetLane(last.probability));
    out.density += double(hn::GetLane(last.density));
    out.slope += double(hn::GetLane(last.slope));
  }
  const double n = double(count), root = std::sqrt(2 * std::numbers::pi);
  return {out.probability / n, out.density / (n * root), out.slope / (n * root)};
}

ComponentQuantiles quantiles(const NormalMixture& mixture, double z) {
  const float *means = mixture.means.data(), *sds = mixture.sds.data();
  const std::size_t count = mixture.means.size(), lanes = hn::Lanes(kDoubles);
  const double infinity = std::numeric_limits<double>::infinity();
  Vec low = hn::Set(kDoubles, infinity), high = hn::Set(kDoubles, -infinity), sum = hn::Zero(kDoubles),
      sd = low;
  std::size_t s = 0;
  for (; s + lanes <= count; s += lanes) {
    const Vec spread = load(sds + s);
    const Vec own = hn::MulAdd(hn::Set(kDoubles, z), spread, load(means + s));
    low = hn::Min(low, own);
    high = hn::Max(high, own);
    sd = hn::Min(sd, spread);
    sum = hn::Add(sum, own);
  }
  ComponentQuantiles out{
      hn::GetLane(hn::MinOfLanes(kDoubles, low)), hn::GetLane(hn::MaxOfLanes(kDoubles, high)),
      hn::GetLane(hn::SumOfLanes(kDoubles, sum)), hn::GetLane(hn::MinOfLanes(kDoubles, sd))};
  for (; s < count; ++s) {
    const double own = double(means[s]) + z * double(sds[s]);
    out.lowest = std::min(out.lowest, own);
    out.highest = std::max(out.highest, own);
    out.smallest_sd = std::min(out.smallest_sd, double(sds[s]));
    out.mean += own;
  }
  out.mean /= double(count);  // NaN where any is, whatever minimum and maximum made of it
  return out;
}

MixtureMoments moments(const NormalMixture& mixture) {
  const float *means = mixture.means.data(), *sds = mixture.sds.data();
  const std::size_t count = mixture.means.size(), lanes = hn::Lanes(kDoubles);
  if (count == 0) return {};
  // About the first: a common size cancels nowhere.
  const double first = double(means[0]);
  Vec sum = hn::Zero(kDoubles), squares = sum, noise = sum;
  std::size_t s = 0;
  for (; s + lanes <= count; s += lanes) {
    const Vec off = hn::Sub(load(means + s), hn::Set(kDoubles, first)), sd = load(sds + s);
    sum = hn::Add(sum, off);
    squares = hn::MulAdd(off, off, squares);
    noise = hn::MulAdd(sd, sd, noise);
  }
  double total = hn::GetLane(hn::SumOfLanes(kDoubles, sum)),
         square = hn::GetLane(hn::SumOfLanes(kDoubles, squares)),
         variance = hn::GetLane(hn::SumOfLanes(kDoubles, noise));
  for (; s < count; ++s) {
    const double off = double(means[s]) - first;
    total += off;
    square += off * off;
    variance += double(sds[s]) * double(sds[s]);
  }
  const double n = double(count), shift = total / n;
  const double spread = square / n - shift * shift;
  return {first + shift, spread < 0 ? 0 : spread, variance / n};  // NaN passes
}

void sigmas(std::span<float> values) {
  const hn::Rebind<float, Doubles> floats;
  const std::size_t lanes = hn::Lanes(kDoubles);
  // As clipped_sigma(): NaN passes. e^30 is beyond the largest σ, e^−30 below the smallest.
  const auto sigma = [&](Vec log_sigma) HWY_ATTR {
    const Vec limit = hn::Set(kDoubles, 30.0);
    const Vec inside = hn::Min(hn::Max(log_sigma, hn::Neg(limit)), limit);
    const Vec clipped = hn::Min(hn::Max(hn::Exp(kDoubles, inside), hn::Set(kDoubles, kSigmaMin)),
                                hn::Set(kDoubles, kSigmaMax));
    return hn::IfThenElse(hn::IsNaN(log_sigma), log_sigma, clipped);
  };
  std::size_t s = 0;
  for (; s + lanes <= values.size(); s += lanes)
    hn::StoreU(hn::DemoteTo(floats, sigma(load(values.data() + s))), floats, values.data() + s);
  for (; s < values.size(); ++s) values[s] = float(hn::GetLane(sigma(hn::Set(kDoubles, double(values[s])))));
}

}  // namespace HWY_NAMESPACE
}  // namespace smile::evaluation
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace smile::evaluation {

HWY_EXPORT(at);
HWY_EXPORT(near);
HWY_EXPORT(quantiles);
HWY_EXPORT(moments);
HWY_EXPORT(sigmas);

MixtureAt mixture_at(const NormalMixture& mixture, double y) {
  apply_simd_environment();
  return HWY_DYNAMIC_DISPATCH(at)(mixture, y);
}
MixtureAt mixture_near(const NormalMixture& mixture, double y) {
  apply_simd_environment();
  return HWY_DYNAMIC_DISPATCH(near)(mixture, y);
}
ComponentQuantiles component_quantiles(const NormalMixture& mixture, double z) {
  apply_simd_environment();
  return HWY_DYNAMIC_DISPATCH(quantiles)(mixture, z);
}
MixtureMoments mixture_moments(const NormalMixture& mixture) {
  apply_simd_environment();
  return HWY_DYNAMIC_DISPATCH(moments)(mixture);
}

void sigmas_of(std::span<float> log_sigmas) {
  apply_simd_environment();
  HWY_DYNAMIC_DISPATCH(sigmas)(log_sigmas);
}

}  // namespace smile::evaluation
#endif

// SPDX-License-Identifier: Apache-2.0
/// Activations on vectors of pre-activations. Each is a class with
///     value(a, derivative)          h = f(a); also f′(a) where kKeepsDerivative
///     delta(h, derivative, g)       g·f′(a), from h alone unless kKeepsDerivative
/// so that a layer keeps one number a unit for the backward pass, or two where h doesn't determine f′.
/// The approximations are our own fits (weighted least squares, reweighted towards the largest error).
/// @source spec 2.1 for the conventions: relu′(0) = 0, leaky slope 0.01 also at 0, exact gelu
#if defined(SMILE_NETWORK_SIMD_ACTIVATIONS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef SMILE_NETWORK_SIMD_ACTIVATIONS_INL_HPP
#undef SMILE_NETWORK_SIMD_ACTIVATIONS_INL_HPP
#else
#define SMILE_NETWORK_SIMD_ACTIVATIONS_INL_HPP
#endif

#include "hwy/highway.h"
#include "network/simd/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace smile::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// 1/x for x ≥ 1 of ordinary size, to about 1 ulp.
HWY_INLINE Vec reciprocal(Vec x) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  // A 14-bit estimate and one Newton step: a division would hold up the multiplication units longer.
  const Vec estimate = hn::ApproximateReciprocal(x);
  return hn::Mul(estimate, hn::NegMulAdd(x, estimate, broadcast(2.0f)));
#else
  return hn::Div(broadcast(1.0f), x);
#endif
}

/// 2^y for y ≤ 0, flushed to about 2^−126 below; NaN passes.
/// @accuracy 2 ulp of the result for the y given
HWY_INLINE Vec exp2_nonpositive(Vec y) {
  const hn::RebindToSigned<Floats> ints;
  y = at_least(broadcast(-126.0f), y);
  // Adding 1.5·2²³ rounds y to an integer n and leaves n in the lowest bits of the sum.
  const Vec shifter = broadcast(12582912.0f);
  const Vec shifted = hn::Add(y, shifter);
  const Vec f = hn::Sub(y, hn::Sub(shifted, shifter));
  // 2^f on [−½, ½], relative error 2e−9.
  Vec p = hn::MulAdd(f, broadcast(1.5353362e-4f), broadcast(1.3398875e-3f));
  p = hn::MulAdd(p, f, broadcast(9.6184374e-3f));
  p = hn::MulAdd(p, f, broadcast(5.5503325e-2f));
  p = hn::MulAdd(p, f, broadcast(2.4022648e-1f));
  p = hn::MulAdd(p, f, broadcast(6.9314720e-1f));
  p = hn::MulAdd(p, f, broadcast(1.0f));
  // n is added to the exponent of p, which is in [1/√2, √2].
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(ints, shifted));
  return hn::BitCast(kFloats, hn::Add(hn::BitCast(ints, p), exponent));
}

/// e^x for x ≤ 0 (with the usual error of x·log₂e: |x|·6e−8 relative).
HWY_INLINE Vec exp_nonpositive(Vec x) {
  return exp2_nonpositive(hn::Mul(x, broadcast(1.44269504f)));
}

struct Relu {
  static constexpr bool kKeepsDerivative = false;
  static HWY_INLINE Vec value(Vec a, Vec& /*derivative*/) { return at_least(hn::Zero(kFloats), a); }
  static HWY_INLINE Vec delta(Vec h, Vec /*derivative*/, Vec g) {
    return hn::IfThenElseZero(hn::Gt(h, hn::Zero(kFloats)), g);
  }
};

struct LeakyRelu {
  static constexpr bool kKeepsDerivative = false;
  static constexpr float kSlope = 0.01f;
  static HWY_INLINE Vec value(Vec a, Vec& /*derivative*/) {
    return hn::IfThenElse(hn::Gt(a, hn::Zero(kFloats)), a, hn::Mul(a, broadcast(kSlope)));
  }
  static HWY_INLINE Vec delta(Vec h, Vec /*derivative*/, Vec g) {
    return hn::IfThenElse(hn::Gt(h, hn::Zero(kFloats)), g, hn::Mul(g, broadcast(kSlope)));
  }
};

struct Identity {
  static constexpr bool kKeepsDerivative = false;
  static HWY_INLINE Vec value(Vec a, Vec& /*derivative*/) { return a; }
  static HWY_INLINE Vec delta(Vec /*h*/, Vec /*derivative*/, Vec g) { return g; }
};

/// @accuracy 3 ulp; |tanh| may exceed 1 by one ulp
struct Tanh {
  static constexpr bool kKeepsDerivative = false;
  static HWY_INLINE Vec value(Vec a, Vec& /*derivative*/) {
    // x·P(x²)/Q(x²), relative error 2.1e−8 on [0, 9.02]; beyond, tanh is 1 in single precision.
    const Vec x = at_least(broadcast(-9.02f), at_most(broadcast(9.02f), a));
    const Vec t = hn::Mul(x, x);
    Vec p = hn::MulAdd(t, broadcast(1.3318899104e-8f), broadcast(2.0583354073e-5f));
    Vec q = hn::MulAdd(t, broadcast(7.7619475336e-7f), broadcast(3.2830800304e-4f));
    p = hn::MulAdd(p, t, broadcast(3.4940267198e-3f));
    q = hn::MulAdd(q, t, broadcast(2.5871043419e-2f));
    p = hn::MulAdd(p, t, broadcast(1.3379711362e-1f));
    q = hn::MulAdd(q, t, broadcast(4.6713027607e-1f));
    p = hn::MulAdd(p, t, broadcast(9.9999997904e-1f));
    q = hn::MulAdd(q, t, broadcast(1.0f));
    return hn::Mul(hn::Mul(x, p), reciprocal(q));
  }
  static HWY_INLINE Vec delta(Vec h, Vec /*derivative*/, Vec g) {
    return hn::Mul(g, hn::NegMulAdd(h, h, broadcast(1.0f)));
  }
};

/// @accuracy |error| ≤ 2e−7·sigmoid
struct Sigmoid {
  static constexpr bool kKeepsDerivative = false;
  static HWY_INLINE Vec value(Vec a, Vec& /*derivative*/) {
    // With e = exp(−|a|): 1/(1+e) for a ≥ 0 and e/(1+e) below, so that nothing overflows and small values are
    // exact.
    const Vec e = exp_nonpositive(hn::Neg(hn::Abs(a)));
    const Vec one = broadcast(1.0f);
    const Vec numerator = hn::IfThenElse(hn::Lt(a, hn::Zero(kFloats)), e, one);
    return hn::Mul(numerator, reciprocal(hn::Add(one, e)));
  }
  static HWY_INLINE Vec delta(Vec h, Vec /*derivative*/, Vec g) { return hn::Mul(g, hn::NegMulAdd(h, h, h)); }
};

/// a·Φ(a), with derivative Φ(a) + a·φ(a).
/// @accuracy Φ to 1e−7 absolute
struct Gelu {
  static constexpr bool kKeepsDerivative = true;
  static HWY_INLINE Vec value(Vec a, Vec& derivative) {
    const Vec x = hn::Abs(a);
    // e = exp(−a²/2). The rounding of a² costs relative accuracy only where e is negligible.
    const Vec e = exp2_nonpositive(hn::Mul(hn::Mul(a, a), broadcast(-0.72134752f)));
    // Φ(−x) = e·R(t), t = 1/(1 + 0.28 x), R a polynomial: the form of Abramowitz & Stegun 7.1.26, refitted
    // with one term more; absolute error 3.3e−8·exp(−x²/8).
    const Vec t = reciprocal(hn::MulAdd(x, broadcast(0.28f), broadcast(1.0f)));
    Vec r = hn::MulAdd(t, broadcast(-0.10685968299566251f), broadcast(0.3942394808677005f));
    r = hn::MulAdd(r, t, broadcast(-0.24419917901587845f));
    r = hn::MulAdd(r, t, broadcast(0.27481912340398074f));
    r = hn::MulAdd(r, t, broadcast(0.06509010578072949f));
    r = hn::MulAdd(r, t, broadcast(0.11691013546336204f));
    const Vec tail = hn::Mul(hn::Mul(r, t), e);
    const Vec cdf = hn::IfThenElse(hn::Lt(a, hn::Zero(kFloats)), tail, hn::Sub(broadcast(1.0f), tail));
    derivative = hn::MulAdd(hn::Mul(a, e), broadcast(0.39894228f), cdf);
    return hn::Mul(a, cdf);
  }
  static HWY_INLINE Vec delta(Vec /*h*/, Vec derivative, Vec g) { return hn::Mul(g, derivative); }
};

}  // namespace smile::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

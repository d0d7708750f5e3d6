// SPDX-License-Identifier: Apache-2.0
// Box–Muller in single precision for a register of words.
#if defined(SMILE_RANDOM_SIMD_BOX_MULLER_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SMILE_RANDOM_SIMD_BOX_MULLER_INL
#undef SMILE_RANDOM_SIMD_BOX_MULLER_INL
#else
#define SMILE_RANDOM_SIMD_BOX_MULLER_INL
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace smile::random_detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// −2 ln u with u = (⌊word/2⌋ + ½)·2⁻³¹, relative error below 3e-7 everywhere.
/// u = 2^e (1 + f) with 1 + f in [√½, √2); ln(1 + f) = f − f²/2 + f³ P(f), P a minimax polynomial (relative
/// error of the whole 3.2e-8). Where e = 0, f comes from the distance to 2³¹, an integer, so that it keeps
/// its digits.
template <class D32, class DF, class V32>
HWY_INLINE hn::Vec<DF> minus_two_log(D32 du, DF df, V32 word) {
  const hn::RebindToSigned<D32> di;
  const auto half = hn::Set(df, 0.5f), scale = hn::Set(df, 0x1p-31f);
  const auto k = hn::ShiftRight<1>(word);
  const auto u = hn::Mul(hn::Add(hn::ConvertTo(df, hn::BitCast(di, k)), half), scale);
  const auto distance = hn::BitCast(di, hn::Or(k, hn::Set(du, 0x80000000u)));  // k − 2³¹
  const auto f_near_one = hn::Mul(hn::Add(hn::ConvertTo(df, distance), half), scale);

  const auto bits = hn::BitCast(di, u), root_half = hn::Set(di, 0x3f3504f3);  // bits of √½
  const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, root_half));
  const auto e = hn::ConvertTo(df, exponent);
  const auto significand = hn::BitCast(df, hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
  const auto f = hn::IfThenElse(hn::Eq(e, hn::Zero(df)), f_near_one, hn::Sub(significand, hn::Set(df, 1.0f)));

  auto p = hn::Set(df, 0.0870151624f);
  p = hn::MulAdd(p, f, hn::Set(df, -0.142668910f));
  p = hn::MulAdd(p, f, hn::Set(df, 0.149140844f));
  p = hn::MulAdd(p, f, hn::Set(df, -0.165776429f));
  p = hn::MulAdd(p, f, hn::Set(df, 0.199631429f));
  p = hn::MulAdd(p, f, hn::Set(df, -0.250013360f));
  p = hn::MulAdd(p, f, hn::Set(df, 0.333339083f));
  // −2 ln(1 + f) = −2 f + f² (1 − 2 f P)
  const auto minus_two_f = hn::Mul(hn::Set(df, -2.0f), f);
  const auto tail = hn::Mul(hn::Mul(f, f), hn::MulAdd(minus_two_f, p, hn::Set(df, 1.0f)));
  return hn::MulAdd(e, hn::Set(df, -1.38629436f), hn::Add(minus_two_f, tail));
}

/// cos and sin of 2π·word·2⁻³², absolute error below 2e-7. The two top bits (rounded) name the quarter turn,
/// the signed rest, at most an eighth of a turn, goes into minimax polynomials.
template <class D32, class DF, class V32>
HWY_INLINE void cos_sin_of_turn(D32 du, DF df, V32 word, hn::Vec<DF>& cosine, hn::Vec<DF>& sine) {
  const hn::RebindToSigned<D32> di;
  const auto quarter = hn::ShiftRight<30>(hn::Add(word, hn::Set(du, 1u << 29)));
  const auto rest = hn::Sub(word, hn::ShiftLeft<30>(quarter));
  const auto r = hn::Mul(hn::ConvertTo(df, hn::BitCast(di, rest)), hn::Set(df, 0x1p-32f));
  const auto r2 = hn::Mul(r, r);
  auto s = hn::Set(df, -75.3935628f);
  s = hn::MulAdd(s, r2, hn::Set(df, 81.5923536f));
  s = hn::MulAdd(s, r2, hn::Set(df, -41.3416615f));
  s = hn::Mul(hn::MulAdd(s, r2, hn::Set(df, 6.28318529f)), r);
  auto c = hn::Set(df, 59.2460051f);
  c = hn::MulAdd(c, r2, hn::Set(df, -85.4437430f));
  c = hn::MulAdd(c, r2, hn::Set(df, 64.9393265f));
  c = hn::MulAdd(c, r2, hn::Set(df, -19.7392087f));
  c = hn::MulAdd(c, r2, hn::Set(df, 1.0f));

  const auto odd = hn::RebindMask(df, hn::TestBit(quarter, hn::Set(du, 1u)));
  // The cosine is negative in quarters 1 and 2, the sine in 2 and 3: bit 1 of quarter + 1 and of quarter.
  const auto two = hn::Set(du, 2u);
  const auto cosine_sign = hn::ShiftLeft<30>(hn::And(hn::Add(quarter, hn::Set(du, 1u)), two));
  const auto sine_sign = hn::ShiftLeft<30>(hn::And(quarter, two));
  cosine = hn::Xor(hn::IfThenElse(odd, s, c), hn::BitCast(df, cosine_sign));
  sine = hn::Xor(hn::IfThenElse(odd, c, s), hn::BitCast(df, sine_sign));
}

}  // namespace HWY_NAMESPACE
}  // namespace smile::random_detail
HWY_AFTER_NAMESPACE();
#endif

// SPDX-License-Identifier: Apache-2.0
// Philox4x32-10 for a register of counters. Included once for every instruction set, hence the guard that
// flips.
#if defined(SMILE_RANDOM_SIMD_PHILOX_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef SMILE_RANDOM_SIMD_PHILOX_INL
#undef SMILE_RANDOM_SIMD_PHILOX_INL
#else
#define SMILE_RANDOM_SIMD_PHILOX_INL
#endif

#include <hwy/highway.h>

#include <cstddef>

#include "random/philox.hpp"

HWY_BEFORE_NAMESPACE();
namespace smile::random_detail {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// 32-bit words in the low halves of 64-bit lanes, where the widening multiplication reads them and leaves
/// its product. The high halves hold anything.
template <class D64>
struct WideWords {
  hn::Vec<D64> w0, w1, w2, w3;
};

/// The blocks counted by the low halves of `blocks`, with the second word of the counter in the low halves of
/// `names`. Two multiplications and a handful of logic for each round.
template <class D64, class V = hn::Vec<D64>>
HWY_INLINE WideWords<D64> philox_rounds(D64 d, const PhiloxStart& start, V blocks, V names) {
  const hn::Repartition<std::uint32_t, D64> d32;
  const auto wide_product = [d32](V a, V b)
                                HWY_ATTR { return hn::MulEven(hn::BitCast(d32, a), hn::BitCast(d32, b)); };
  const V m0 = hn::Set(d, PHILOX_M4x32_0), m1 = hn::Set(d, PHILOX_M4x32_1);
  V x0 = blocks, x1 = names, x2 = hn::Set(d, start.counter[2]), x3 = hn::Set(d, start.counter[3]);
  std::uint32_t key0 = start.key[0], key1 = start.key[1];
  for (int round = 0; round < PHILOX4x32_DEFAULT_ROUNDS; ++round) {
    const V p0 = wide_product(x0, m0), p1 = wide_product(x2, m1);
    x0 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p1), x1), hn::Set(d, key0));
    x2 = hn::Xor(hn::Xor(hn::ShiftRight<32>(p0), x3), hn::Set(d, key1));
    x1 = p1;
    x3 = p0;
    key0 += PHILOX_W32_0;
    key1 += PHILOX_W32_1;
  }
  return {x0, x1, x2, x3};
}

/// The same with one name for all.
template <class D64, class V = hn::Vec<D64>>
HWY_INLINE WideWords<D64> philox_blocks(D64 d, const PhiloxStart& start, V blocks) {
  return philox_rounds(d, start, blocks, V(hn::Set(d, start.counter[1])));
}

}  // namespace HWY_NAMESPACE
}  // namespace smile::random_detail
HWY_AFTER_NAMESPACE();
#endif

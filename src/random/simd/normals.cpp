// SPDX-License-Identifier: Apache-2.0
// fill_normals for every instruction set. The order of elements is that of random/reference.hpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "random/simd/normals.cpp"
#include <hwy/foreach_target.h>

#include <algorithm>

#include "hwy/contrib/math/math-inl.h"
#include "random/reference.hpp"
#include "random/simd/box_muller-inl.hpp"
#include "random/simd/philox-inl.hpp"
#include "smile/instruction_set.hpp"

HWY_BEFORE_NAMESPACE();
namespace smile::random_detail {
namespace HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128

template <class T>
HWY_INLINE void fill_chunk(const PhiloxStart& start, std::uint32_t first_block, T* out) {
  constexpr std::size_t kEach = sizeof(T) == 4 ? 4 : 2;
  for (std::uint32_t l = 0; l < kBlocksPerChunk; ++l) {
    const auto words = philox_block(start, first_block + l);
    for (std::size_t j = 0; j < kEach; ++j) {
      if constexpr (kEach == 4)
        out[j * kBlocksPerChunk + l] = block_normal_float(words, j);
      else
        out[j * kBlocksPerChunk + l] = block_normal_double(words, j);
    }
  }
}

#else

/// 64 normals of blocks first_block … +15. The even counters of a register go through Philox in one register
/// of wide lanes, the odd ones in another; one shift and blend then give the words in order.
HWY_INLINE void fill_chunk(const PhiloxStart& start, std::uint32_t first_block, float* out) {
  const hn::CappedTag<float, kBlocksPerChunk> df;
  const hn::RebindToUnsigned<decltype(df)> du;
  const hn::Repartition<std::uint64_t, decltype(df)> d64;
  using V = hn::Vec<decltype(df)>;
  const auto merge = [du](auto even, auto odd) HWY_ATTR {
    return hn::OddEven(hn::BitCast(du, hn::ShiftLeft<32>(odd)), hn::BitCast(du, even));
  };
  const std::size_t lanes = hn::Lanes(df);
  const auto pairs = hn::ShiftLeft<1>(hn::Iota(d64, 0));
  for (std::size_t l = 0; l < kBlocksPerChunk; l += lanes) {
    const auto even = hn::Add(pairs, hn::Set(d64, first_block + std::uint32_t(l)));
    const auto a = philox_blocks(d64, start, even);
    const auto b = philox_blocks(d64, start, hn::Add(even, hn::Set(d64, std::uint64_t{1})));
    V cosine, sine;
    const auto radius0 = hn::Sqrt(minus_two_log(du, df, merge(a.w0, b.w0)));
    cos_sin_of_turn(du, df, merge(a.w1, b.w1), cosine, sine);
    hn::StoreU(hn::Mul(radius0, cosine), df, out + l);
    hn::StoreU(hn::Mul(radius0, sine), df, out + kBlocksPerChunk + l);
    const auto radius1 = hn::Sqrt(minus_two_log(du, df, merge(a.w2, b.w2)));
    cos_sin_of_turn(du, df, merge(a.w3, b.w3), cosine, sine);
    hn::StoreU(hn::Mul(radius1, cosine), df, out + 2 * kBlocksPerChunk + l);
    hn::StoreU(hn::Mul(radius1, sine), df, out + 3 * kBlocksPerChunk + l);
  }
}

/// 32 normals of blocks first_block … +15; 53 bits each, logarithm, sine and cosine to a few ulp.
HWY_INLINE void fill_chunk(const PhiloxStart& start, std::uint32_t first_block, double* out) {
  const hn::CappedTag<double, kBlocksPerChunk> dd;
  const hn::RebindToUnsigned<decltype(dd)> du;
  const hn::RebindToSigned<decltype(dd)> di;
  const auto join = [du](auto low, auto high) HWY_ATTR {
    return hn::Or(hn::And(low, hn::Set(du, std::uint64_t{0xffffffff})), hn::ShiftLeft<32>(high));
  };
  const std::size_t lanes = hn::Lanes(dd);
  for (std::size_t l = 0; l < kBlocksPerChunk; l += lanes) {
    const auto blocks = hn::Add(hn::Iota(du, 0), hn::Set(du, first_block + std::uint32_t(l)));
    const auto w = philox_blocks(du, start, blocks);
    const auto radial = hn::Add(hn::ShiftRight<11>(join(w.w0, w.w1)), hn::Set(du, std::uint64_t{1}));
    const auto uniform = hn::Mul(hn::ConvertTo(dd, hn::BitCast(di, radial)), hn::Set(dd, 0x1p-53));
    const auto radius = hn::Sqrt(hn::Mul(hn::Set(dd, -2.0), hn::Log(dd, uniform)));

    const auto turn = hn::Mul(hn::ConvertTo(dd, hn::BitCast(di, hn::ShiftRight<11>(join(w.w2, w.w3)))),
                              hn::Set(dd, 0x1p-53));
    const auto quarters = hn::Round(hn::Mul(turn, hn::Set(dd, 4.0)));
    const auto angle =
        hn::Mul(hn::NegMulAdd(quarters, hn::Set(dd, 0.25), turn), hn::Set(dd, 2 * std::numbers::pi));
    const auto c = hn::Cos(dd, angle), s = hn::Sin(dd, angle);
    const auto quarter = hn::BitCast(du, hn::ConvertTo(di, quarters));
    const auto odd = hn::RebindMask(dd, hn::TestBit(quarter, hn::Set(du, std::uint64_t{1})));
    const auto two = hn::Set(du, std::uint64_t{2});
    const auto cosine_sign = hn::ShiftLeft<62>(hn::And(hn::Add(quarter, hn::Set(du, std::uint64_t{1})), two));
    const auto sine_sign = hn::ShiftLeft<62>(hn::And(quarter, two));
    hn::StoreU(hn::Mul(radius, hn::Xor(hn::IfThenElse(odd, s, c), hn::BitCast(dd, cosine_sign))), dd,
               out + l);
    hn::StoreU(hn::Mul(radius, hn::Xor(hn::IfThenElse(odd, c, s), hn::BitCast(dd, sine_sign))), dd,
               out + kBlocksPerChunk + l);
  }
}

#endif

template <class T>
void fill(const PhiloxStart& start, std::size_t first, std::span<T> out) {
  constexpr std::size_t kChunk = kBlocksPerChunk * (sizeof(T) == 4 ? 4 : 2);
  std::size_t i = 0;
  auto block = std::uint32_t(first / kChunk * kBlocksPerChunk);
  for (; i + kChunk <= out.size(); i += kChunk, block += std::uint32_t(kBlocksPerChunk))
    fill_chunk(start, block, out.data() + i);
  if (i < out.size()) {
    T rest[kChunk];
    fill_chunk(start, block, rest);
    std::copy_n(rest, out.size() - i, out.data() + i);
  }
}

void fill_float(const PhiloxStart& start, std::size_t first, std::span<float> out) {
  fill(start, first, out);
}
void fill_double(const PhiloxStart& start, std::size_t first, std::span<double> out) {
  fill(start, first, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace smile::random_detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace smile {
namespace random_detail {
namespace {

HWY_EXPORT(fill_float);
HWY_EXPORT(fill_double);

void dispatch(const PhiloxStart& start, std::size_t first, std::span<float> out) {
  HWY_DYNAMIC_DISPATCH(fill_float)(start, first, out);
}
void dispatch(const PhiloxStart& start, std::size_t first, std::span<double> out) {
  HWY_DYNAMIC_DISPATCH(fill_double)(start, first, out);
}

}  // namespace
}  // namespace random_detail

void fill_normals_from(StreamKey key, std::uint64_t step, std::size_t first, std::span<float> out) {
  apply_simd_environment();
  random_detail::dispatch(random_detail::philox_start(key, step), first, out);
}
void fill_normals_from(StreamKey key, std::uint64_t step, std::size_t first, std::span<double> out) {
  apply_simd_environment();
  random_detail::dispatch(random_detail::philox_start(key, step), first, out);
}
void fill_normals(StreamKey key, std::uint64_t step, std::span<float> out) {
  fill_normals_from(key, step, 0, out);
}
void fill_normals(StreamKey key, std::uint64_t step, std::span<double> out) {
  fill_normals_from(key, step, 0, out);
}

}  // namespace smile
#endif

// SPDX-License-Identifier: Apache-2.0
// The random numbers of a bundle: those of each chain are functions of (seed, chain, purpose, step) alone, so
// they do not depend on the bundle or lane in which a chain runs. Four normals come from one Philox block by
// Box–Muller in single precision, as in fill_normals for float, but in the order of the blocks.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/lanes/lane_vector-inl.hpp"
#include "random/simd/box_muller-inl.hpp"
#include "random/simd/philox-inl.hpp"
#include "smile/targets/target.hpp"

HWY_BEFORE_NAMESPACE();
namespace smile::HWY_NAMESPACE {

class LaneNormals final : public NormalSource<LaneVector> {
 public:
  LaneNormals(std::uint64_t seed, const std::array<std::uint32_t, kLanes>& chains) : seed_(seed) {
    for (std::size_t l = 0; l < kLanes; ++l) chains_[l] = chains[l];
  }

  void normals(LaneVector& out, Purpose purpose, std::uint64_t step) override {
    for (std::size_t first = 0; first < out.size(); first += 4) {
      const std::size_t count = out.size() - first < 4 ? out.size() - first : 4;
      block(out.data() + first, count, purpose, step, std::uint32_t(first / 4));
    }
  }

  LaneScalar uniform(Purpose purpose, std::uint64_t step) override {
    double values[kLanes];
    for (std::size_t l = 0; l < kLanes; ++l) values[l] = Stream({seed_, chains_[l], purpose}, step).uniform();
    return LaneScalar::of(values);
  }

 private:
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  /// Up to four normals of every chain.
  void block(LaneScalar* out, std::size_t count, Purpose purpose, std::uint64_t step,
             std::uint32_t number) const {
    double normals[4][kLanes];
    for (std::size_t l = 0; l < kLanes; ++l) {
      const auto start = smile::random_detail::philox_start({seed_, chains_[l], purpose}, step);
      const auto words = smile::random_detail::philox_block(start, number);
      for (std::size_t i = 0; i < count; ++i)
        normals[i][l] = double(smile::random_detail::block_normal_float(words, i));
    }
    for (std::size_t i = 0; i < count; ++i) out[i] = LaneScalar::of(normals[i]);
  }
#else
  using Floats = hn::CappedTag<float, kLanes>;

  /// Up to four normals of every chain.
  HWY_INLINE void block(LaneScalar* out, std::size_t count, Purpose purpose, std::uint64_t step,
                        std::uint32_t number) const {
    namespace detail = smile::random_detail::HWY_NAMESPACE;
    const Floats df;
    const hn::RebindToUnsigned<Floats> du;
    const hn::Repartition<std::uint64_t, Floats> d64;
    const auto start = smile::random_detail::philox_start({seed_, 0, purpose}, step);
    HWY_ALIGN float normals[4][kLanes];
    for (std::size_t l = 0; l < kLanes; l += hn::MaxLanes(df)) {
      // The chains of even lanes go through Philox in one register of wide lanes, those of odd ones in
      // another.
      const auto chains = hn::BitCast(d64, hn::Load(du, chains_ + l));
      const auto name = hn::Set(d64, std::uint64_t{start.counter[1]}),
                 low = hn::Set(d64, std::uint64_t{0xffffffff});
      const auto even = detail::philox_rounds(d64, start, hn::Set(d64, std::uint64_t{number}),
                                              hn::Add(name, hn::And(chains, low)));
      const auto odd = detail::philox_rounds(d64, start, hn::Set(d64, std::uint64_t{number}),
                                             hn::Add(name, hn::ShiftRight<32>(chains)));
      pair(df, du, merge(du, even.w0, odd.w0), merge(du, even.w1, odd.w1), normals[0] + l, normals[1] + l);
      if (count > 2)
        pair(df, du, merge(du, even.w2, odd.w2), merge(du, even.w3, odd.w3), normals[2] + l, normals[3] + l);
    }
    const hn::Rebind<float, Doubles> half;
    for (std::size_t i = 0; i < count; ++i) {
      SMILE_EACH_PART out[i].part[p] =
          hn::PromoteTo(Doubles(), hn::Load(half, normals[i] + p * hn::MaxLanes(Doubles())));
    }
  }

  template <class DU, class V>
  static HWY_INLINE hn::Vec<DU> merge(DU du, V even, V odd) {
    return hn::OddEven(hn::BitCast(du, hn::ShiftLeft<32>(odd)), hn::BitCast(du, even));
  }
  template <class DF, class DU, class V>
  static HWY_INLINE void pair(DF df, DU du, V radial, V angular, float* first, float* second) {
    namespace detail = smile::random_detail::HWY_NAMESPACE;
    hn::Vec<DF> cosine, sine;
    const auto radius = hn::Sqrt(detail::minus_two_log(du, df, radial));
    detail::cos_sin_of_turn(du, df, angular, cosine, sine);
    hn::Store(hn::Mul(radius, cosine), df, first);
    hn::Store(hn::Mul(radius, sine), df, second);
  }
#endif

  std::uint64_t seed_;
  HWY_ALIGN std::uint32_t chains_[kLanes];
};

}  // namespace smile::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

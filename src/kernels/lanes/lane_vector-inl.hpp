// SPDX-License-Identifier: Apache-2.0
// A flat vector of every chain of a bundle: entry i holds number i of all chains. The passes of a bundle are
// the plain loops of kernels/reference/passes.hpp over such entries.
#pragma once

#include <memory>
#include <utility>

#include "kernels/lanes/lane_scalar-inl.hpp"
#include "smile/kernels/passes.hpp"

HWY_BEFORE_NAMESPACE();
namespace smile::HWY_NAMESPACE {

class LaneVector {
 public:
  using value_type = LaneScalar;
  using Scalar = LaneScalar;

  LaneVector() = default;
  explicit LaneVector(std::size_t size, const LaneScalar& value = LaneScalar(0)) : LaneVector(Raw{}, size) {
    for (std::size_t i = 0; i < size; ++i) data_[i] = value;
  }
  LaneVector(const LaneVector& other) : LaneVector(Raw{}, other.size_) { copy(other); }
  LaneVector(LaneVector&& other) noexcept { swap(other); }
  LaneVector& operator=(const LaneVector& other) {
    if (size_ != other.size_) {
      LaneVector fresh(Raw{}, other.size_);
      swap(fresh);
    }
    copy(other);
    return *this;
  }
  LaneVector& operator=(LaneVector&& other) noexcept {
    swap(other);
    return *this;
  }
  void swap(LaneVector& other) noexcept {
    data_.swap(other.data_);
    std::swap(size_, other.size_);
  }
  std::size_t size() const { return size_; }
  LaneScalar* data() { return data_.get(); }
  const LaneScalar* data() const { return data_.get(); }
  HWY_INLINE LaneScalar& operator[](std::size_t i) { return data_[i]; }
  HWY_INLINE const LaneScalar& operator[](std::size_t i) const { return data_[i]; }

 private:
  struct Raw {};
  LaneVector(Raw, std::size_t size) : data_(size > 0 ? new LaneScalar[size] : nullptr), size_(size) {}
  HWY_INLINE void copy(const LaneVector& other) {
    for (std::size_t i = 0; i < size_; ++i) data_[i] = other.data_[i];
  }
  std::unique_ptr<LaneScalar[]> data_;
  std::size_t size_ = 0;
};

}  // namespace smile::HWY_NAMESPACE

#include "kernels/reference/passes.hpp"

namespace smile::kernels {

using LaneVector = HWY_NAMESPACE::LaneVector;
using LaneScalar = HWY_NAMESPACE::LaneScalar;
using LaneMask = HWY_NAMESPACE::LaneMask;

inline void copy_where(LaneVector& x, const LaneVector& y, const LaneMask& chains) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = select(chains, y[i], x[i]);
}
inline void take_where(LaneVector& x, LaneVector& y, const LaneMask& chains) {
  if (all(chains)) return x.swap(y);
  copy_where(x, y, chains);
}
inline MomentumSumsOf<LaneScalar> reduce(const LaneVector& g, const LaneVector& u,
                                         const Metric<LaneVector>& m) {
  return reference::reduce(g, u, m);
}
inline LaneMask kick_drift(LaneVector& u, const LaneVector& g, const Metric<LaneVector>& m,
                           const KickOf<LaneScalar>& k, const LaneVector& a, LaneVector& b,
                           const LaneScalar& h) {
  return reference::kick_drift(u, g, m, k, a, b, h);
}
inline void kick(LaneVector& u, const LaneVector& g, const Metric<LaneVector>& m,
                 const KickOf<LaneScalar>& k) {
  reference::kick(u, g, m, k);
}
inline LaneMask drift(const LaneVector& u, const Metric<LaneVector>& m, const LaneVector& a, LaneVector& b,
                      const LaneScalar& h) {
  return reference::drift(u, m, a, b, h);
}
inline ClosingSumsOf<LaneScalar> reduce_closing(const LaneVector& g, const LaneVector& u,
                                                const LaneVector* mean, const Metric<LaneVector>& m,
                                                const MovingEstimate& e, Normalisation n, double r) {
  return reference::reduce_closing(g, u, mean, m, e, n, r);
}
inline LaneMask close_and_open(LaneVector& u, LaneVector& v, const LaneVector& g, LaneVector* mean,
                               LaneVector* variance, const ScalingOf<LaneScalar>& now,
                               const ScalingOf<LaneScalar>& next, const MovingEstimate& e,
                               const KickOf<LaneScalar>& closing, const KickOf<LaneScalar>& opening,
                               const LaneVector& a, LaneVector& b, const LaneScalar& h) {
  return reference::close_and_open(u, v, g, mean, variance, now, next, e, closing, opening, a, b, h);
}
inline void absorb(const LaneVector& g, LaneVector* mean, LaneVector& variance, const MovingEstimate& e) {
  reference::absorb(g, mean, variance, e);
}
inline ScalingOf<LaneScalar> normalise(const LaneVector& variance, Normalisation n, double r) {
  return reference::normalise(variance, n, r);
}
inline void refresh(LaneVector& u, const LaneVector& z, const LaneScalar& nu) {
  reference::refresh(u, z, nu);
}
inline void unit_direction(LaneVector& u, const LaneVector& z) {
  reference::unit_direction(u, z);
}
inline MomentumSumsOf<LaneScalar> examine(const LaneVector& g) {
  return reference::examine(g);
}
inline void clip(LaneVector& g, double limit, bool zero_nan) {
  reference::clip(g, limit, zero_nan);
}
inline LaneMask all_finite(const LaneVector& x) {
  return reference::all_finite(x);
}
inline LaneScalar norm2(const LaneVector& x) {
  return reference::norm2(x);
}
inline void add_scaled(LaneVector& x, const LaneVector& g, const LaneScalar& a, const LaneVector& z,
                       const LaneScalar& b) {
  reference::add_scaled(x, g, a, z, b);
}
inline void psgld_update(LaneVector& x, LaneVector& v, const LaneVector& g, const LaneVector& z,
                         const PsgldUpdateOf<LaneScalar>& p) {
  reference::psgld_update(x, v, g, z, p);
}
inline LaneScalar momentum_update(LaneVector& x, LaneVector& v, const LaneVector& g, const LaneVector& z,
                                  const LaneScalar& a, const LaneScalar& b, const LaneScalar& c,
                                  const LaneScalar& e) {
  return reference::momentum_update(x, v, g, z, a, b, c, e);
}

}  // namespace smile::kernels
HWY_AFTER_NAMESPACE();

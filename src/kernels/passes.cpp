// SPDX-License-Identifier: Apache-2.0
// The passes on host vectors: each goes to its vector form for the instruction set in use.
#include "smile/kernels/passes.hpp"

#include <algorithm>
#include <span>

#include "kernels/simd/tables.hpp"

namespace smile::kernels {
namespace {

template <class T>
double stir_in_blocks(const HostVector<T>& u, HostVector<T>& out, double nu, StreamKey key,
                      std::uint64_t step) {
  constexpr std::size_t kBlock = 2048;
  alignas(HostVector<T>::kAlignment) T z[kBlock];
  double sum = 0;
  for (std::size_t first = 0; first < u.size(); first += kBlock) {
    const std::size_t count = std::min(kBlock, u.size() - first);
    fill_normals_from(key, step, first, std::span<T>(z, count));
    std::fill(z + count,
              z + (count + HostVector<T>::kPadding - 1) / HostVector<T>::kPadding * HostVector<T>::kPadding,
              T{0});
    sum += add_normals(u.data() + first, z, nu, out.data() + first, count);
  }
  return sum;
}

}  // namespace

#define SMILE_INSTANTIATE(T)                                                                                 \
  template <>                                                                                                \
  MomentumSums reduce(const HostVector<T>& g, const HostVector<T>& u, const Metric<HostVector<T>>& m) {      \
    return simd::momentum<T>().reduce(g, u, m);                                                              \
  }                                                                                                          \
  template <>                                                                                                \
  bool kick_drift(HostVector<T>& u, const HostVector<T>& g, const Metric<HostVector<T>>& m, Kick k,          \
                  const HostVector<T>& a, HostVector<T>& b, double h) {                                      \
    return simd::momentum<T>().kick_drift(u, g, m, k, a, b, h);                                              \
  }                                                                                                          \
  template <>                                                                                                \
  void kick(HostVector<T>& u, const HostVector<T>& g, const Metric<HostVector<T>>& m, Kick k) {              \
    simd::momentum<T>().kick(u, g, m, k);                                                                    \
  }                                                                                                          \
  template <>                                                                                                \
  bool drift(const HostVector<T>& u, const Metric<HostVector<T>>& m, const HostVector<T>& a,                 \
             HostVector<T>& b, double h) {                                                                   \
    return simd::momentum<T>().drift(u, m, a, b, h);                                                         \
  }                                                                                                          \
  template <>                                                                                                \
  ClosingSums reduce_closing(const HostVector<T>& g, const HostVector<T>& u, const HostVector<T>* mean,      \
                             const Metric<HostVector<T>>& m, const MovingEstimate& e, Normalisation n,       \
                             double r) {                                                                     \
    return simd::closing<T>().reduce_closing(g, u, mean, m, e, n, r);                                        \
  }                                                                                                          \
  template <>                                                                                                \
  bool close_and_open(HostVector<T>& u, HostVector<T>& v, const HostVector<T>& g, HostVector<T>* mean,       \
                      HostVector<T>* variance, const Scaling& now, const Scaling& next,                      \
                      const MovingEstimate& e, Kick closing, Kick opening, const HostVector<T>& a,           \
                      HostVector<T>& b, double h) {                                                          \
    return simd::preconditioner<T>().close_and_open(u, v, g, mean, variance, now, next, e, closing, opening, \
                                                    a, b, h);                                                \
  }                                                                                                          \
  template <>                                                                                                \
  void absorb(const HostVector<T>& g, HostVector<T>* mean, HostVector<T>& variance,                          \
              const MovingEstimate& e) {                                                                     \
    simd::preconditioner<T>().absorb(g, mean, variance, e);                                                  \
  }                                                                                                          \
  template <>                                                                                                \
  Scaling normalise(const HostVector<T>& variance, Normalisation n, double r) {                              \
    return simd::preconditioner<T>().normalise(variance, n, r);                                              \
  }                                                                                                          \
  template <>                                                                                                \
  void refresh(HostVector<T>& u, const HostVector<T>& z, double nu) {                                        \
    simd::vectors<T>().refresh(u, z, nu);                                                                    \
  }                                                                                                          \
  template <>                                                                                                \
  double add_normals(const T* u, const T* z, double nu, T* out, std::size_t count) {                         \
    return simd::vectors<T>().add_normals(u, z, nu, out, count);                                             \
  }                                                                                                          \
  template <>                                                                                                \
  double stir(const HostVector<T>& u, HostVector<T>& out, double nu, StreamKey key, std::uint64_t step) {    \
    return stir_in_blocks(u, out, nu, key, step);                                                            \
  }                                                                                                          \
  template <>                                                                                                \
  void unit_direction(HostVector<T>& u, const HostVector<T>& z) {                                            \
    simd::vectors<T>().unit_direction(u, z);                                                                 \
  }                                                                                                          \
  template <>                                                                                                \
  MomentumSums examine(const HostVector<T>& g) {                                                             \
    return simd::vectors<T>().examine(g);                                                                    \
  }                                                                                                          \
  template <>                                                                                                \
  void clip(HostVector<T>& g, double limit, bool zero_nan) {                                                 \
    simd::vectors<T>().clip(g, limit, zero_nan);                                                             \
  }                                                                                                          \
  template <>                                                                                                \
  bool all_finite(const HostVector<T>& x) {                                                                  \
    return simd::vectors<T>().all_finite(x);                                                                 \
  }                                                                                                          \
  template <>                                                                                                \
  double norm2(const HostVector<T>& x) {                                                                     \
    return simd::vectors<T>().norm2(x);                                                                      \
  }                                                                                                          \
  template <>                                                                                                \
  void add_scaled(HostVector<T>& x, const HostVector<T>& g, double a, const HostVector<T>& z, double b) {    \
    simd::baselines<T>().add_scaled(x, g, a, z, b);                                                          \
  }                                                                                                          \
  template <>                                                                                                \
  void psgld_update(HostVector<T>& x, HostVector<T>& v, const HostVector<T>& g, const HostVector<T>& z,      \
                    const PsgldUpdate& p) {                                                                  \
    simd::baselines<T>().psgld_update(x, v, g, z, p);                                                        \
  }                                                                                                          \
  template <>                                                                                                \
  double momentum_update(HostVector<T>& x, HostVector<T>& v, const HostVector<T>& g, const HostVector<T>& z, \
                         double a, double b, double c, double e) {                                           \
    return simd::baselines<T>().momentum_update(x, v, g, z, a, b, c, e);                                     \
  }                                                                                                          \
  template <>                                                                                                \
  void adapt_scale(HostVector<T>& tau, HostVector<T>& mean, HostVector<T>& variance,                         \
                   const HostVector<T>& g) {                                                                 \
    simd::baselines<T>().adapt_scale(tau, mean, variance, g);                                                \
  }                                                                                                          \
  template <>                                                                                                \
  void adapt_rms(HostVector<T>& variance, const HostVector<T>& g, double rho) {                              \
    simd::baselines<T>().adapt_rms(variance, g, rho);                                                        \
  }                                                                                                          \
  template <>                                                                                                \
  void scaled_momentum_update(HostVector<T>& x, HostVector<T>& v, const HostVector<T>& variance,             \
                              const HostVector<T>& g, const HostVector<T>& z, double step_size,              \
                              double friction) {                                                             \
    simd::baselines<T>().scaled_momentum_update(x, v, variance, g, z, step_size, friction);                  \
  }

SMILE_INSTANTIATE(float)
SMILE_INSTANTIATE(double)
#undef SMILE_INSTANTIATE

}  // namespace smile::kernels

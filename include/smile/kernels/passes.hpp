// SPDX-License-Identifier: Apache-2.0
/// The fused passes over flat vectors: the only work a sampler does per parameter. Every pass is one sweep;
/// its header says what it reads and writes, in vectors of d elements. Sums accumulate in double over fixed
/// blocks, so that they depend on nothing but the data. Padding beyond size() is zero before and after.
///
/// A preconditioned vector is never stored: a pass divides by ŝ on the fly, from the stored s² (spec 1.7).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "smile/kernels/host_vector.hpp"
#include "smile/kernels/lanes_of_one.hpp"
#include "smile/named.hpp"
#include "smile/random/stream.hpp"

namespace smile {

/// ŝ_i = sqrt(clamp(s²_i, lower, upper)) / factor; so 1/ŝ_i = factor / sqrt(clamp(s²_i, lower, upper)).
template <class Scalar>
struct ScalingOf {
  Scalar lower{};  ///< of s²
  Scalar upper = Scalar(std::numeric_limits<double>::infinity());
  Scalar factor = Scalar(1);
};
using Scaling = ScalingOf<double>;

/// The preconditioner as a pass sees it; `variance` = nullptr means ŝ = 1.
template <class Vector>
struct Metric {
  const Vector* variance = nullptr;  ///< s², @shape [d], entries > 0
  ScalingOf<typename Vector::Scalar> scaling;
};

/// What a momentum update needs to know (spec 1.3), and whether the gradient can be used.
template <class Scalar>
struct MomentumSumsOf {
  MomentumSumsOf() = default;
  Scalar gradient_norm2{};                     ///< ‖g ⊘ ŝ‖²
  Scalar projection{};                         ///< u · (g ⊘ ŝ)
  Scalar velocity_norm2{};                     ///< ‖u‖²
  Scalar largest{};                            ///< max |g_i| (before preconditioning)
  typename MaskOf<Scalar>::type finite{true};  ///< no entry of g is NaN or infinite
};
using MomentumSums = MomentumSumsOf<double>;

/// u ← gradient · (g ⊘ ŝ) + velocity · u
template <class Scalar>
struct KickOf {
  Scalar gradient{};
  Scalar velocity = Scalar(1);
};
using Kick = KickOf<double>;

/// How the moving estimates follow the gradient (spec 1.7).
enum class Centre {
  mean,     ///< variance of the noise: (g − m)², m the moving mean
  none,     ///< second moment: g², m unused
  authors,  ///< (g − ((1−α) + α g))²: the mean rebuilt from 1 in every step (spec 1.12)
};
template <>
struct Named<Centre> {
  static constexpr Alternative<Centre> all[] = {
      {Centre::mean, "mean"}, {Centre::none, "none"}, {Centre::authors, "authors"}};
};

/// m ← (1−α) m + α g;   s² ← max((1−α) s² + α (g − m)², floor)
struct MovingEstimate {
  double rate = 0.01;  ///< α
  Centre centre = Centre::mean;
  double floor = 1e-7;  ///< of s²
};

/// How ŝ is made from s (spec 1.7, 1.12).
enum class Normalisation {
  rms_floor,     ///< c = max(s, r·rms(s)), ŝ = c / rms(c)
  rms_absolute,  ///< c = clip(s, 1e−2, 1e4), ŝ = c / rms(c)
  inverse_rms,   ///< 1/ŝ = (1/s)·√d/‖1/s‖
  half_reference,  ///< m = (mean √s)², c = clip(s, m/10, 10 m), ŝ = c / rms(c): heavy tails of s do not move
                   ///< m (spec 06, 6.2)
};

/// What the closing reduction of a step learns, so that the next step can open without another reduction.
template <class Scalar>
struct ClosingSumsOf {
  ClosingSumsOf() = default;
  MomentumSumsOf<Scalar> now;  ///< with the ŝ of this step
  ScalingOf<Scalar> next;      ///< of the ŝ that the moving estimates will have after they absorb g
  Scalar next_norm2{};         ///< ‖g ⊘ ŝ'‖² with that next ŝ'
  Scalar cross{};              ///< (g ⊘ ŝ) · (g ⊘ ŝ')
  Scalar next_projection{};    ///< u · (g ⊘ ŝ') with the u before the closing update
  bool swept_twice = false;    ///< the guess of the floor missed and a second sweep was needed
};
using ClosingSums = ClosingSumsOf<double>;

namespace kernels {

/// x ← y for the chains of the mask; y may be changed. With one chain: all or nothing.
template <class T>
void take_where(HostVector<T>& x, HostVector<T>& y, bool chains) {
  if (chains) x.swap(y);
}
/// The same, y unchanged.
template <class T>
void copy_where(HostVector<T>& x, const HostVector<T>& y, bool chains) {
  if (chains) x = y;
}

/// Reads g, u, s².
template <class T>
MomentumSums reduce(const HostVector<T>& gradient, const HostVector<T>& velocity,
                    const Metric<HostVector<T>>& metric);

/// u ← kick; θ_out ← θ_in + drift · (u ⊘ ŝ). `position_out` may be `position_in`.
/// Reads g, u, s², θ; writes u, θ. Returns whether every new position is finite.
template <class T>
bool kick_drift(HostVector<T>& velocity, const HostVector<T>& gradient, const Metric<HostVector<T>>& metric,
                Kick kick, const HostVector<T>& position_in, HostVector<T>& position_out, double drift);

/// u ← kick. Reads g, u, s²; writes u.
template <class T>
void kick(HostVector<T>& velocity, const HostVector<T>& gradient, const Metric<HostVector<T>>& metric,
          Kick kick);

/// θ_out ← θ_in + drift · (u ⊘ ŝ). Reads u, s², θ; writes θ. Returns whether every new position is finite.
template <class T>
bool drift(const HostVector<T>& velocity, const Metric<HostVector<T>>& metric,
           const HostVector<T>& position_in, HostVector<T>& position_out, double drift);

/// The reduction before the last momentum update of a step, with a look at the preconditioner of the next.
/// `metric.variance` is not null; m and s² are read, not changed; `mean` may be nullptr where the centre does
/// not need it. Reads g, u, m, s²: 16 bytes a parameter in single precision. The relative floor needs rms(s')
/// before c' is known: entries whose s'² lies within a bracket around the present floor are set aside and
/// added when the floor is known; only where the floor leaves the bracket the sweep is done again.
template <class T>
ClosingSums reduce_closing(const HostVector<T>& gradient, const HostVector<T>& velocity,
                           const HostVector<T>* mean, const Metric<HostVector<T>>& metric,
                           const MovingEstimate& estimate, Normalisation normalisation,
                           double relative_floor);

/// End of one step and opening of the next in one sweep:
///   u_end ← closing(g ⊘ ŝ, u);  m, s² absorb g;  u_next ← opening(g ⊘ ŝ', u_end);  θ_out ← θ_in +
///   drift·(u_next ⊘ ŝ')
/// `velocity` is replaced by u_end (kept for a refused step), u_next goes to `velocity_next`. Without
/// preconditioner pass `mean` = `variance` = nullptr. `mean` may be nullptr where the centre does not need
/// it. Reads g, u, m, s², θ; writes u, u_next, m, s², θ_out: 40 bytes a parameter in single precision.
/// Returns whether every new position is finite.
template <class T>
bool close_and_open(HostVector<T>& velocity, HostVector<T>& velocity_next, const HostVector<T>& gradient,
                    HostVector<T>* mean, HostVector<T>* variance, const Scaling& now, const Scaling& next,
                    const MovingEstimate& estimate, Kick closing, Kick opening,
                    const HostVector<T>& position_in, HostVector<T>& position_out, double drift);

/// m, s² absorb g (spec 1.7). Reads g, m, s²; writes m, s². `mean` may be nullptr where the centre does not
/// need it.
template <class T>
void absorb(const HostVector<T>& gradient, HostVector<T>* mean, HostVector<T>& variance,
            const MovingEstimate& estimate);

/// The scaling that makes ŝ from s². Reads s², twice for `rms_floor`.
template <class T>
Scaling normalise(const HostVector<T>& variance, Normalisation normalisation, double relative_floor);

/// u ← (u + ν z)/‖u + ν z‖ (spec 1.6). Reads and writes u twice.
template <class T>
void refresh(HostVector<T>& velocity, const HostVector<T>& normals, double nu);

/// out_i ← u_i + ν z_i for `count` elements; returns Σ out². Pointers aligned and lengths padded as those of
/// a HostVector, z padded with zeros. `out` may be u.
template <class T>
double add_normals(const T* velocity, const T* normals, double nu, T* out, std::size_t count);
/// The same for whole vectors with the normals of (key, step), which are made a block at a time, in the
/// cache, and never stored. Reads u, writes out.
template <class T>
double stir(const HostVector<T>& velocity, HostVector<T>& out, double nu, StreamKey key, std::uint64_t step);

/// u ← z/‖z‖.
template <class T>
void unit_direction(HostVector<T>& velocity, const HostVector<T>& normals);

/// max |g_i| and whether all entries are finite (the other fields stay 0). Reads g.
template <class T>
MomentumSums examine(const HostVector<T>& gradient);

/// g_i ← clamp(g_i, ±limit); NaN entries become 0 where `zero_nan` (compat: authors), else stay NaN.
template <class T>
void clip(HostVector<T>& gradient, double limit, bool zero_nan);

/// Whether all entries are finite.
template <class T>
bool all_finite(const HostVector<T>& vector);

/// Σ x_i² in double.
template <class T>
double norm2(const HostVector<T>& vector);

/// θ_i ← θ_i + a g_i + b z_i (sgld). Reads θ, g, z; writes θ.
template <class T>
void add_scaled(HostVector<T>& position, const HostVector<T>& gradient, double a,
                const HostVector<T>& normals, double b);

/// V ← α V + (1−α) ḡ², ḡ = g·inverse_n (V ← ḡ² where `first`); G = 1/(λ + √V); θ ← θ + ε G g + sqrt(2 ε T G)
/// z (psgld, spec 1.9). Reads θ, g, V, z; writes θ, V.
template <class Scalar>
struct PsgldUpdateOf {
  Scalar step_size;
  double temperature, decay, lambda, inverse_n;
  bool first;
};
using PsgldUpdate = PsgldUpdateOf<double>;
template <class T>
void psgld_update(HostVector<T>& position, HostVector<T>& variance, const HostVector<T>& gradient,
                  const HostVector<T>& normals, const PsgldUpdate& update);

/// v ← a v + b g + c z;  θ ← θ + e v. Reads v, g, z, θ; writes v, θ. Returns Σ v² of the new v (sghmc,
/// sgnht).
template <class T>
double momentum_update(HostVector<T>& position, HostVector<T>& momentum, const HostVector<T>& gradient,
                       const HostVector<T>& normals, double a, double b, double c, double e);

/// Warm-up averages of scale-adapted SGHMC (spec 1.9), from the gradient kept from the step before.
/// Reads τ, ḡ, s², g; writes τ, ḡ, s².
template <class T>
void adapt_scale(HostVector<T>& tau, HostVector<T>& mean, HostVector<T>& variance,
                 const HostVector<T>& kept_gradient);
/// s² ← max(ρ s² + (1−ρ) g², 1e−7) (rmsprop-sghmc).
template <class T>
void adapt_rms(HostVector<T>& variance, const HostVector<T>& kept_gradient, double rho);

/// v ← (1−α) v + ε g + z·sqrt(max(2α s − (ε s)², 1e−7));  θ ← θ + ε v / s (spec 1.9). Reads v, g, z, s², θ;
/// writes v, θ.
template <class T>
void scaled_momentum_update(HostVector<T>& position, HostVector<T>& momentum, const HostVector<T>& variance,
                            const HostVector<T>& gradient, const HostVector<T>& normals, double step_size,
                            double friction);

}  // namespace kernels
}  // namespace smile

#include "smile/kernels/tensor_passes.hpp"  // once the types they take are known

// SPDX-License-Identifier: Apache-2.0
/// The scalars of the momentum update B_h: the exact flow of du/dt = P(u) g/(d−1) with the gradient frozen.
#pragma once

#include <algorithm>
#include <cmath>

#include "smile/kernels/lanes_of_one.hpp"

namespace smile {

/// What an update of length h does, from scalars alone. With e = g̃/n, p = e·u, δ = h n/(d−1), ζ = exp(−δ):
///     w = (1−ζ)((1+p) + (1−p)ζ) e + 2ζ u,   u ← w/‖w‖,   ΔK = (d−1) ln(cosh δ + p sinh δ)
template <class Scalar>
struct MomentumUpdate {
  Scalar delta;           ///< δ, the angle scale of the update
  Scalar kinetic_change;  ///< ΔK in nats
  Scalar along_gradient;  ///< coefficient of e in the new u
  Scalar along_velocity;  ///< coefficient of u in the new u
  Scalar projection;      ///< p' = e·u after the update
};

/// What the first update from rest counts: as if u had been e (p = 1), or the formula at p = 0 (spec 1.12).
enum class RestEnergy { along_gradient, authors };

/// @param n               ‖g̃‖ ≥ 0
/// @param p               e·u as computed; clipped to [−1, 1] here
/// @param velocity_norm2  ‖u‖² > 0, 1 up to rounding; the new u has unit norm whatever it is
/// @param dimension       d ≥ 2
/// @param h               length of the update, of any sign; 0 is the identity
/// The small-δ form uses expm1 and log1p: ΔK carries the factor d−1, so an error of 1e−7 in the logarithm is
/// one of order 1 in the energy of a network with 10⁷ parameters.
/// @source Ver Steeg & Galstyan 2021; Robnik & Seljak 2024; spec 1.3
template <class Scalar>
MomentumUpdate<Scalar> momentum_update(Scalar n, Scalar p, Scalar velocity_norm2, double dimension,
                                       Scalar h) {
  using std::exp, std::expm1, std::fabs, std::log, std::log1p, std::max, std::min, std::sqrt;
  const double scale = dimension - 1;
  // A negative length is the update along −e: only |δ| appears below.
  const Scalar sign = select(h < Scalar(0), Scalar(-1), Scalar(1));
  const auto clipped = [](Scalar x) { return max(Scalar(-1), min(Scalar(1), x)); };
  // p of the unit vector: where 1 + p is all that counts, the rounding of ‖u‖ in single precision would be
  // many times larger.
  const Scalar inverse_length = 1 / sqrt(velocity_norm2), raw = clipped(sign * p);
  p = clipped(sign * p * inverse_length);
  const Scalar delta = fabs(h) * n * (1 / scale);
  const auto large = !(delta < Scalar(1));
  const Scalar lost = -expm1(-delta);  // 1 − ζ
  Scalar zeta = 1 - lost;
  if (any(large)) zeta = select(large, exp(-delta), zeta);
  const Scalar norm = (1 + p) + (1 - p) * zeta * zeta;  // 2ζ (cosh δ + p sinh δ) = ‖w‖ for a unit u
  Scalar bracket = log1p((p * lost * (1 + zeta) + lost * lost) / (2 * zeta));
  if (any(large)) bracket = select(large, delta - std::log(2.0) + log(norm), bracket);
  // To first order ΔK balances the change of L along the stored u, whose length is that of u, not 1.
  bracket = bracket + delta * (raw - p);

  MomentumUpdate<Scalar> update;
  update.delta = sign * delta;
  const auto stuck = !(norm > Scalar(0));  // p = −1 and ζ² below the smallest double
  const auto still = !(n > Scalar(0)) || !(delta > Scalar(0));
  const Scalar turn = lost * ((1 + p) + (1 - p) * zeta), inverse_norm = 1 / norm;
  update.kinetic_change = select(still, Scalar(0), scale * select(stuck, -delta, bracket));
  update.along_gradient = select(still || stuck, Scalar(0), sign * turn * inverse_norm);
  update.along_velocity = select(still || stuck, Scalar(1), 2 * zeta * inverse_norm * inverse_length);
  update.projection =
      select(still || stuck, sign * p, sign * ((1 + p) - (1 - p) * zeta * zeta) * inverse_norm);
  return update;
}

/// The coefficients as they are applied to a stored vector. With u = −e up to its rounding and a long update
/// the two terms cancel to a difference of rounding errors, magnified without bound; u = −e itself is a fixed
/// point of the flow, so u is left as it is. Only 1 + p < 5e−13 can meet the bound.
template <class Scalar>
MomentumUpdate<Scalar> applied(MomentumUpdate<Scalar> update) {
  const auto swamped = update.along_velocity > Scalar(1e6);
  update.along_gradient = select(swamped, Scalar(0), update.along_gradient);
  update.along_velocity = select(swamped, Scalar(1), update.along_velocity);
  return update;
}

/// The first update from rest (u = 0): u = e; ΔK = (d−1)δ, or (d−1) ln cosh δ in the authors' form.
template <class Scalar>
MomentumUpdate<Scalar> momentum_update_from_rest(Scalar n, double dimension, Scalar h, RestEnergy energy) {
  using std::fabs;
  MomentumUpdate<Scalar> update = momentum_update(n, Scalar(0), Scalar(1), dimension, h);
  const auto still = !(n > Scalar(0));
  if (energy == RestEnergy::along_gradient) update.kinetic_change = select(still, Scalar(0), h * n);
  const Scalar direction = select(h < Scalar(0), Scalar(-1), Scalar(1));
  update.along_gradient = select(still, Scalar(0), direction);
  update.along_velocity = Scalar(0);
  update.projection = direction;
  return update;
}

/// Field by field.
template <class Mask, class Scalar>
MomentumUpdate<Scalar> select(const Mask& condition, const MomentumUpdate<Scalar>& yes,
                              const MomentumUpdate<Scalar>& no) {
  return {select(condition, yes.delta, no.delta), select(condition, yes.kinetic_change, no.kinetic_change),
          select(condition, yes.along_gradient, no.along_gradient),
          select(condition, yes.along_velocity, no.along_velocity),
          select(condition, yes.projection, no.projection)};
}

}  // namespace smile

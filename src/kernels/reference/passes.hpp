// SPDX-License-Identifier: Apache-2.0
/// Plain forms of the passes of smile/kernels/passes.hpp: loops that a reviewer can read against the
/// specification. Always built; the tests compare the fast forms with them. Same contracts, same names.
///
/// The Scalar of a vector in memory is double. An entry of a bundle of chains (kernels/lanes) is itself a
/// number of every chain: for bundles these loops are the fast form.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "smile/kernels/passes.hpp"

namespace smile::kernels::reference {

/// std::clamp: NaN stays NaN.
template <class Scalar>
[[gnu::always_inline]] inline Scalar clamp(const Scalar& x, const Scalar& low, const Scalar& high) {
  return select(x < low, low, select(high < x, high, x));
}

template <class Scalar>
[[gnu::always_inline]] inline Scalar inverse_scale(const Scalar& variance, const ScalingOf<Scalar>& scaling) {
  return over_root(scaling.factor, reference::clamp(variance, scaling.lower, scaling.upper));
}

/// x ⊘ ŝ_i.
template <class Vector>
[[gnu::always_inline]] inline typename Vector::Scalar scaled(const Metric<Vector>& metric, std::size_t i,
                                                             const typename Vector::Scalar& x) {
  using Scalar = typename Vector::Scalar;
  if (!metric.variance) return x;
  return x * reference::inverse_scale(Scalar((*metric.variance)[i]), metric.scaling);
}

template <class Vector>
MomentumSumsOf<typename Vector::Scalar> examine(const Vector& gradient) {
  using Scalar = typename Vector::Scalar;
  using std::fabs, std::isfinite, std::max;
  MomentumSumsOf<Scalar> sums;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const Scalar g = gradient[i];
    sums.finite = sums.finite && isfinite(g);
    sums.largest = max(sums.largest, fabs(g));
  }
  return sums;
}

template <class Vector>
MomentumSumsOf<typename Vector::Scalar> reduce(const Vector& gradient, const Vector& velocity,
                                               const Metric<Vector>& metric) {
  using Scalar = typename Vector::Scalar;
  using std::fabs, std::isfinite, std::max;
  MomentumSumsOf<Scalar> sums;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const Scalar g = gradient[i], q = reference::scaled(metric, i, g);
    sums.finite = sums.finite && isfinite(g);
    sums.largest = max(sums.largest, fabs(g));
    sums.gradient_norm2 += q * q;
    sums.projection += velocity[i] * q;
    sums.velocity_norm2 += Scalar(velocity[i]) * velocity[i];
  }
  return sums;
}

template <class Vector>
void kick(Vector& velocity, const Vector& gradient, const Metric<Vector>& metric,
          const KickOf<typename Vector::Scalar>& k) {
  using T = typename Vector::value_type;
  for (std::size_t i = 0; i < velocity.size(); ++i)
    velocity[i] =
        T(reference::scaled<Vector>(metric, i, k.gradient * gradient[i]) + k.velocity * velocity[i]);
}

template <class Vector>
Mask<Vector> drift(const Vector& velocity, const Metric<Vector>& metric, const Vector& position_in,
                   Vector& position_out, const typename Vector::Scalar& h) {
  using T = typename Vector::value_type;
  using std::isfinite;
  Mask<Vector> finite{true};
  for (std::size_t i = 0; i < velocity.size(); ++i) {
    position_out[i] = T(position_in[i] + reference::scaled<Vector>(metric, i, h * velocity[i]));
    finite = finite && isfinite(position_out[i]);
  }
  return finite;
}

template <class Vector>
Mask<Vector> kick_drift(Vector& velocity, const Vector& gradient, const Metric<Vector>& metric,
                        const KickOf<typename Vector::Scalar>& k, const Vector& position_in,
                        Vector& position_out, const typename Vector::Scalar& h) {
  using Scalar = typename Vector::Scalar;
  using T = typename Vector::value_type;
  using std::isfinite;
  Mask<Vector> finite{true};
  for (std::size_t i = 0; i < velocity.size(); ++i) {
    const Scalar inverse =
        metric.variance ? reference::inverse_scale(Scalar((*metric.variance)[i]), metric.scaling) : Scalar(1);
    velocity[i] = T(k.gradient * gradient[i] * inverse + k.velocity * velocity[i]);
    position_out[i] = T(position_in[i] + h * velocity[i] * inverse);
    finite = finite && isfinite(position_out[i]);
  }
  return finite;
}

/// One element of the moving estimates: returns the new s² and updates m.
template <class Scalar>
[[gnu::always_inline]] inline Scalar absorbed(const Scalar& gradient, Scalar& mean, const Scalar& variance,
                                              const MovingEstimate& estimate) {
  using std::max;
  const double a = estimate.rate;
  Scalar deviation = gradient;
  if (estimate.centre == Centre::mean) {
    mean = (1 - a) * mean + a * gradient;
    deviation = gradient - mean;
  } else if (estimate.centre == Centre::authors) {
    deviation = gradient - ((1 - a) + a * gradient);
  }
  return max((1 - a) * variance + a * deviation * deviation, Scalar(estimate.floor));
}

template <class Vector>
void absorb(const Vector& gradient, Vector* mean, Vector& variance, const MovingEstimate& estimate) {
  using Scalar = typename Vector::Scalar;
  using T = typename Vector::value_type;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    Scalar m = mean ? Scalar((*mean)[i]) : Scalar(0.0);
    variance[i] = T(reference::absorbed<Scalar>(gradient[i], m, variance[i], estimate));
    if (mean) (*mean)[i] = T(m);
  }
}

template <class Vector>
ScalingOf<typename Vector::Scalar> normalise(const Vector& variance, Normalisation normalisation,
                                             double relative_floor) {
  using Scalar = typename Vector::Scalar;
  using std::sqrt;
  const double d = double(variance.size());
  ScalingOf<Scalar> scaling;
  Scalar sum = Scalar(0);
  if (normalisation == Normalisation::inverse_rms) {
    for (std::size_t i = 0; i < variance.size(); ++i) sum += 1 / Scalar(variance[i]);
    scaling.factor = sqrt(d / sum);
    return scaling;
  }
  if (normalisation == Normalisation::rms_absolute) {
    scaling.lower = Scalar(1e-4);
    scaling.upper = Scalar(1e8);
  } else if (normalisation == Normalisation::half_reference) {
    for (std::size_t i = 0; i < variance.size(); ++i) sum += sqrt(sqrt(Scalar(variance[i])));
    const Scalar root = sum / d, m2 = root * root * root * root;
    scaling.lower = 0.01 * m2;
    scaling.upper = 100 * m2;
  } else {
    for (std::size_t i = 0; i < variance.size(); ++i) sum += variance[i];
    scaling.lower = relative_floor * relative_floor * sum / d;
  }
  sum = Scalar(0);
  for (std::size_t i = 0; i < variance.size(); ++i)
    sum += reference::clamp(Scalar(variance[i]), scaling.lower, scaling.upper);
  scaling.factor = sqrt(sum / d);
  return scaling;
}

template <class Vector>
ClosingSumsOf<typename Vector::Scalar> reduce_closing(const Vector& gradient, const Vector& velocity,
                                                      const Vector* mean, const Metric<Vector>& metric,
                                                      const MovingEstimate& estimate,
                                                      Normalisation normalisation, double relative_floor) {
  using Scalar = typename Vector::Scalar;
  ClosingSumsOf<Scalar> sums;
  sums.now = reference::reduce(gradient, velocity, metric);
  Vector next_mean = mean ? *mean : Vector(), next_variance = *metric.variance;
  reference::absorb(gradient, mean ? &next_mean : nullptr, next_variance, estimate);
  sums.next = reference::normalise(next_variance, normalisation, relative_floor);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const Scalar q = reference::scaled<Vector>(metric, i, gradient[i]);
    const Scalar r = gradient[i] * reference::inverse_scale(Scalar(next_variance[i]), sums.next);
    sums.next_norm2 += r * r;
    sums.cross += q * r;
    sums.next_projection += velocity[i] * r;
  }
  return sums;
}

template <class Vector>
Mask<Vector> close_and_open(Vector& velocity, Vector& velocity_next, const Vector& gradient, Vector* mean,
                            Vector* variance, const ScalingOf<typename Vector::Scalar>& now,
                            const ScalingOf<typename Vector::Scalar>& next, const MovingEstimate& estimate,
                            const KickOf<typename Vector::Scalar>& closing,
                            const KickOf<typename Vector::Scalar>& opening, const Vector& position_in,
                            Vector& position_out, const typename Vector::Scalar& h) {
  reference::kick(velocity, gradient, Metric<Vector>{variance, now}, closing);
  if (variance) reference::absorb(gradient, mean, *variance, estimate);
  velocity_next = velocity;
  return reference::kick_drift(velocity_next, gradient, Metric<Vector>{variance, next}, opening, position_in,
                               position_out, h);
}

template <class Vector>
void unit_direction(Vector& velocity, const Vector& normals) {
  using Scalar = typename Vector::Scalar;
  using T = typename Vector::value_type;
  using std::sqrt;
  Scalar sum = Scalar(0);
  for (std::size_t i = 0; i < normals.size(); ++i) sum += Scalar(normals[i]) * normals[i];
  const Scalar inverse = 1 / sqrt(sum);
  for (std::size_t i = 0; i < normals.size(); ++i) velocity[i] = T(normals[i] * inverse);
}

template <class Vector>
void refresh(Vector& velocity, const Vector& normals, const typename Vector::Scalar& nu) {
  using Scalar = typename Vector::Scalar;
  using T = typename Vector::value_type;
  using std::sqrt;
  Scalar sum = Scalar(0);
  for (std::size_t i = 0; i < velocity.size(); ++i) {
    const Scalar w = velocity[i] + nu * normals[i];
    sum += w * w;
  }
  const Scalar inverse = 1 / sqrt(sum);
  for (std::size_t i = 0; i < velocity.size(); ++i)
    velocity[i] = T((velocity[i] + nu * normals[i]) * inverse);
}

template <class Vector>
void clip(Vector& gradient, double limit, bool zero_nan) {
  using Scalar = typename Vector::Scalar;
  using T = typename Vector::value_type;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const Scalar g = gradient[i];
    const Scalar clipped = reference::clamp(g, Scalar(-limit), Scalar(limit));
    gradient[i] = T(zero_nan ? select(g == g, clipped, Scalar(0)) : clipped);
  }
}

template <class Vector>
Mask<Vector> all_finite(const Vector& vector) {
  using std::isfinite;
  Mask<Vector> finite{true};
  for (std::size_t i = 0; i < vector.size(); ++i) finite = finite && isfinite(vector[i]);
  return finite;
}

template <class Vector>
typename Vector::Scalar norm2(const Vector& vector) {
  using Scalar = typename Vector::Scalar;
  Scalar sum = Scalar(0);
  for (std::size_t i = 0; i < vector.size(); ++i) sum += Scalar(vector[i]) * vector[i];
  return sum;
}

template <class Vector>
void add_scaled(Vector& position, const Vector& gradient, const typename Vector::Scalar& a,
                const Vector& normals, const typename Vector::Scalar& b) {
  using T = typename Vector::value_type;
  for (std::size_t i = 0; i < position.size(); ++i)
    position[i] = T(position[i] + a * gradient[i] + b * normals[i]);
}

template <class Vector>
void psgld_update(Vector& position, Vector& variance, const Vector& gradient, const Vector& normals,
                  const PsgldUpdateOf<typename Vector::Scalar>& p) {
  using Scalar = typename Vector::Scalar;
  using T = typename Vector::value_type;
  using std::sqrt;
  for (std::size_t i = 0; i < position.size(); ++i) {
    const Scalar scaled = gradient[i] * p.inverse_n, square = scaled * scaled;
    variance[i] = T(p.first ? square : p.decay * variance[i] + (1 - p.decay) * square);
    const Scalar preconditioner = 1 / (p.lambda + sqrt(Scalar(variance[i])));
    position[i] = T(position[i] + p.step_size * preconditioner * gradient[i] +
                    sqrt(2 * p.step_size * p.temperature * preconditioner) * normals[i]);
  }
}

template <class Vector>
typename Vector::Scalar momentum_update(Vector& position, Vector& momentum, const Vector& gradient,
                                        const Vector& normals, const typename Vector::Scalar& a,
                                        const typename Vector::Scalar& b, const typename Vector::Scalar& c,
                                        const typename Vector::Scalar& e) {
  using Scalar = typename Vector::Scalar;
  using T = typename Vector::value_type;
  Scalar sum = Scalar(0);
  for (std::size_t i = 0; i < position.size(); ++i) {
    momentum[i] = T(a * momentum[i] + b * gradient[i] + c * normals[i]);
    position[i] = T(position[i] + e * momentum[i]);
    sum += Scalar(momentum[i]) * momentum[i];
  }
  return sum;
}

template <class Vector>
void adapt_scale(Vector& tau, Vector& mean, Vector& variance, const Vector& kept_gradient) {
  using Scalar = typename Vector::Scalar;
  using T = typename Vector::value_type;
  using std::max;
  for (std::size_t i = 0; i < tau.size(); ++i) {
    const Scalar g = kept_gradient[i];
    const Scalar t = tau[i] * (1 - Scalar(mean[i]) * mean[i] / (variance[i] + 1e-7)) + 1;
    const Scalar weight = 1 / (t + 1);
    tau[i] = T(t);
    mean[i] = T(reference::clamp(Scalar((1 - weight) * mean[i] - g * weight), Scalar(-1e6), Scalar(1e6)));
    variance[i] = T(max((1 - weight) * variance[i] + g * g * weight, Scalar(1e-7)));
  }
}

template <class Vector>
void adapt_rms(Vector& variance, const Vector& kept_gradient, double rho) {
  using Scalar = typename Vector::Scalar;
  using T = typename Vector::value_type;
  using std::max;
  for (std::size_t i = 0; i < variance.size(); ++i) {
    const Scalar g = kept_gradient[i];
    variance[i] = T(max(rho * variance[i] + (1 - rho) * g * g, Scalar(1e-7)));
  }
}

template <class Vector>
void scaled_momentum_update(Vector& position, Vector& momentum, const Vector& variance,
                            const Vector& gradient, const Vector& normals,
                            const typename Vector::Scalar& step_size, double friction) {
  using Scalar = typename Vector::Scalar;
  using T = typename Vector::value_type;
  using std::max, std::sqrt;
  for (std::size_t i = 0; i < position.size(); ++i) {
    const Scalar s = sqrt(Scalar(variance[i]));
    const Scalar noise = sqrt(max(2 * friction * s - (step_size * s) * (step_size * s), Scalar(1e-7)));
    momentum[i] = T((1 - friction) * momentum[i] + step_size * gradient[i] + noise * normals[i]);
    position[i] = T(position[i] + step_size * momentum[i] / s);
  }
}

}  // namespace smile::kernels::reference

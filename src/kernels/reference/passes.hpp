/// Plain scalar forms of the passes of smile/kernels/passes.hpp: loops in double that a reviewer can read
/// against the specification. Always built; the tests compare the fast forms with them. Same contracts, same
/// names.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "smile/kernels/passes.hpp"

namespace smile::kernels::reference {

inline double inverse_scale(double variance, const Scaling& scaling) {
  return scaling.factor / std::sqrt(std::clamp(variance, scaling.lower, scaling.upper));
}

template <class T>
double inverse_scale(const Metric<HostVector<T>>& metric, std::size_t i) {
  return metric.variance ? inverse_scale(double((*metric.variance)[i]), metric.scaling) : 1.0;
}

template <class T>
MomentumSums examine(const HostVector<T>& gradient) {
  MomentumSums sums;
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const double g = gradient[i];
    sums.finite = sums.finite && std::isfinite(g);
    sums.largest = std::max(sums.largest, std::fabs(g));
  }
  return sums;
}

template <class T>
MomentumSums reduce(const HostVector<T>& gradient, const HostVector<T>& velocity,
                    const Metric<HostVector<T>>& metric) {
  MomentumSums sums = reference::examine(gradient);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const double q = gradient[i] * inverse_scale(metric, i);
    sums.gradient_norm2 += q * q;
    sums.projection += velocity[i] * q;
    sums.velocity_norm2 += double(velocity[i]) * velocity[i];
  }
  return sums;
}

template <class T>
void kick(HostVector<T>& velocity, const HostVector<T>& gradient, const Metric<HostVector<T>>& metric,
          Kick k) {
  for (std::size_t i = 0; i < velocity.size(); ++i)
    velocity[i] = T(k.gradient * gradient[i] * inverse_scale(metric, i) + k.velocity * velocity[i]);
}

template <class T>
bool drift(const HostVector<T>& velocity, const Metric<HostVector<T>>& metric,
           const HostVector<T>& position_in, HostVector<T>& position_out, double h) {
  bool finite = true;
  for (std::size_t i = 0; i < velocity.size(); ++i) {
    position_out[i] = T(position_in[i] + h * velocity[i] * inverse_scale(metric, i));
    finite = finite && std::isfinite(position_out[i]);
  }
  return finite;
}

template <class T>
bool kick_drift(HostVector<T>& velocity, const HostVector<T>& gradient, const Metric<HostVector<T>>& metric,
                Kick k, const HostVector<T>& position_in, HostVector<T>& position_out, double h) {
  reference::kick(velocity, gradient, metric, k);
  return reference::drift(velocity, metric, position_in, position_out, h);
}

/// One element of the moving estimates: returns the new s² and updates m.
inline double absorbed(double gradient, double& mean, double variance, const MovingEstimate& estimate) {
  const double a = estimate.rate;
  double deviation = gradient;
  if (estimate.centre == Centre::mean) {
    mean = (1 - a) * mean + a * gradient;
    deviation = gradient - mean;
  } else if (estimate.centre == Centre::authors) {
    deviation = gradient - ((1 - a) + a * gradient);
  }
  return std::max((1 - a) * variance + a * deviation * deviation, estimate.floor);
}

template <class T>
void absorb(const HostVector<T>& gradient, HostVector<T>* mean, HostVector<T>& variance,
            const MovingEstimate& estimate) {
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    double m = mean ? double((*mean)[i]) : 0.0;
    variance[i] = T(absorbed(gradient[i], m, variance[i], estimate));
    if (mean) (*mean)[i] = T(m);
  }
}

template <class T>
Scaling normalise(const HostVector<T>& variance, Normalisation normalisation, double relative_floor) {
  const double d = double(variance.size());
  Scaling scaling;
  double sum = 0;
  if (normalisation == Normalisation::inverse_rms) {
    for (std::size_t i = 0; i < variance.size(); ++i) sum += 1 / double(variance[i]);
    scaling.factor = std::sqrt(d / sum);
    return scaling;
  }
  if (normalisation == Normalisation::rms_absolute) {
    scaling.lower = 1e-4;
    scaling.upper = 1e8;
  } else {
    for (std::size_t i = 0; i < variance.size(); ++i) sum += variance[i];
    scaling.lower = relative_floor * relative_floor * sum / d;
  }
  sum = 0;
  for (std::size_t i = 0; i < variance.size(); ++i)
    sum += std::clamp(double(variance[i]), scaling.lower, scaling.upper);
  scaling.factor = std::sqrt(sum / d);
  return scaling;
}

template <class T>
ClosingSums reduce_closing(const HostVector<T>& gradient, const HostVector<T>& velocity,
                           const HostVector<T>* mean, const Metric<HostVector<T>>& metric,
                           const MovingEstimate& estimate, Normalisation normalisation,
                           double relative_floor) {
  ClosingSums sums;
  sums.now = reference::reduce(gradient, velocity, metric);
  HostVector<T> next_mean = mean ? *mean : HostVector<T>(), next_variance = *metric.variance;
  reference::absorb(gradient, mean ? &next_mean : nullptr, next_variance, estimate);
  sums.next = reference::normalise(next_variance, normalisation, relative_floor);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    const double q = gradient[i] * inverse_scale(metric, i);
    const double r = gradient[i] * inverse_scale(double(next_variance[i]), sums.next);
    sums.next_norm2 += r * r;
    sums.cross += q * r;
    sums.next_projection += velocity[i] * r;
  }
  return sums;
}

template <class T>
bool close_and_open(HostVector<T>& velocity, HostVector<T>& velocity_next, const HostVector<T>& gradient,
                    HostVector<T>* mean, HostVector<T>* variance, const Scaling& now, const Scaling& next,
                    const MovingEstimate& estimate, Kick closing, Kick opening,
                    const HostVector<T>& position_in, HostVector<T>& position_out, double h) {
  reference::kick(velocity, gradient, Metric<HostVector<T>>{variance, now}, closing);
  if (variance) reference::absorb(gradient, mean, *variance, estimate);
  velocity_next = velocity;
  return reference::kick_drift(velocity_next, gradient, Metric<HostVector<T>>{variance, next}, opening,
                               position_in, position_out, h);
}

template <class T>
void unit_direction(HostVector<T>& velocity, const HostVector<T>& normals) {
  double sum = 0;
  for (std::size_t i = 0; i < normals.size(); ++i) sum += double(normals[i]) * normals[i];
  const double inverse = 1 / std::sqrt(sum);
  for (std::size_t i = 0; i < normals.size(); ++i) velocity[i] = T(normals[i] * inverse);
}

template <class T>
void refresh(HostVector<T>& velocity, const HostVector<T>& normals, double nu) {
  double sum = 0;
  for (std::size_t i = 0; i < velocity.size(); ++i) {
    const double w = velocity[i] + nu * normals[i];
    sum += w * w;
  }
  const double inverse = 1 / std::sqrt(sum);
  for (std::size_t i = 0; i < velocity.size(); ++i)
    velocity[i] = T((velocity[i] + nu * normals[i]) * inverse);
}

template <class T>
void clip(HostVector<T>& gradient, double limit, bool zero_nan) {
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    if (std::isnan(gradient[i])) {
      if (zero_nan) gradient[i] = T{0};
    } else {
      gradient[i] = T(std::clamp(double(gradient[i]), -limit, limit));
    }
  }
}

template <class T>
bool all_finite(const HostVector<T>& vector) {
  for (std::size_t i = 0; i < vector.size(); ++i)
    if (!std::isfinite(vector[i])) return false;
  return true;
}

template <class T>
double norm2(const HostVector<T>& vector) {
  double sum = 0;
  for (std::size_t i = 0; i < vector.size(); ++i) sum += double(vector[i]) * vector[i];
  return sum;
}

template <class T>
void add_scaled(HostVector<T>& position, const HostVector<T>& gradient, double a,
                const HostVector<T>& normals, double b) {
  for (std::size_t i = 0; i < position.size(); ++i)
    position[i] = T(position[i] + a * gradient[i] + b * normals[i]);
}

template <class T>
void psgld_update(HostVector<T>& position, HostVector<T>& variance, const HostVector<T>& gradient,
                  const HostVector<T>& normals, const PsgldUpdate& p) {
  for (std::size_t i = 0; i < position.size(); ++i) {
    const double scaled = gradient[i] * p.inverse_n, square = scaled * scaled;
    variance[i] = T(p.first ? square : p.decay * variance[i] + (1 - p.decay) * square);
    const double preconditioner = 1 / (p.lambda + std::sqrt(double(variance[i])));
    position[i] = T(position[i] + p.step_size * preconditioner * gradient[i] +
                    std::sqrt(2 * p.step_size * p.temperature * preconditioner) * normals[i]);
  }
}

template <class T>
double momentum_update(HostVector<T>& position, HostVector<T>& momentum, const HostVector<T>& gradient,
                       const HostVector<T>& normals, double a, double b, double c, double e) {
  double sum = 0;
  for (std::size_t i = 0; i < position.size(); ++i) {
    momentum[i] = T(a * momentum[i] + b * gradient[i] + c * normals[i]);
    position[i] = T(position[i] + e * momentum[i]);
    sum += double(momentum[i]) * momentum[i];
  }
  return sum;
}

template <class T>
void adapt_scale(HostVector<T>& tau, HostVector<T>& mean, HostVector<T>& variance,
                 const HostVector<T>& kept_gradient) {
  for (std::size_t i = 0; i < tau.size(); ++i) {
    const double g = kept_gradient[i];
    const double t = tau[i] * (1 - double(mean[i]) * mean[i] / (variance[i] + 1e-7)) + 1;
    const double weight = 1 / (t + 1);
    tau[i] = T(t);
    mean[i] = T(std::clamp((1 - weight) * mean[i] - g * weight, -1e6, 1e6));
    variance[i] = T(std::max((1 - weight) * variance[i] + g * g * weight, 1e-7));
  }
}

template <class T>
void adapt_rms(HostVector<T>& variance, const HostVector<T>& kept_gradient, double rho) {
  for (std::size_t i = 0; i < variance.size(); ++i) {
    const double g = kept_gradient[i];
    variance[i] = T(std::max(rho * variance[i] + (1 - rho) * g * g, 1e-7));
  }
}

template <class T>
void scaled_momentum_update(HostVector<T>& position, HostVector<T>& momentum, const HostVector<T>& variance,
                            const HostVector<T>& gradient, const HostVector<T>& normals, double step_size,
                            double friction) {
  for (std::size_t i = 0; i < position.size(); ++i) {
    const double s = std::sqrt(double(variance[i]));
    const double noise = std::sqrt(std::max(2 * friction * s - (step_size * s) * (step_size * s), 1e-7));
    momentum[i] = T((1 - friction) * momentum[i] + step_size * gradient[i] + noise * normals[i]);
    position[i] = T(position[i] + step_size * momentum[i] / s);
  }
}

}  // namespace smile::kernels::reference

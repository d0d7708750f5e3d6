// SPDX-License-Identifier: Apache-2.0
/// Value and gradient of the analytical densities with injected noise. One text serves a single chain
/// (HostVector) and bundles of chains in the lanes of SIMD registers, whose entries hold a number of every
/// chain.
/// @source spec 1.11
#pragma once

#include <cmath>
#include <cstdint>

#include "smile/kernels/host_vector.hpp"
#include "smile/kernels/lanes_of_one.hpp"
#include "smile/targets/analytical.hpp"
#include "smile/targets/target.hpp"

namespace smile {

/// log p(θ) up to a constant (gmm: normalised), and its gradient.
template <class Vector>
typename Vector::Scalar evaluate(const AnalyticalDensity& density, const Vector& x, Vector& gradient) {
  using Scalar = typename Vector::Scalar;
  using std::exp, std::log, std::min;
  constexpr double kHalfLogTwoPi = 0.91893853320467274178, kLogModes = 1.6094379124341003746;
  const std::size_t d = density.dimension();
  Scalar value = Scalar(0);
  switch (density.kind()) {
    case AnalyticalKind::icg:
    case AnalyticalKind::gaussian: {
      const double* precision = density.precision().data();
      for (std::size_t i = 0; i < d; ++i) {
        Scalar slope;
        if (density.diagonal()) {
          slope = precision[i] * x[i];
        } else {
          slope = precision[i * d] * x[0];
          for (std::size_t j = 1; j < d; ++j) slope += precision[i * d + j] * x[j];
        }
        gradient[i] = -slope;
        value += x[i] * slope;
      }
      return -0.5 * value;
    }
    case AnalyticalKind::rosenbrock:
      for (std::size_t i = 0; i < d / 2; ++i) {
        const Scalar x_i = x[i], away = x_i - 1, bend = x_i * x_i - x[d / 2 + i];
        gradient[i] = -away - 20 * x_i * bend;
        gradient[d / 2 + i] = 10 * bend;
        value += away * away + 10 * bend * bend;
      }
      return -0.5 * value;
    case AnalyticalKind::funnel: {
      const Scalar mouth = x[0], shrink = exp(-mouth);
      for (std::size_t j = 1; j < d; ++j) {
        gradient[j] = -shrink * x[j];
        value += x[j] * x[j];
      }
      const double half = 0.5 * double(d - 1);
      gradient[0] = 0.5 * shrink * value - mouth / 9 - half;
      return -(mouth * mouth) / 18 - half * mouth - 0.5 * shrink * value;
    }
    case AnalyticalKind::gmm:
      // The means form a square grid, so the first two coordinates are independent mixtures of five.
      for (std::size_t i = 0; i < d; ++i) {
        if (i >= 2) {
          gradient[i] = -x[i];
          value -= 0.5 * x[i] * x[i] + kHalfLogTwoPi;
          continue;
        }
        Scalar nearest = Scalar(0);
        for (std::size_t k = 0; k < std::size(AnalyticalDensity::kModes); ++k) {
          const Scalar away = x[i] - AnalyticalDensity::kModes[k];
          nearest = k == 0 ? away * away : min(nearest, away * away);
        }
        Scalar sum = Scalar(0), pull = Scalar(0);
        for (double mode : AnalyticalDensity::kModes) {
          const Scalar away = x[i] - mode, weight = exp(0.5 * (nearest - away * away));
          sum += weight;
          pull += weight * away;
        }
        gradient[i] = -pull / sum;
        value += log(sum) - 0.5 * nearest - kHalfLogTwoPi - kLogModes;
      }
      return value;
  }
  return value;
}

/// How many normals a coordinate of the base noise is made of.
inline std::size_t normals_per_draw(BaseNoise base) {
  return base == BaseNoise::laplace || base == BaseNoise::student_t ? 2 : 1;
}

/// A draw of the base distribution in its usual form, before rescaling, from one or two standard normals:
/// Laplace(0, 1), Student's t with ν degrees of freedom, or the normal itself (also for the lognormal).
/// z₁² + z₂² is twice an exponential, and z₁/‖z‖ an independent cosine (Bailey 1994 for Student's t).
template <class Scalar>
Scalar raw_base_noise(BaseNoise base, double parameter, const Scalar& z1, const Scalar& z2) {
  using std::expm1, std::max, std::sqrt;
  if (base == BaseNoise::laplace)
    return select(z1 < Scalar(0), Scalar(-0.5), Scalar(0.5)) * (z1 * z1 + z2 * z2);
  if (base == BaseNoise::student_t) {
    const Scalar square = max(Scalar(1e-300), z1 * z1 + z2 * z2);
    return z1 * sqrt(parameter * expm1(square / parameter) / square);
  }
  return z1;
}

/// Rescales a raw draw to mean 0 and variance 1; the lognormal is exp(σ raw).
template <class Scalar>
Scalar standardise(BaseNoise base, double parameter, const Scalar& raw) {
  using std::expm1;
  switch (base) {
    case BaseNoise::laplace:
      return raw * std::sqrt(0.5);
    case BaseNoise::student_t:
      return raw * std::sqrt((parameter - 2) / parameter);
    case BaseNoise::lognormal: {
      const double square = parameter * parameter;
      const double deviation = std::sqrt(std::expm1(square) * std::exp(square));
      return (expm1(parameter * raw) - std::expm1(square / 2)) * (1 / deviation);
    }
    case BaseNoise::gaussian:
      break;
  }
  return raw;
}

/// ξ from base noise n of mean 0 and variance 1.
template <class Vector>
void shape_noise(const InjectedNoise& noise, const Vector& base, Vector& xi) {
  const std::size_t d = xi.size();
  const double a = noise.amplitude;
  const double* c = noise.scales.scales.data();
  switch (noise.structure) {
    case NoiseStructure::none:
    case NoiseStructure::isotropic:
      for (std::size_t i = 0; i < d; ++i) xi[i] = a * base[i];
      return;
    case NoiseStructure::diagonal:
      for (std::size_t i = 0; i < d; ++i) xi[i] = a * c[i] * base[i];
      return;
    case NoiseStructure::correlated:
    case NoiseStructure::spatially_varied:
      for (std::size_t i = 0; i < d; ++i) {
        const double* q = noise.scales.rotation.data() + i * d;
        typename Vector::Scalar sum = a * q[0] * c[0] * base[0];
        for (std::size_t k = 1; k < d; ++k) sum += a * q[k] * c[k] * base[k];
        xi[i] = sum;
      }
      return;
  }
}

/// Adds ξ to a gradient at θ; returns what it adds to the log-density.
template <class Vector>
typename Vector::Scalar add_noise(const InjectedNoise& noise, const Vector& xi, const Vector& theta,
                                  Vector& gradient) {
  using Scalar = typename Vector::Scalar;
  using std::exp;
  Scalar value = xi[0] * theta[0];
  for (std::size_t i = 1; i < theta.size(); ++i) value += xi[i] * theta[i];
  if (noise.structure != NoiseStructure::spatially_varied) {
    for (std::size_t i = 0; i < theta.size(); ++i) gradient[i] += xi[i];
    return value;
  }
  const Scalar factor = exp(theta[2] * (-1 / noise.width));
  for (std::size_t i = 0; i < theta.size(); ++i) gradient[i] += xi[i] * factor;
  value *= factor;
  gradient[2] -= value * (1 / noise.width);
  return value;
}

/// A density with a fresh ξ in every step, shared by all evaluations of the step.
template <class Vector>
class AnalyticalTarget final : public Target<Vector> {
 public:
  using Scalar = typename Vector::Scalar;
  /// @param noise_source  of the chain; kept by reference, as are the density and the noise
  AnalyticalTarget(const AnalyticalDensity& density, const InjectedNoise& noise,
                   NormalSource<Vector>& noise_source)
      : density_(density),
        noise_(noise),
        source_(noise_source),
        normals_(density.dimension() * normals_per_draw(noise.base)),
        base_(density.dimension()),
        xi_(density.dimension()) {}

  std::size_t dimension() const override { return density_.dimension(); }

  Scalar log_density_and_gradient(const Vector& position, Vector& gradient, std::uint64_t step) override {
    Scalar value = evaluate(density_, position, gradient);
    if (noise_.structure == NoiseStructure::none) return value;
    if (!drawn_ || step != noise_step_) draw(step);
    value += add_noise(noise_, xi_, position, gradient);
    return value;
  }

 private:
  void draw(std::uint64_t step) {
    source_.normals(normals_, Purpose::gradient_noise, step);
    const std::size_t d = density_.dimension();
    const bool two = normals_per_draw(noise_.base) == 2;
    if (noise_.base == BaseNoise::gaussian) {
      shape_noise(noise_, normals_, xi_);
    } else {
      for (std::size_t i = 0; i < d; ++i)
        base_[i] = standardise(
            noise_.base, noise_.parameter,
            raw_base_noise<Scalar>(noise_.base, noise_.parameter, normals_[i], normals_[two ? d + i : i]));
      shape_noise(noise_, base_, xi_);
    }
    noise_step_ = step;
    drawn_ = true;
  }

  const AnalyticalDensity& density_;
  const InjectedNoise& noise_;
  NormalSource<Vector>& source_;
  Vector normals_, base_, xi_;
  std::uint64_t noise_step_ = 0;
  bool drawn_ = false;
};

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// Gradient-noise preconditioner: moving estimates of the mean m and the scale s of the gradient (spec 1.7).
#pragma once

#include <cstdint>
#include <utility>

#include "smile/archive.hpp"
#include "smile/kernels/passes.hpp"

namespace smile {

struct PreconditionerOptions {
  double rate = 0.01;  ///< α, in (0, 1]
  Centre centre = Centre::mean;
  Normalisation normalisation = Normalisation::rms_floor;
  double relative_floor = 0.03;          ///< r ≥ 0; used by rms_floor
  bool start_at_first_gradient = false;  ///< m₀ = the first gradient evaluated; else m₀ = 0
};

/// m₀ = 0, s₀ = 1. What the integrator divides by is ŝ: s with a relative floor, normalised so that rms(ŝ)
/// = 1.
/// @source the paper, section on preconditioning; spec 1.7
template <class Vector>
class Preconditioner {
 public:
  Preconditioner() = default;
  Preconditioner(const PreconditionerOptions& options, std::size_t dimension)
      : options_(options), variance_(dimension, typename Vector::value_type(1)) {
    estimate_.rate = options.rate;
    estimate_.centre = options.centre;
    if (has_mean()) mean_ = Vector(dimension);
    scaling_ = kernels::normalise(variance_, options_.normalisation, options_.relative_floor);
  }

  /// Sees the first gradient evaluated, before any step.
  void start(const Vector& gradient) {
    if (options_.start_at_first_gradient && has_mean()) mean_ = gradient;
  }

  /// m ← (1−α) m + α g;  s ← sqrt(max((1−α) s² + α (g − m)², 1e−7));  then ŝ anew.
  void absorb(const Vector& gradient) {
    if (frozen_) return;
    kernels::absorb(gradient, mean(), variance_, estimate_);
    scaling_ = kernels::normalise(variance_, options_.normalisation, options_.relative_floor);
  }

  /// The same for the chains of the mask; the others keep m and s.
  void absorb_where(const Vector& gradient, const Mask<Vector>& chains) {
    if (frozen_) return;
    if (all(chains)) return absorb(gradient);
    Vector kept_mean = mean_, kept_variance = variance_;
    kernels::absorb(gradient, mean(), variance_, estimate_);
    if (has_mean()) kernels::copy_where(mean_, kept_mean, !chains);
    kernels::copy_where(variance_, kept_variance, !chains);
    scaling_ = kernels::normalise(variance_, options_.normalisation, options_.relative_floor);
  }

  /// Adds s² to what freeze() takes the mean of.
  void gather() {
    if (gathered_ == 0) sum_ = Vector(variance_.size());
    ++gathered_;
    kernels::add_scaled(sum_, variance_, Scalar(1), variance_, Scalar(0));
  }
  /// ŝ stays from now on: that of the mean of the gathered s², or as it is where none was.
  /// @source spec 06, 6.3: an ŝ that moves while the chain samples pumps energy in
  void freeze() {
    frozen_ = true;
    if (gathered_ == 0) return;
    Vector mean(sum_.size());
    kernels::add_scaled(mean, sum_, Scalar(1 / double(gathered_)), sum_, Scalar(0));
    variance_ = std::move(mean);
    sum_ = Vector();
    gathered_ = 0;
    scaling_ = kernels::normalise(variance_, options_.normalisation, options_.relative_floor);
  }
  bool frozen() const { return frozen_; }

  Metric<Vector> metric() const { return {&variance_, scaling_}; }
  const PreconditionerOptions& options() const { return options_; }
  const MovingEstimate& estimate() const { return estimate_; }
  const ScalingOf<typename Vector::Scalar>& scaling() const { return scaling_; }

  /// For the fused pass that absorbs the gradient itself: it takes m and s², and leaves the scaling to be
  /// set.
  Vector* mean() { return has_mean() ? &mean_ : nullptr; }
  const Vector* mean() const { return has_mean() ? &mean_ : nullptr; }
  Vector& variance() { return variance_; }
  const Vector& variance() const { return variance_; }
  void set_scaling(const ScalingOf<typename Vector::Scalar>& scaling) { scaling_ = scaling; }

  void serialise(Archive& archive) {
    if (has_mean()) archive.vector(mean_);
    archive.vector(variance_);
    archive.value(scaling_.lower), archive.value(scaling_.upper), archive.value(scaling_.factor);
    archive.value(frozen_), archive.value(gathered_);
    if (archive.reading()) sum_ = Vector(gathered_ > 0 ? variance_.size() : 0);
    if (gathered_ > 0) archive.vector(sum_);
  }

 private:
  using Scalar = typename Vector::Scalar;
  bool has_mean() const { return options_.centre == Centre::mean; }
  PreconditionerOptions options_;
  MovingEstimate estimate_;
  Vector mean_, variance_;
  Vector sum_;  // of s² over gathered_ steps
  std::uint64_t gathered_ = 0;
  bool frozen_ = false;
  ScalingOf<typename Vector::Scalar> scaling_;
};

}  // namespace smile

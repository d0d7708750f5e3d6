// SPDX-License-Identifier: Apache-2.0
/// What a sampler asks of the world: a log-density with its gradient, and normals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "smile/random/stream.hpp"

namespace smile {

/// A log-density on R^d, known through one mini-batch a step (spec 1.1). Not shared between threads: a chain
/// has its own target over shared immutable data.
template <class Vector>
class Target {
 public:
  using Scalar = typename Vector::Scalar;
  virtual ~Target() = default;

  /// d; the microcanonical samplers need d ≥ 2.
  virtual std::size_t dimension() const = 0;

  /// L(θ; 𝓑_step) up to a constant, and its gradient (uphill). Non-finite results are returned as they are:
  /// the sampler refuses the step (spec 1.5, 1.8). The same (θ, step) always gives the same result.
  /// @param position  @shape [d]
  /// @param gradient  @shape [d], overwritten
  /// @param step      number of the step whose mini-batch is used; 0 is the batch of the start
  virtual Scalar log_density_and_gradient(const Vector& position, Vector& gradient, std::uint64_t step) = 0;

  /// The value alone; by default a gradient evaluation into a scratch vector.
  virtual Scalar log_density(const Vector& position, std::uint64_t step) {
    if (scratch_.size() != position.size()) scratch_ = Vector(position.size());
    return log_density_and_gradient(position, scratch_, step);
  }

 private:
  Vector scratch_;
};

/// Hands out standard normals by purpose and step; a chain's source is made from (seed, chain).
template <class Vector>
class NormalSource {
 public:
  virtual ~NormalSource() = default;
  virtual void normals(Vector& out, Purpose purpose, std::uint64_t step) = 0;
  /// Where the source can make them as they are used: out ← u + ν z with the normals z of (purpose, step),
  /// which are not stored; returns ‖out‖². Nothing where it cannot.
  virtual std::optional<typename Vector::Scalar> stir(const Vector&, Vector&, const typename Vector::Scalar&,
                                                      Purpose, std::uint64_t) {
    return std::nullopt;
  }
  /// Uniform in (0, 1) of (purpose, step).
  virtual typename Vector::Scalar uniform(Purpose purpose, std::uint64_t step) = 0;
};

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// IVON: a Gaussian N(m, diag(σ²)) that descends the variational bound with the cost of Adam. An optimiser of
/// the warm start and, with the whole posterior as its loss, the posterior approximation `ivon`.
/// @source Shen et al. 2024, Algorithm 1; spec 06, 6.9
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "smile/archive.hpp"
#include "smile/kernels/host_vector.hpp"

namespace smile {

struct IvonOptions {
  double beta1 = 0.9;         ///< β₁ of the gradient's average, in [0, 1)
  double beta2 = 0.99999;     ///< β₂ of the Hessian's average, in [0, 1)
  double hessian_start = 1;   ///< h₀ > 0, of the mean loss
  double effective_size = 1;  ///< λ > 0: N for the posterior of N rows
  double weight_decay = 0;    ///< δ ≥ 0: prior precision / λ, where the loss does not hold the prior
  double clip_radius = std::numeric_limits<double>::infinity();  ///< bound of |(ḡ + δ m)/(h + δ)|, > 0
  bool rescale = true;                                           ///< the learning rate times h₀ + δ
  /// Smallest h. At 0 no σ exceeds the prior's (λ δ)^−½, whatever the noise of ĥ where the loss says little.
  double hessian_floor = -std::numeric_limits<double>::infinity();
};

/// With n ~ N(0, I), ĝ the gradient of the mean loss at θ, and t = 1, 2, …:
///
///     σ = 1/√(λ(h + δ));  θ = m + σ n;  ĥ = ĝ (θ − m)/σ² = ĝ n/σ
///     g ← β₁ g + (1−β₁) ĝ
///     h ← β₂ h + (1−β₂) ĥ + ½ (1−β₂)² (h − ĥ)²/(h + δ)          (which keeps h + δ above 0)
///     m ← m − α (g/(1−β₁ᵗ) + δ m)/(h + δ)
///
/// ĝ and ĥ may be means over several n of one update. Sums in double.
template <class T>
class Ivon {
 public:
  Ivon() = default;
  Ivon(const IvonOptions& options, std::size_t dimension)
      : options_(options),
        momentum_(dimension),
        hessian_(dimension, T(options.hessian_start)),
        seen_gradient_(dimension),
        seen_hessian_(dimension) {}

  /// σ of entry i, of the Gaussian as it stands.
  double sd(std::size_t i) const {
    return 1 / std::sqrt(options_.effective_size * (double(hessian_[i]) + options_.weight_decay));
  }
  /// θ = m + σ n. @param mean, normals, position  @shape [d]
  void draw(const HostVector<T>& mean, const HostVector<T>& normals, HostVector<T>& position) const {
    for (std::size_t i = 0; i < mean.size(); ++i)
      position[i] = T(double(mean[i]) + sd(i) * double(normals[i]));
  }
  /// Adds what one θ has shown to the update to come. @param gradient  ĝ at draw(mean, normals), @shape [d]
  void observe(const HostVector<T>& gradient, const HostVector<T>& normals) {
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      seen_gradient_[i] += gradient[i];
      seen_hessian_[i] += T(double(gradient[i]) * double(normals[i]) / sd(i));
    }
    ++seen_;
  }
  /// Moves m and h by what was observed since the last update. @param rate  α ≥ 0, before it is rescaled
  void update(HostVector<T>& mean, double rate) {
    ++updates_;
    const double b1 = options_.beta1, rest2 = 1 - options_.beta2, decay = options_.weight_decay;
    const double unbias = 1 / (1 - std::pow(b1, double(updates_)));
    if (options_.rescale) rate *= options_.hessian_start + decay;
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const double h = double(hessian_[i]), m = double(mean[i]);
      const double off = double(seen_hessian_[i]) / seen_ - h;
      const double g = b1 * double(momentum_[i]) + (1 - b1) * double(seen_gradient_[i]) / seen_;
      const double next =
          std::max(options_.hessian_floor, h + rest2 * off + 0.5 * rest2 * rest2 * off * off / (h + decay));
      const double step = (g * unbias + decay * m) / (next + decay);
      momentum_[i] = T(g);
      hessian_[i] = T(next);
      mean[i] = T(m - rate * std::clamp(step, -options_.clip_radius, options_.clip_radius));
      seen_gradient_[i] = seen_hessian_[i] = T(0);
    }
    seen_ = 0;
  }

  const HostVector<T>& hessian() const { return hessian_; }
  /// Between updates.
  void serialise(Archive& archive) {
    archive.vector(momentum_), archive.vector(hessian_), archive.value(updates_);
    if (archive.reading()) seen_gradient_ = seen_hessian_ = HostVector<T>(hessian_.size());
  }

 private:
  IvonOptions options_;
  HostVector<T> momentum_, hessian_;            // g, h
  HostVector<T> seen_gradient_, seen_hessian_;  // Σ ĝ, Σ ĥ of the update to come
  double seen_ = 0;
  std::uint64_t updates_ = 0;
};

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// First-order optimisers over a flat parameter vector.
/// @source Sutskever et al. 2013 (momentum); Kingma & Ba 2015 (Adam); Loshchilov & Hutter 2019 (AdamW);
/// Shen et al. 2024 (IVON); spec 2.5
#pragma once

#include <cstdint>
#include <optional>

#include "smile/dynamics/ivon.hpp"
#include "smile/kernels/host_vector.hpp"
#include "smile/named.hpp"

namespace smile {

enum class OptimizerKind { sgd, adam, adamw, ivon };
template <>
struct Named<OptimizerKind> {
  static constexpr Alternative<OptimizerKind> all[] = {
      {OptimizerKind::adamw, "adamw"},
      {OptimizerKind::adam, "adam"},
      {OptimizerKind::sgd, "sgd"},
      {OptimizerKind::ivon, "ivon",
       "variational: parameters are drawn around their mean (Shen et al. 2024)"}};
};

/// With g the gradient of the loss, η the learning rate and t = 1, 2, … the number of the update:
///
///     sgd     v ← μ v + g;  θ ← θ − η v          (nesterov: θ ← θ − η (g + μ v), with the new v)
///     adam    m ← β₁ m + (1−β₁) g;  s ← β₂ s + (1−β₂) g²
///             θ ← θ − η (m/(1−β₁ᵗ)) / (√(s/(1−β₂ᵗ)) + ε)
///     adamw   as adam, with λθ (the old θ) added to the quotient: the decay is decoupled from the moments
///     and
///             scaled by η. It applies to every parameter, biases included.
///
/// These are the conventions of optax and PyTorch. sgd and adam have no weight decay. ivon draws the
/// parameters at which it asks for the gradient: dynamics/ivon.hpp; the member is its mean m.
struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::adamw;
  double weight_decay = 0.005;                  ///< λ ≥ 0; adamw; δ of ivon
  double momentum = 0;                          ///< μ in [0, 1); sgd
  bool nesterov = false;                        ///< sgd; without momentum no effect
  double b1 = 0.9, b2 = 0.999, epsilon = 1e-8;  ///< β₁, β₂ in [0, 1), ε > 0; adam, adamw
  IvonOptions ivon{};                           ///< but its weight decay and effective size, which are:
  std::optional<double> effective_size{};       ///< λ > 0 of ivon; none: the training rows
  std::int64_t draws = 1;                       ///< ivon: gradients an update, ≥ 1

  /// @throws Error for a value out of its range
  void validate() const;
  /// All of ivon's. @param observations  N
  IvonOptions ivon_of(std::size_t observations) const;
};

/// An optimiser and its moments.
template <class T>
class Optimizer {
 public:
  /// @param dimension  d; the moments start at zero   @pre not ivon, which has a class of its own
  Optimizer(const OptimizerOptions& options, std::size_t dimension);

  /// One update. An entry whose gradient has always been zero moves by weight decay alone.
  /// @param position @shape [d]   @param gradient @shape [d], of the loss: downhill is its negative
  /// @param learning_rate  η ≥ 0
  /// @cost one sweep; no allocation
  void update(HostVector<T>& position, const HostVector<T>& gradient, double learning_rate);
  /// Forgets the moments and the number of updates.
  void reset();
  /// t, updates so far.
  std::uint64_t updates() const { return updates_; }

 private:
  void descend(T* position, const T* gradient, T learning_rate);
  void descend_by_moments(T* position, const T* gradient, double learning_rate);
  OptimizerOptions options_;
  std::size_t dimension_;
  std::uint64_t updates_ = 0;
  HostVector<T> first_;   ///< v of sgd with momentum; m of adam
  HostVector<T> second_;  ///< s of adam
};

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// The Laplace approximation around a member: a Gaussian with the curvature of the posterior there.
/// @source MacKay 1992; Ritter et al. 2018 (Kronecker factors); Immer et al. 2021 (linearised predictive,
/// marginal likelihood); spec 06, 6.9
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "smile/named.hpp"
#include "smile/network/network.hpp"
#include "smile/targets/priors.hpp"

namespace smile {

/// Which entries of the curvature are kept.
enum class LaplaceForm {
  full,        ///< all; at most kMostDenseParameters parameters
  kronecker,   ///< of each dense layer the product of its inputs' and its units' second moments
  diagonal,    ///< the variances' alone
  last_layer,  ///< all of the last layer (and log σ); the other parameters stay where they are
};
template <>
struct Named<LaplaceForm> {
  static constexpr Alternative<LaplaceForm> all[] = {{LaplaceForm::full, "full"},
                                                     {LaplaceForm::kronecker, "kronecker"},
                                                     {LaplaceForm::diagonal, "diagonal"},
                                                     {LaplaceForm::last_layer, "last_layer"}};
};

/// What the prior's precision is.
enum class LaplacePrior {
  configured,           ///< that of prior_config, which must be a Normal
  marginal_likelihood,  ///< that times the τ with the largest marginal likelihood of the training rows
  validation,           ///< that times the τ with the best log-density of the validation rows
};
template <>
struct Named<LaplacePrior> {
  static constexpr Alternative<LaplacePrior> all[] = {
      {LaplacePrior::configured, "configured"},
      {LaplacePrior::marginal_likelihood, "marginal_likelihood"},
      {LaplacePrior::validation, "validation"}};
};

struct LaplaceOptions {
  LaplaceForm form = LaplaceForm::full;
  LaplacePrior prior = LaplacePrior::configured;
  double temperature = 1;  ///< T > 0 of the posterior: covariances times T
};

inline constexpr std::size_t kMostDenseParameters = 2000;

/// N(θ*, T H⁻¹) with H = Σ_n J_nᵀ Λ_n J_n + τ P: J_n the network's Jacobian at row n, Λ_n the expected
/// curvature of −log p(y | f) in the outputs f (the generalised Gauss–Newton matrix; of log σ of mean_regr:
/// 2), P the prior's precision. Where θ* is not the posterior's mode its gradient is left out, as is usual.
///
/// In every form H is P^½ (V diag(λ) Vᵀ + τ) P^½ with orthogonal V, so that a new τ costs nothing.
class LaplacePosterior {
 public:
  /// @param mode     θ*, whole, @shape [d]
  /// @param prior    of the moving parameters, in the order of θ
  /// @param moving   places in θ of the parameters that are not frozen, ascending; empty: all
  /// @param valid_targets  of the validation rows, for LaplacePrior::validation
  /// @throws Error where the network has no Jacobians, the form is too large for it or the prior no Normal
  LaplacePosterior(const Network& network, Task task, const HostVector<float>& mode, const Prior& prior,
                   std::vector<std::uint32_t> moving, const LaplaceOptions& options,
                   std::span<const double> valid_targets);
  ~LaplacePosterior();
  LaplacePosterior(LaplacePosterior&&) noexcept;

  /// A draw of the moving parameters. @param normals, position @shape [moving]
  void draw(const HostVector<float>& normals, HostVector<float>& position) const;
  /// H⁻¹ T of the moving parameters, @shape [moving, moving]; for tests and small networks.
  std::vector<double> covariance() const;

  /// The predictive of the network that is linear around θ*: of regression N(f, J Σ Jᵀ + σ²), of classes the
  /// softmax of f_c/√(1 + π/8 (J Σ Jᵀ)_cc) (MacKay's probit approximation).
  /// @param outputs  of all points of a part: (mean, log sd) or logits; @shape [points, 2] or [points,
  /// classes]
  void predict(Part part, std::vector<float>& outputs) const;

  /// τ
  double prior_factor() const;
  /// log p(training rows) under the approximation, up to a constant of the prior that τ does not change.
  double log_marginal_likelihood() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// What is wrong with the approximation of this network; empty where nothing is. Known before anything is
/// computed.
std::string laplace_problem(const Network& network, Task task, const LaplaceOptions& options,
                            std::size_t moving_parameters);

}  // namespace smile

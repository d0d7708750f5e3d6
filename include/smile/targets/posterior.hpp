// SPDX-License-Identifier: Apache-2.0
/// The posterior of a model given data, seen through one mini-batch a step (spec 1.1):
///     L(θ; 𝓑_t) = log p(θ) + (N/B_t) Σ_{i∈𝓑_t} log p(y_i | x_i, θ)
#pragma once

#include <memory>
#include <string>

#include "smile/named.hpp"
#include "smile/targets/batch_order.hpp"
#include "smile/targets/likelihood.hpp"
#include "smile/targets/priors.hpp"
#include "smile/targets/target.hpp"

namespace smile {

enum class LikelihoodScale {
  exact,             ///< N/B_t with the true N and the size of the batch at hand
  floor_of_batches,  ///< `floor`: floor(N/B), as the authors' code has it (spec 1.12)
};
template <>
struct Named<LikelihoodScale> {
  static constexpr Alternative<LikelihoodScale> all[] = {{LikelihoodScale::exact, "exact"},
                                                         {LikelihoodScale::floor_of_batches, "floor"}};
};

/// One object a chain: owns its likelihood (with its workspace) and its batch order; the prior is shared.
template <class T>
class MinibatchPosterior final : public Target<HostVector<T>> {
 public:
  /// @throws Error where the prior's dimension or the batch order's N differ from the likelihood's
  MinibatchPosterior(std::unique_ptr<Likelihood<T>> likelihood, std::shared_ptr<const Prior> prior,
                     BatchOrder batches, LikelihoodScale scale = LikelihoodScale::exact);

  std::size_t dimension() const override { return prior_->dimension(); }
  double log_density_and_gradient(const HostVector<T>& position, HostVector<T>& gradient,
                                  std::uint64_t step) override;
  double log_density(const HostVector<T>& position, std::uint64_t step) override;

  /// Log-likelihood over the batch of the last evaluation, not scaled (for monitors).
  double last_log_likelihood() const { return last_log_likelihood_; }
  /// The factor of batch `step`.
  double likelihood_factor(std::uint64_t step) const;
  Likelihood<T>& likelihood() { return *likelihood_; }
  const Prior& prior() const { return *prior_; }
  const BatchOrder& batches() const { return batches_; }

 private:
  std::unique_ptr<Likelihood<T>> likelihood_;
  std::shared_ptr<const Prior> prior_;
  BatchOrder batches_;
  LikelihoodScale scale_;
  double last_log_likelihood_ = 0;
};

extern template class MinibatchPosterior<float>;
extern template class MinibatchPosterior<double>;

}  // namespace smile

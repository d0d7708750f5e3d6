// SPDX-License-Identifier: Apache-2.0
#include "smile/targets/posterior.hpp"

#include <algorithm>
#include <utility>

#include "smile/error.hpp"

namespace smile {

template <class T>
MinibatchPosterior<T>::MinibatchPosterior(std::unique_ptr<Likelihood<T>> likelihood,
                                          std::shared_ptr<const Prior> prior, BatchOrder batches,
                                          LikelihoodScale scale)
    : likelihood_(std::move(likelihood)),
      prior_(std::move(prior)),
      batches_(std::move(batches)),
      scale_(scale) {
  if (prior_->dimension() != likelihood_->layout().size())
    throw Error("posterior",
                "the prior has " + std::to_string(prior_->dimension()) + " parameters, the model " +
                    std::to_string(likelihood_->layout().size()),
                "make the prior from the model's layout");
  if (batches_.observations() != likelihood_->observations())
    throw Error("posterior",
                "the batches are of " + std::to_string(batches_.observations()) + " rows, the model has " +
                    std::to_string(likelihood_->observations()),
                "make the batch order from the model's number of observations");
}

template <class T>
double MinibatchPosterior<T>::likelihood_factor(std::uint64_t step) const {
  if (batches_.full()) return 1;
  const std::size_t n = batches_.observations();
  if (scale_ == LikelihoodScale::floor_of_batches)
    return static_cast<double>(std::max<std::size_t>(1, n / batches_.batch_size()));
  return static_cast<double>(n) / static_cast<double>(batches_.size(step));
}

template <class T>
double MinibatchPosterior<T>::log_density_and_gradient(const HostVector<T>& position, HostVector<T>& gradient,
                                                       std::uint64_t step) {
  if (gradient.size() != position.size()) gradient.resize(position.size());
  const double factor = likelihood_factor(step);
  last_log_likelihood_ = likelihood_->log_likelihood_and_gradient(batches_.rows(step), position, gradient);
  const double log_prior = prior_->log_density_and_gradient(position.span(), factor, gradient.span());
  return factor * last_log_likelihood_ + log_prior;
}

template <class T>
double MinibatchPosterior<T>::log_density(const HostVector<T>& position, std::uint64_t step) {
  last_log_likelihood_ = likelihood_->log_likelihood(batches_.rows(step), position);
  return likelihood_factor(step) * last_log_likelihood_ + prior_->log_density(position.span());
}

template class MinibatchPosterior<float>;
template class MinibatchPosterior<double>;

}  // namespace smile

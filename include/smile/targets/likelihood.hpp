// SPDX-License-Identifier: Apache-2.0
/// Tasks, and the interface between a model with data and the posterior over its parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "smile/kernels/host_vector.hpp"
#include "smile/named.hpp"
#include "smile/targets/parameters.hpp"

namespace smile {

/// spec 2.1: what the network's outputs mean and how an observation scores.
enum class Task {
  regression,       ///< `regr`: outputs (mean, log σ)
  mean_regression,  ///< `mean_regr`: output mean; one global log σ, the last entry of θ
  classification,   ///< `class`: C logits
  multilabel,       ///< `class_multilabel`: per position V logits (language modelling)
};
template <>
struct Named<Task> {
  static constexpr Alternative<Task> all[] = {{Task::mean_regression, "mean_regr"},
                                              {Task::regression, "regr"},
                                              {Task::classification, "class"},
                                              {Task::multilabel, "class_multilabel"}};
};

/// Σ_i log p(y_i | x_i, θ) of a model on its training rows. One object a chain (it owns its workspace) over
/// shared immutable data.
template <class T>
class Likelihood {
 public:
  virtual ~Likelihood() = default;
  virtual const ParameterLayout& layout() const = 0;
  /// N, the number of observations.
  virtual std::size_t observations() const = 0;

  /// Sum of the log-likelihood over `rows` (all N rows where `rows` is empty) and its gradient.
  /// Non-finite terms make the result non-finite; nothing is dropped (spec 2.1).
  /// @param position @shape [d]   @param gradient @shape [d], overwritten
  virtual double log_likelihood_and_gradient(std::span<const std::uint32_t> rows,
                                             const HostVector<T>& position, HostVector<T>& gradient) = 0;
  virtual double log_likelihood(std::span<const std::uint32_t> rows, const HostVector<T>& position) = 0;
};

}  // namespace smile

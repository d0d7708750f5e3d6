// SPDX-License-Identifier: Apache-2.0
/// A target at a temperature: exp(L/T), prior and likelihood alike (a "cold posterior" where T < 1).
/// @source Wenzel et al. 2020; spec 06
#pragma once

#include <memory>
#include <utility>

#include "smile/targets/target.hpp"

namespace smile {

/// For samplers whose dynamics have no temperature of their own.
template <class T>
class TemperedTarget final : public Target<HostVector<T>> {
 public:
  /// @param temperature  T > 0
  TemperedTarget(std::unique_ptr<Target<HostVector<T>>> target, double temperature)
      : target_(std::move(target)), inverse_(1 / temperature) {}

  std::size_t dimension() const override { return target_->dimension(); }
  double log_density_and_gradient(const HostVector<T>& position, HostVector<T>& gradient,
                                  std::uint64_t step) override {
    const double value = target_->log_density_and_gradient(position, gradient, step);
    for (T& g : gradient.span()) g = T(double(g) * inverse_);
    return value * inverse_;
  }
  double log_density(const HostVector<T>& position, std::uint64_t step) override {
    return target_->log_density(position, step) * inverse_;
  }

 private:
  std::unique_ptr<Target<HostVector<T>>> target_;
  double inverse_;
};

}  // namespace smile

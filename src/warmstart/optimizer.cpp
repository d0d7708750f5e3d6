// SPDX-License-Identifier: Apache-2.0
#include "smile/warmstart/optimizer.hpp"

#include <cassert>
#include <cmath>
#include <sstream>

#include "smile/error.hpp"

namespace smile {
namespace {

void check(bool allowed, const char* name, double value, const char* range) {
  if (allowed) return;
  std::ostringstream what;
  what << "the value is " << value;
  throw Error(std::string("optimizer.") + name, what.str(), std::string("give a number ") + range);
}

bool is_fraction(double x) {
  return x >= 0 && x < 1;
}

}  // namespace

void OptimizerOptions::validate() const {
  check(weight_decay >= 0 && std::isfinite(weight_decay), "weight_decay", weight_decay, "of at least 0");
  check(is_fraction(momentum), "momentum", momentum, "in [0, 1)");
  check(is_fraction(b1), "b1", b1, "in [0, 1)");
  check(is_fraction(b2), "b2", b2, "in [0, 1)");
  check(epsilon > 0 && std::isfinite(epsilon), "eps", epsilon, "above 0");
  check(is_fraction(ivon.beta1), "beta1", ivon.beta1, "in [0, 1)");
  check(is_fraction(ivon.beta2), "beta2", ivon.beta2, "in [0, 1)");
  check(ivon.hessian_start > 0 && std::isfinite(ivon.hessian_start), "h0", ivon.hessian_start, "above 0");
  check(ivon.clip_radius > 0, "clip_radius", ivon.clip_radius, "above 0");
  check(draws >= 1, "num_mc_samples", double(draws), "of at least 1");
  const double size = effective_size.value_or(1);
  check(size > 0 && std::isfinite(size), "ess", size, "above 0");
}

IvonOptions OptimizerOptions::ivon_of(std::size_t observations) const {
  IvonOptions all = ivon;
  all.weight_decay = weight_decay;
  all.effective_size = effective_size.value_or(double(observations));
  return all;
}

template <class T>
Optimizer<T>::Optimizer(const OptimizerOptions& options, std::size_t dimension)
    : options_(options), dimension_(dimension) {
  options_.validate();
  reset();
}

template <class T>
void Optimizer<T>::reset() {
  updates_ = 0;
  const bool has_moments = options_.kind != OptimizerKind::sgd;
  if (has_moments || options_.momentum > 0) first_.resize(dimension_);
  if (has_moments) second_.resize(dimension_);
}

template <class T>
void Optimizer<T>::update(HostVector<T>& position, const HostVector<T>& gradient, double learning_rate) {
  assert(position.size() == dimension_ && gradient.size() == dimension_);
  ++updates_;
  if (options_.kind == OptimizerKind::sgd)
    descend(position.data(), gradient.data(), static_cast<T>(learning_rate));
  else
    descend_by_moments(position.data(), gradient.data(), learning_rate);
}

template <class T>
void Optimizer<T>::descend(T* position, const T* gradient, T learning_rate) {
  if (options_.momentum == 0) {
    for (std::size_t i = 0; i < dimension_; ++i) position[i] -= learning_rate * gradient[i];
    return;
  }
  const T momentum = static_cast<T>(options_.momentum);
  T* velocity = first_.data();
  for (std::size_t i = 0; i < dimension_; ++i) {
    velocity[i] = momentum * velocity[i] + gradient[i];
    const T direction = options_.nesterov ? gradient[i] + momentum * velocity[i] : velocity[i];
    position[i] -= learning_rate * direction;
  }
}

template <class T>
void Optimizer<T>::descend_by_moments(T* position, const T* gradient, double learning_rate) {
  const double updates = static_cast<double>(updates_);
  const T b1 = static_cast<T>(options_.b1), b2 = static_cast<T>(options_.b2);
  // 1 − β in double: formed from a float β₂ = 0.999 it would be off by 1e−5 relative.
  const T rest1 = static_cast<T>(1 - options_.b1), rest2 = static_cast<T>(1 - options_.b2);
  const T unbias1 = static_cast<T>(1 / (1 - std::pow(options_.b1, updates)));
  const T unbias2 = static_cast<T>(1 / (1 - std::pow(options_.b2, updates)));
  const T epsilon = static_cast<T>(options_.epsilon);
  const T rate = static_cast<T>(learning_rate);
  const T decay = options_.kind == OptimizerKind::adamw ? static_cast<T>(options_.weight_decay) : T{0};
  T* first = first_.data();
  T* second = second_.data();
  for (std::size_t i = 0; i < dimension_; ++i) {
    first[i] = b1 * first[i] + rest1 * gradient[i];
    second[i] = b2 * second[i] + rest2 * (gradient[i] * gradient[i]);
    const T quotient = (first[i] * unbias1) / (std::sqrt(second[i] * unbias2) + epsilon);
    position[i] -= rate * (quotient + decay * position[i]);
  }
}

template class Optimizer<float>;
template class Optimizer<double>;

}  // namespace smile

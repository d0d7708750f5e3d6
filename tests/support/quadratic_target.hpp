// SPDX-License-Identifier: Apache-2.0
/// The small target of the sampler vectors, and a source of normals that hands out given rows.
///     L_t(θ) = −½ θᵀAθ + (b + noise[t])ᵀθ,   ∇L_t = −Aθ + b + noise[t]
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "smile/kernels/host_vector.hpp"
#include "smile/targets/target.hpp"
#include "support/vectors.hpp"

namespace smile::test {

/// Replaces one number of what the target returns.
struct Planted {
  std::uint64_t step;
  int evaluation;  ///< from 0, counted within the step
  bool gradient;   ///< else the log-density
  std::size_t entry;
  double value;
};

std::vector<Planted> planted_of(const Json& input);

template <class T>
class QuadraticTarget final : public Target<HostVector<T>> {
 public:
  QuadraticTarget(std::vector<std::vector<double>> a, std::vector<double> b,
                  std::vector<std::vector<double>> noise, std::vector<Planted> planted = {})
      : a_(std::move(a)), b_(std::move(b)), noise_(std::move(noise)), planted_(std::move(planted)) {}

  std::size_t dimension() const override { return b_.size(); }

  double log_density_and_gradient(const HostVector<T>& x, HostVector<T>& g, std::uint64_t step) override {
    const double value = evaluate(x, &g, step);
    return value;
  }
  double log_density(const HostVector<T>& x, std::uint64_t step) override {
    return evaluate(x, nullptr, step);
  }

 private:
  double evaluate(const HostVector<T>& x, HostVector<T>* g, std::uint64_t step) {
    evaluation_ = step == step_ ? evaluation_ + 1 : 0;
    step_ = step;
    double value = 0;
    for (std::size_t i = 0; i < b_.size(); ++i) {
      double ax = 0;
      for (std::size_t j = 0; j < b_.size(); ++j) ax += a_[i][j] * double(x[j]);
      const double linear = b_[i] + (noise_.empty() ? 0.0 : noise_.at(step)[i]);
      value += double(x[i]) * (linear - 0.5 * ax);
      if (g) (*g)[i] = T(linear - ax);
    }
    for (const Planted& p : planted_) {
      if (p.step != step || p.evaluation != evaluation_) continue;
      if (!p.gradient) value = p.value;
      if (p.gradient && g) (*g)[p.entry] = T(p.value);
    }
    return value;
  }

  std::vector<std::vector<double>> a_;
  std::vector<double> b_;
  std::vector<std::vector<double>> noise_;
  std::vector<Planted> planted_;
  std::uint64_t step_ = ~std::uint64_t{0};
  int evaluation_ = 0;
};

/// Rows by purpose and step; a row that is asked for and not given is an error.
template <class T>
class GivenNormals final : public NormalSource<HostVector<T>> {
 public:
  void give(Purpose purpose, std::uint64_t step, std::vector<double> row) {
    rows_[{purpose, step}] = std::move(row);
  }
  void normals(HostVector<T>& out, Purpose purpose, std::uint64_t step) override {
    const auto row = rows_.find({purpose, step});
    if (row == rows_.end())
      throw std::runtime_error("normals of purpose " + std::to_string(int(purpose)) + " asked for in step " +
                               std::to_string(step) + ", where the vectors give none");
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = T(row->second.at(i));
    used_.push_back({purpose, step});
  }
  double uniform(Purpose, std::uint64_t step) override { return coins_.count(step) ? 0.0 : 1.0; }
  void give_coin(std::uint64_t step) { coins_[step] = true; }
  /// Steps in which rows of this purpose were handed out, each once.
  std::vector<double> used(Purpose purpose) const {
    std::vector<double> steps;
    for (const auto& [p, step] : used_)
      if (p == purpose && (steps.empty() || steps.back() != double(step))) steps.push_back(double(step));
    return steps;
  }

 private:
  std::map<std::pair<Purpose, std::uint64_t>, std::vector<double>> rows_;
  std::map<std::uint64_t, bool> coins_;
  std::vector<std::pair<Purpose, std::uint64_t>> used_;
};

template <class T>
HostVector<T> host(const std::vector<double>& values) {
  HostVector<T> out(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) out[i] = T(values[i]);
  return out;
}
template <class T>
std::vector<double> plain(const HostVector<T>& values) {
  return {values.data(), values.data() + values.size()};
}

/// The tolerance of a case for float or double: the case's own before the file's.
struct CaseTolerance {
  Tolerance tolerance;
  std::uint64_t steps;  ///< compare only up to this step
};
CaseTolerance case_tolerance(const Json& file, const Json& test_case, bool single_precision,
                             std::uint64_t steps);

}  // namespace smile::test

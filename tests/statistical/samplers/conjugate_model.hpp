// SPDX-License-Identifier: Apache-2.0
/// A model whose posterior is known: y_i ~ N(θ, I) with a normal prior; and faults to plant into it.
#pragma once

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "smile/random/stream.hpp"
#include "smile/targets/posterior.hpp"
#include "support/stream_normals.hpp"

namespace smile::test {

using Vector = HostVector<double>;

/// log p(y_i | θ) = −½ ‖y_i − θ‖². The data are spread by much less than the model says (0.1 instead of 1),
/// so that the noise of mini-batches is a small part of what moves the chain.
class GaussianMean final : public Likelihood<double> {
 public:
  GaussianMean(std::size_t observations, std::size_t dimension)
      : observations_(observations), dimension_(dimension), y_(observations * dimension) {
    layout_.add("mean", {dimension}, ParameterKind::other);
    Stream stream({.seed = 15, .purpose = Purpose::split});
    for (double& y : y_) y = 0.2 + 0.1 * stream.normal();
  }
  const ParameterLayout& layout() const override { return layout_; }
  std::size_t observations() const override { return observations_; }
  double log_likelihood_and_gradient(std::span<const std::uint32_t> rows, const Vector& x,
                                     Vector& g) override {
    for (std::size_t j = 0; j < dimension_; ++j) g[j] = 0;
    double value = 0;
    const std::size_t count = rows.empty() ? observations_ : rows.size();
    for (std::size_t k = 0; k < count; ++k) {
      const double* y = y_.data() + (rows.empty() ? k : rows[k]) * dimension_;
      for (std::size_t j = 0; j < dimension_; ++j) {
        const double residual = y[j] - x[j];
        value -= 0.5 * residual * residual;
        g[j] += residual;
      }
    }
    return value;
  }
  double log_likelihood(std::span<const std::uint32_t> rows, const Vector& x) override {
    Vector scratch(dimension_);
    return log_likelihood_and_gradient(rows, x, scratch);
  }
  double mean_of(std::size_t j) const {
    double sum = 0;
    for (std::size_t i = 0; i < observations_; ++i) sum += y_[i * dimension_ + j];
    return sum / double(observations_);
  }

 private:
  std::size_t observations_, dimension_;
  ParameterLayout layout_;
  std::vector<double> y_;
};

/// A flat likelihood: the posterior is the prior.
class FlatLikelihood final : public Likelihood<double> {
 public:
  FlatLikelihood(std::size_t observations, std::size_t dimension) : observations_(observations) {
    layout_.add("anything", {dimension}, ParameterKind::other);
  }
  const ParameterLayout& layout() const override { return layout_; }
  std::size_t observations() const override { return observations_; }
  double log_likelihood_and_gradient(std::span<const std::uint32_t>, const Vector&, Vector& g) override {
    for (std::size_t j = 0; j < g.size(); ++j) g[j] = 0;
    return 0;
  }
  double log_likelihood(std::span<const std::uint32_t>, const Vector&) override { return 0; }

 private:
  std::size_t observations_;
  ParameterLayout layout_;
};

/// What may be wrong with the scaling of a mini-batch posterior.
enum class Fault {
  none,
  likelihood_not_scaled,    ///< N/B left out
  likelihood_half_as_much,  ///< a factor 1.5 N/B
  prior_per_batch,          ///< the prior counted once for every batch of an epoch
};

/// A posterior with a fault, and with isotropic gradient noise of its own where asked for.
class FaultyPosterior final : public Target<Vector> {
 public:
  FaultyPosterior(MinibatchPosterior<double>& posterior, Fault fault, double noise)
      : posterior_(posterior), fault_(fault), noise_(noise), scratch_(posterior.dimension()) {}
  std::size_t dimension() const override { return posterior_.dimension(); }
  double log_density_and_gradient(const Vector& x, Vector& g, std::uint64_t step) override {
    double value = posterior_.log_density_and_gradient(x, g, step);
    const double prior = posterior_.prior().log_density_and_gradient(x.span(), 0.0, scratch_.span());
    double weight = 0;  // of the prior, on top of what is there
    if (fault_ == Fault::likelihood_not_scaled || fault_ == Fault::likelihood_half_as_much) {
      // f·(likelihood) + prior = f·(posterior) + (1 − f)·prior
      const double f =
          fault_ == Fault::likelihood_half_as_much ? 1.5 : 1 / posterior_.likelihood_factor(step);
      value *= f;
      for (std::size_t j = 0; j < g.size(); ++j) g[j] *= f;
      weight = 1 - f;
    } else if (fault_ == Fault::prior_per_batch) {
      weight = double(posterior_.batches().batches_per_epoch()) - 1;
    }
    value += weight * prior;
    for (std::size_t j = 0; j < g.size(); ++j) g[j] += weight * scratch_[j];
    if (noise_ > 0) {
      fill_normals({16, 0, Purpose::gradient_noise}, step, scratch_.span());
      for (std::size_t j = 0; j < g.size(); ++j) {
        g[j] += noise_ * scratch_[j];
        value += noise_ * scratch_[j] * x[j];
      }
    }
    return value;
  }

 private:
  MinibatchPosterior<double>& posterior_;
  Fault fault_;
  double noise_;
  Vector scratch_;
};

/// Normals whose noise is scaled: `factor` = √(2ε) makes a sampler add 2ε n where √(2ε) n is due.
class ScaledNoise final : public StreamNormals<double> {
 public:
  ScaledNoise(std::uint64_t seed, double factor) : StreamNormals<double>(seed), factor_(factor) {}
  void normals(Vector& out, Purpose purpose, std::uint64_t step) override {
    StreamNormals<double>::normals(out, purpose, step);
    if (purpose == Purpose::noise)
      for (std::size_t i = 0; i < out.size(); ++i) out[i] *= factor_;
  }

 private:
  double factor_;
};

}  // namespace smile::test

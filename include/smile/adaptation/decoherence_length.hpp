// SPDX-License-Identifier: Apache-2.0
/// Decoherence length from the autocorrelation of a run: phase 3 of MILE's tuner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "smile/archive.hpp"
#include "smile/statistics/convergence.hpp"

namespace smile {

/// Keeps the draws of a run of known length, at most 10,000 of them and 2,000 coordinates, evenly thinned,
/// and turns them into ℓ = factor · ε · mean_j(n/ESS_j), ESS_j the bulk effective sample size.
/// @source Robnik & Seljak 2024; Sommer et al. 2025 (MILE); spec 1.10, phase 3
class AutocorrelationLength {
 public:
  static constexpr std::uint64_t kMaxCoordinates = 2000;
  static constexpr std::uint64_t kMaxDraws = 10000;

  AutocorrelationLength() = default;
  /// @param steps  n, steps of the run
  AutocorrelationLength(std::size_t dimension, std::uint64_t steps)
      : dimension_(dimension),
        steps_(steps),
        coordinate_stride_((dimension + kMaxCoordinates - 1) / kMaxCoordinates),
        draw_stride_((steps + kMaxDraws - 1) / kMaxDraws) {}

  /// The state after step i of the run, i = 0 … n−1.   @param x @shape [d]
  template <class Vector>
  void add(const Vector& x, std::uint64_t i) {
    if (i % draw_stride_ != 0) return;
    for (std::size_t j = 0; j < dimension_; j += coordinate_stride_) draws_.push_back(float(x[j]));
  }

  /// ℓ; 0 where fewer than 4 draws were kept or no coordinate moved. Coordinates that did not move say
  /// nothing about the length of a path and are left out of the mean.
  /// @param step_size  ε, the length of the path between two draws
  double value(double step_size, double factor = 0.4) const {
    const std::size_t coordinates = dimension_ == 0 ? 0 : (dimension_ - 1) / coordinate_stride_ + 1;
    const std::size_t kept = coordinates == 0 ? 0 : draws_.size() / coordinates;
    if (kept < 4) return 0;
    ConvergenceDiagnostics diagnostics(1, kept);
    std::vector<double> chain(kept);
    double sum = 0;
    std::size_t counted = 0;
    for (std::size_t j = 0; j < coordinates; ++j) {
      for (std::size_t i = 0; i < kept; ++i) chain[i] = double(draws_[i * coordinates + j]);
      const double ess = diagnostics.ess_bulk(chain);
      if (!(ess > 0)) continue;
      sum += double(steps_) / ess;
      ++counted;
    }
    return counted == 0 ? 0 : factor * step_size * sum / double(counted);
  }

  /// Forgets the draws and frees their memory.
  void clear() { std::vector<float>().swap(draws_); }

  void serialise(Archive& archive) {
    if (archive.reading()) draws_.clear();
    archive.vector(draws_);
  }

 private:
  std::size_t dimension_ = 0;
  std::uint64_t steps_ = 0;
  std::size_t coordinate_stride_ = 1;
  std::uint64_t draw_stride_ = 1;
  std::vector<float> draws_;  // [draws, coordinates]
};

}  // namespace smile

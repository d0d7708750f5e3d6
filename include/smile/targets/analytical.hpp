// SPDX-License-Identifier: Apache-2.0
/// Densities with known moments, and the gradient noise injected into them: the analytical benchmark.
/// Values and gradients are in analytical_target.hpp.
/// @source the paper, Tables 1 and 5; spec 1.11
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "smile/named.hpp"
#include "smile/random/stream.hpp"

namespace smile {

/// Q, a random orthogonal matrix of a fixed seed, and scales c, log-spaced from 0.1 to 10.
struct OrthogonalScales {
  std::vector<double> rotation;  ///< Q by rows, @shape [d, d]
  std::vector<double> scales;    ///< c > 0, @shape [d]
};
/// A random orthogonal matrix, by rows, @shape [d, d]: a function of the seed.
std::vector<double> random_rotation(std::uint64_t seed, std::size_t dimension);
/// The Q and c of `icg` and of the noise, in d ≥ 1 dimensions.
const OrthogonalScales& benchmark_scales(std::size_t dimension);

enum class AnalyticalKind { icg, rosenbrock, funnel, gmm, gaussian };
template <>
struct Named<AnalyticalKind> {
  static constexpr Alternative<AnalyticalKind> all[] = {{AnalyticalKind::icg, "icg"},
                                                        {AnalyticalKind::rosenbrock, "rosenbrock"},
                                                        {AnalyticalKind::funnel, "funnel"},
                                                        {AnalyticalKind::gmm, "gmm"},
                                                        {AnalyticalKind::gaussian, "gaussian"}};
};

/// One density and what is known about it; immutable, shared by all chains.
class AnalyticalDensity {
 public:
  /// icg, rosenbrock, funnel or gmm, with d = 10.
  explicit AnalyticalDensity(AnalyticalKind kind);
  /// icg with given Q and c.
  explicit AnalyticalDensity(const OrthogonalScales& scales);
  /// A Gaussian of mean 0.
  /// @param covariance  by rows, @shape [d, d], symmetric, positive definite, d ≥ 2
  /// @throws Error (usage) that names `where`, for a matrix that is none of these
  static AnalyticalDensity gaussian(std::span<const double> covariance, std::size_t dimension,
                                    std::string_view where);

  AnalyticalKind kind() const { return kind_; }
  std::size_t dimension() const { return dimension_; }
  /// Σ⁻¹ of icg and gaussian by rows; only its diagonal, @shape [d], where it is diagonal.
  const std::vector<double>& precision() const { return precision_; }
  bool diagonal() const { return precision_.size() == dimension_; }

  /// E[θ_j²] and Var(θ_j²), @shape [d].
  const std::vector<double>& second_moment() const { return second_moment_; }
  const std::vector<double>& variance_of_square() const { return variance_of_square_; }

  /// One exact draw. @param theta @shape [d], overwritten
  void draw(Stream& stream, std::span<double> theta) const;
  /// Where the paper starts its chains: 0; x = 1, y = 2 on rosenbrock.
  std::vector<double> paper_start() const;
  /// w of the spatially varied noise.
  double noise_width() const;

  static constexpr std::size_t kDimension = 10;
  static constexpr double kModes[] = {-10, -5, 0, 5, 10};  ///< of gmm, in each of two coordinates

 private:
  AnalyticalDensity() = default;
  AnalyticalKind kind_ = AnalyticalKind::icg;
  std::size_t dimension_ = kDimension;
  std::vector<double> factor_;  // Σ = F Fᵀ
  std::vector<double> precision_, second_moment_, variance_of_square_;
};

enum class NoiseStructure {
  none,
  isotropic,         ///< ξ = a n
  diagonal,          ///< ξ = a c ⊙ n
  correlated,        ///< ξ = a Q (c ⊙ n)
  spatially_varied,  ///< correlated, and it enters as the gradient of (ξ·θ) exp(−θ₂/w)
};
template <>
struct Named<NoiseStructure> {
  static constexpr Alternative<NoiseStructure> all[] = {
      {NoiseStructure::none, "none"},
      {NoiseStructure::isotropic, "isotropic"},
      {NoiseStructure::diagonal, "diagonal"},
      {NoiseStructure::correlated, "correlated"},
      {NoiseStructure::spatially_varied, "spatially-varied"}};
};

enum class BaseNoise { gaussian, laplace, student_t, lognormal };
template <>
struct Named<BaseNoise> {
  static constexpr Alternative<BaseNoise> all[] = {{BaseNoise::gaussian, "gaussian"},
                                                   {BaseNoise::laplace, "laplace"},
                                                   {BaseNoise::student_t, "student-t"},
                                                   {BaseNoise::lognormal, "lognormal"}};
};

/// The noise ξ that a step's mini-batch adds to the log-density, as ξ·θ, and to its gradient.
struct InjectedNoise {
  NoiseStructure structure = NoiseStructure::none;
  BaseNoise base = BaseNoise::gaussian;
  double parameter = 0;       ///< degrees of freedom > 2 of student_t; σ > 0 of lognormal
  double amplitude = 16;      ///< a > 0
  double width = 1;           ///< w > 0 of spatially_varied
  OrthogonalScales scales{};  ///< Q and c; not used by none and isotropic
};

/// b² = mean over coordinates of (mean_t θ_j² − E[θ_j²])² / Var(θ_j²).
/// @param mean_square  mean_t θ_j², @shape [d]
double bias_squared(std::span<const double> mean_square, std::span<const double> second_moment,
                    std::span<const double> variance_of_square);

}  // namespace smile

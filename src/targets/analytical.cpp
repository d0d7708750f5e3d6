// SPDX-License-Identifier: Apache-2.0
#include "smile/targets/analytical.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <string>

#include "smile/error.hpp"

namespace smile {
namespace {

/// Names the random matrix of the benchmark; another number is another benchmark.
constexpr std::uint64_t kRotationSeed = 2602'06500;
constexpr double kRosenbrockWidth = 0.1;
/// Entries of a covariance that differ by less than this share of the variances count as equal.
constexpr double kSymmetry = 1e-10;

OrthogonalScales make_scales(std::size_t d) {
  OrthogonalScales scales{random_rotation(kRotationSeed, d), std::vector<double>(d, 1.0)};
  for (std::size_t i = 0; i < d && d > 1; ++i)
    scales.scales[i] = std::pow(10.0, -1 + 2 * double(i) / double(d - 1));
  return scales;
}

/// Lower triangle F with Σ = F Fᵀ; empty where Σ is not positive definite.
std::vector<double> cholesky(std::span<const double> covariance, std::size_t d) {
  std::vector<double> f(d * d, 0.0);
  for (std::size_t j = 0; j < d; ++j) {
    double pivot = covariance[j * d + j];
    for (std::size_t k = 0; k < j; ++k) pivot -= f[j * d + k] * f[j * d + k];
    if (!(pivot > 1e-14 * covariance[j * d + j])) return {};
    f[j * d + j] = std::sqrt(pivot);
    for (std::size_t i = j + 1; i < d; ++i) {
      double sum = covariance[i * d + j];
      for (std::size_t k = 0; k < j; ++k) sum -= f[i * d + k] * f[j * d + k];
      f[i * d + j] = sum / f[j * d + j];
    }
  }
  return f;
}

/// (F Fᵀ)⁻¹ of a lower triangle F.
std::vector<double> inverse_of_product(const std::vector<double>& f, std::size_t d) {
  std::vector<double> inverse(d * d, 0.0), product(d * d, 0.0);
  for (std::size_t j = 0; j < d; ++j) {
    for (std::size_t i = j; i < d; ++i) {
      double sum = i == j ? 1 : 0;
      for (std::size_t k = j; k < i; ++k) sum -= f[i * d + k] * inverse[k * d + j];
      inverse[i * d + j] = sum / f[i * d + i];
    }
  }
  for (std::size_t i = 0; i < d; ++i)
    for (std::size_t j = 0; j < d; ++j)
      for (std::size_t k = std::max(i, j); k < d; ++k)
        product[i * d + j] += inverse[k * d + i] * inverse[k * d + j];
  return product;
}

}  // namespace

// Rows made orthonormal one after the other; twice, against the rounding of the first time.
std::vector<double> random_rotation(std::uint64_t seed, std::size_t d) {
  std::vector<double> q(d * d);
  Stream stream({seed, 0, Purpose::analytic_start});
  for (double& entry : q) entry = stream.normal();
  for (std::size_t i = 0; i < d; ++i) {
    double* row = q.data() + i * d;
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t k = 0; k < i; ++k) {
        double overlap = 0;
        for (std::size_t j = 0; j < d; ++j) overlap += row[j] * q[k * d + j];
        for (std::size_t j = 0; j < d; ++j) row[j] -= overlap * q[k * d + j];
      }
      double square = 0;
      for (std::size_t j = 0; j < d; ++j) square += row[j] * row[j];
      for (std::size_t j = 0; j < d; ++j) row[j] /= std::sqrt(square);
    }
  }
  return q;
}

const OrthogonalScales& benchmark_scales(std::size_t dimension) {
  static std::mutex mutex;
  static std::map<std::size_t, OrthogonalScales> known;
  const std::lock_guard lock(mutex);
  auto place = known.find(dimension);
  if (place == known.end()) place = known.emplace(dimension, make_scales(dimension)).first;
  return place->second;
}

AnalyticalDensity::AnalyticalDensity(const OrthogonalScales& scales) : dimension_(scales.scales.size()) {
  const std::size_t d = dimension_;
  const auto& q = scales.rotation;
  const auto& c = scales.scales;
  factor_.resize(d * d);
  precision_.assign(d * d, 0.0);
  for (std::size_t i = 0; i < d; ++i) {
    double variance = 0;
    for (std::size_t k = 0; k < d; ++k) {
      factor_[i * d + k] = q[i * d + k] * c[k];
      variance += factor_[i * d + k] * factor_[i * d + k];
    }
    for (std::size_t j = 0; j < d; ++j)
      for (std::size_t k = 0; k < d; ++k) precision_[i * d + j] += q[i * d + k] / c[k] / c[k] * q[j * d + k];
    second_moment_.push_back(variance);
    variance_of_square_.push_back(2 * variance * variance);
  }
}

AnalyticalDensity::AnalyticalDensity(AnalyticalKind kind) {
  if (kind == AnalyticalKind::icg) *this = AnalyticalDensity(benchmark_scales(kDimension));
  kind_ = kind;
  const double half = double(dimension_) / 2;
  for (std::size_t i = 0; i < dimension_; ++i) {
    const double j = double(i);
    switch (kind) {
      case AnalyticalKind::rosenbrock: {
        // x ~ N(1, 1): E x² = 2, E x⁴ = 10, E x⁸ = 764; y = x² + N(0, 0.1).
        const double v = kRosenbrockWidth, square = 10 + v, fourth = 764 + 6 * v * 10 + 3 * v * v;
        second_moment_.push_back(j < half ? 2 : square);
        variance_of_square_.push_back(j < half ? 6 : fourth - square * square);
        break;
      }
      case AnalyticalKind::funnel: {
        // θ_j | θ₀ ~ N(0, exp θ₀), θ₀ ~ N(0, 9): E θ_j² = e^{4.5}, E θ_j⁴ = 3 e^{18}.
        second_moment_.push_back(i == 0 ? 9 : std::exp(4.5));
        variance_of_square_.push_back(i == 0 ? 162 : 3 * std::exp(18.0) - std::exp(9.0));
        break;
      }
      case AnalyticalKind::gmm: {
        double square = 0, fourth = 0;  // of a coordinate: mean over the modes
        for (double m : kModes) {
          const double m2 = i < 2 ? m * m : 0;
          square += (m2 + 1) / 5;
          fourth += (m2 * m2 + 6 * m2 + 3) / 5;
        }
        second_moment_.push_back(square);
        variance_of_square_.push_back(fourth - square * square);
        break;
      }
      case AnalyticalKind::icg:
      case AnalyticalKind::gaussian:
        break;
    }
  }
}

AnalyticalDensity AnalyticalDensity::gaussian(std::span<const double> covariance, std::size_t dimension,
                                              std::string_view where) {
  const std::string place(where);
  const std::size_t d = dimension;
  const std::string mend = "give a symmetric, positive definite matrix of at least two rows";
  if (d < 2 || covariance.size() != d * d)
    throw Error(place, "the covariance is no square matrix of two or more rows", mend);
  bool diagonal = true;
  for (std::size_t i = 0; i < d; ++i) {
    for (std::size_t j = 0; j < d; ++j) {
      const double a = covariance[i * d + j], b = covariance[j * d + i];
      if (!std::isfinite(a))
        throw Error(place, "the covariance has an entry that is not a finite number", mend);
      const double size = std::sqrt(std::fabs(covariance[i * d + i] * covariance[j * d + j]));
      if (std::fabs(a - b) > kSymmetry * size) {
        throw Error(
            place,
            "the covariance is not symmetric in row " + std::to_string(i) + ", column " + std::to_string(j),
            mend);
      }
      diagonal = diagonal && (i == j || a == 0);
    }
  }
  AnalyticalDensity density;
  density.kind_ = AnalyticalKind::gaussian;
  density.dimension_ = d;
  density.factor_ = cholesky(covariance, d);
  if (density.factor_.empty()) throw Error(place, "the covariance is not positive definite", mend);
  density.precision_ = inverse_of_product(density.factor_, d);
  for (std::size_t i = 0; i < d; ++i) {
    const double variance = covariance[i * d + i];
    density.second_moment_.push_back(variance);
    density.variance_of_square_.push_back(2 * variance * variance);
    if (diagonal) density.precision_[i] = density.precision_[i * d + i];
  }
  if (diagonal) density.precision_.resize(d);
  return density;
}

void AnalyticalDensity::draw(Stream& stream, std::span<double> theta) const {
  const std::size_t d = dimension_;
  switch (kind_) {
    case AnalyticalKind::icg:
    case AnalyticalKind::gaussian: {
      std::vector<double> z(d);
      for (double& value : z) value = stream.normal();
      for (std::size_t i = 0; i < d; ++i) {
        theta[i] = 0;
        for (std::size_t k = 0; k < d; ++k) theta[i] += factor_[i * d + k] * z[k];
      }
      return;
    }
    case AnalyticalKind::rosenbrock:
      for (std::size_t i = 0; i < d / 2; ++i) {
        theta[i] = 1 + stream.normal();
        theta[d / 2 + i] = theta[i] * theta[i] + std::sqrt(kRosenbrockWidth) * stream.normal();
      }
      return;
    case AnalyticalKind::funnel:
      theta[0] = 3 * stream.normal();
      for (std::size_t j = 1; j < d; ++j) theta[j] = std::exp(theta[0] / 2) * stream.normal();
      return;
    case AnalyticalKind::gmm:
      for (std::size_t i = 0; i < d; ++i)
        theta[i] = (i < 2 ? kModes[stream.below(5)] : 0.0) + stream.normal();
      return;
  }
}

std::vector<double> AnalyticalDensity::paper_start() const {
  std::vector<double> start(dimension_, 0.0);
  if (kind_ == AnalyticalKind::rosenbrock) {
    for (std::size_t i = 0; i < dimension_; ++i) start[i] = i < dimension_ / 2 ? 1 : 2;
  }
  return start;
}

double AnalyticalDensity::noise_width() const {
  switch (kind_) {
    case AnalyticalKind::rosenbrock:
      return 1.414;
    case AnalyticalKind::funnel:
      return 9;
    default:
      return 6.5;
  }
}

double bias_squared(std::span<const double> mean_square, std::span<const double> second_moment,
                    std::span<const double> variance_of_square) {
  double sum = 0;
  for (std::size_t j = 0; j < mean_square.size(); ++j) {
    const double bias = mean_square[j] - second_moment[j];
    sum += bias * bias / variance_of_square[j];
  }
  return sum / double(mean_square.size());
}

}  // namespace smile

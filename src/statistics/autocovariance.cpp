// SPDX-License-Identifier: Apache-2.0
#include "statistics/autocovariance.hpp"

#include <algorithm>
#include <complex>
#include <unsupported/Eigen/FFT>
#include <vector>

#include "smile/statistics/summaries.hpp"

namespace smile {

namespace {

/// Smallest multiple of 4 that is at least `length` and has no prime factor above 5: the transform is fast
/// there.
std::size_t fast_length(std::size_t length) {
  for (std::size_t candidate = (length + 3) / 4 * 4;; candidate += 4) {
    std::size_t rest = candidate;
    for (std::size_t factor : {2, 3, 5})
      while (rest % factor == 0) rest /= factor;
    if (rest == 1) return candidate;
  }
}

}  // namespace

struct Autocovariance::Transform {
  // Padding to at least 2n keeps the circular correlation from wrapping round.
  explicit Transform(std::size_t n) : padded(fast_length(std::max<std::size_t>(2 * n, 4))) {
    fft.SetFlag(Eigen::FFT<double>::HalfSpectrum);
    real.resize(padded);
    spectrum.resize(padded / 2 + 1);
  }

  std::size_t padded;
  Eigen::FFT<double> fft;
  std::vector<double> real;
  std::vector<std::complex<double>> spectrum;
};

Autocovariance::Autocovariance(std::size_t n) : transform_(std::make_unique<Transform>(n)) {}
Autocovariance::~Autocovariance() = default;

double Autocovariance::add(std::span<const double> series, std::span<double> out) {
  auto& [padded, fft, real, spectrum] = *transform_;
  const std::size_t n = series.size();
  const double mean = mean_of(series);
  for (std::size_t i = 0; i < n; ++i) real[i] = series[i] - mean;
  std::fill(real.begin() + static_cast<std::ptrdiff_t>(n), real.end(), 0.0);
  const auto length = static_cast<Eigen::Index>(padded);
  fft.fwd(spectrum.data(), real.data(), length);
  for (auto& value : spectrum) value = std::norm(value);
  fft.inv(real.data(), spectrum.data(), length);
  for (std::size_t t = 0; t < n; ++t) out[t] += real[t] / static_cast<double>(n);
  return mean;
}

}  // namespace smile

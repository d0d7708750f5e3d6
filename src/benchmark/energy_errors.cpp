// SPDX-License-Identifier: Apache-2.0
#include "benchmark/energy_errors.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "smile/ensemble/stream_normals.hpp"
#include "smile/statistics/gamma.hpp"
#include "smile/targets/analytical_target.hpp"

namespace smile::analytic {
namespace {

/// sup |F_n − F| of sorted values.
template <class Distribution>
double kolmogorov(const std::vector<double>& sorted, const Distribution& distribution) {
  double largest = 0;
  const double n = double(sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const double f = distribution(sorted[i]);
    largest = std::max({largest, std::abs(f - double(i) / n), std::abs(f - double(i + 1) / n)});
  }
  return largest;
}

}  // namespace

EnergyErrors fitted(std::vector<double> values) {
  EnergyErrors out;
  out.sorted = std::move(values);
  std::sort(out.sorted.begin(), out.sorted.end());
  const double n = double(out.sorted.size());
  if (out.sorted.empty()) return out;
  double sum = 0, squares = 0;
  for (const double v : out.sorted) sum += v, squares += v * v;
  const double mean = sum / n, variance = squares / n - mean * mean;
  out.gamma = fit_gamma(mean, std::sqrt(std::max(0.0, variance)));
  out.half_normal_scale = std::sqrt(squares / n);
  out.gamma_distance = kolmogorov(out.sorted, [&](double x) { return gamma_cdf(out.gamma, x); });
  out.half_normal_distance = kolmogorov(
      out.sorted, [&](double x) { return std::erf(x / (out.half_normal_scale * std::numbers::sqrt2)); });
  return out;
}

EnergyErrors energy_errors(const AnalyticalDensity& density, const InjectedNoise& noise,
                           MicrocanonicalOptions options, const std::vector<double>& start,
                           std::uint64_t seed, std::uint64_t steps) {
  using Vector = HostVector<double>;
  options.guardrail = true;      // measures ΔE …
  options.tuner.reset_prob = 1;  // … and refuses nothing for it
  options.tuner.adaption_prob = 0;
  MicrocanonicalSampler<Vector> sampler(options, {0, steps});
  StreamNormals<Vector> normals(seed, 0);
  AnalyticalTarget<Vector> target(density, noise, normals);
  Vector position(start.size());
  std::copy(start.begin(), start.end(), position.data());
  sampler.start(position, target, normals);
  std::vector<double> values;
  for (std::uint64_t t = 1; t <= steps; ++t) {
    const double change = std::abs(sampler.step(target, normals, t).energy_change);
    if (std::isfinite(change)) values.push_back(change);
  }
  return fitted(std::move(values));
}

}  // namespace smile::analytic

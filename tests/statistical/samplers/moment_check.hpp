// SPDX-License-Identifier: Apache-2.0
/// Compares the moments of a chain with known ones, in units of their Monte-Carlo error.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "smile/samplers/sampler.hpp"
#include "smile/statistics/convergence.hpp"
#include "smile/statistics/normal.hpp"

namespace smile::test {

/// Mean and variance of every coordinate against the truth. z = (estimate − truth)/(sd/√ESS), ESS of the very
/// series that is averaged: x, and (x − μ)² with the true μ. The bound on |z| is corrected for the number of
/// comparisons (Bonferroni, two-sided): a right sampler is rejected with a probability of about kFalseAlarm
/// per check; the seeds are fixed, so a check that passes once passes always. Estimated sample sizes below
/// 400 would make the tails heavier than normal and are themselves a failure.
class MomentCheck {
 public:
  static constexpr double kFalseAlarm = 1e-4;
  static constexpr double kSmallestEss = 400;

  explicit MomentCheck(std::size_t dimension) : draws_(dimension) {}

  template <class Vector>
  void add(const Vector& x) {
    for (std::size_t i = 0; i < draws_.size(); ++i) draws_[i].push_back(double(x[i]));
  }

  double bound() const { return normal_quantile(1 - kFalseAlarm / double(4 * draws_.size())); }

  /// "" where all moments agree.
  /// @param variance_bias  relative difference of the variance that is allowed beside the Monte-Carlo error
  std::string disagreement(const std::vector<double>& mean, const std::vector<double>& variance,
                           double variance_bias = 0) const {
    std::string message;
    double worst = bound();
    for (std::size_t i = 0; i < draws_.size(); ++i) {
      std::vector<double> squares;
      for (double x : draws_[i]) squares.push_back((x - mean[i]) * (x - mean[i]));
      compare("mean", i, draws_[i], mean[i], 0, worst, message);
      compare("variance", i, squares, variance[i], variance_bias * variance[i], worst, message);
    }
    return message;
  }

 private:
  static void compare(const char* what, std::size_t i, const std::vector<double>& values, double truth,
                      double allowed, double& worst, std::string& message) {
    double sum = 0, square = 0;
    for (double v : values) sum += v - truth, square += (v - truth) * (v - truth);
    const double n = double(values.size()), off = sum / n;
    const double ess = convergence(values, 1).ess_mean;
    const double error = std::sqrt((square / n - off * off) / ess);
    const double z = std::fmax(0, std::fabs(off) - allowed) / error;
    const std::string where = std::string(what) + " of coordinate " + std::to_string(i);
    if (!(ess > kSmallestEss)) {
      message = where + ": effective sample size " + std::to_string(ess);
      worst = HUGE_VAL;
    } else if (!(z <= worst)) {
      worst = z;
      message = where + ": " + std::to_string(truth + off) + " where " + std::to_string(truth) +
                " was expected, z = " + std::to_string(z) + " (ESS " + std::to_string(ess) + ")";
    }
  }

  std::vector<std::vector<double>> draws_;
};

/// Runs a chain from `start` and hands every `thinning`-th draw after its warm-up to the check.
template <class Vector>
void run(Sampler<Vector>& sampler, Target<Vector>& target, NormalSource<Vector>& normals, const Vector& start,
         std::uint64_t thinning, MomentCheck& check) {
  sampler.start(start, target, normals);
  for (std::uint64_t t = 1; t <= sampler.total_steps(); ++t) {
    sampler.step(target, normals, t);
    if (t > sampler.warmup_steps() && t % thinning == 0) check.add(sampler.position());
  }
}

/// Stationary variance of θ under the linear recursion v ← a v − b θ + w, θ ← θ + e v, w of variance q: the
/// samplers with a momentum on a Gaussian. From the three equations for E v², E θv, E θ².
inline double momentum_variance(double a, double b, double e, double q) {
  const double v2 = q / ((1 - a) * ((1 + a) - b * e / 2));
  return e * v2 * (1 + a) / (2 * b);
}
/// E v² of the same.
inline double momentum_square(double a, double b, double e, double q) {
  return q / ((1 - a) * ((1 + a) - b * e / 2));
}
/// Stationary variance under θ ← (1 − b) θ + w, w of variance q.
inline double langevin_variance(double b, double q) {
  return q / (b * (2 - b));
}

}  // namespace smile::test

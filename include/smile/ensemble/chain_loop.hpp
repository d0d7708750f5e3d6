// SPDX-License-Identifier: Apache-2.0
/// The loop that carries a sampler through its steps, and the one rule by which a chain has failed. One text
/// for a chain that leaves files, for one in memory and for bundles of chains in lanes.
#pragma once

#include <array>
#include <cstdint>

#include "smile/samplers/sampler.hpp"

namespace smile {

/// A chain has failed where more than a share of its last hundred steps were not finite. The first steps of a
/// young chain decide nothing; one that ends so young is judged at its end.
struct FailureRule {
  static constexpr std::uint64_t kWindow = 100;  ///< steps that are looked at
  double max_nonfinite_fraction = 0.5;           ///< in [0, 1]

  /// How many of the last min(steps, kWindow) steps may be not finite.
  std::uint64_t allowed(std::uint64_t steps) const;
};

/// Steps until step number `until`, until `watch` says that nothing is left to carry on, or until `sink` says
/// so. Every step is shown to both, to the watch first.
/// @param step   number of the last step done; counts up
/// @param watch  add(report, t), failed()
/// @param sink   called with (report, t); keeps what the step leaves; false: stop here
template <class Sampler, class Vector, class Watch, class Sink>
void run_steps(Sampler& sampler, Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t& step,
               std::uint64_t until, Watch& watch, const Sink& sink) {
  while (step < until && !watch.failed()) {
    const auto report = sampler.step(target, normals, step + 1);
    ++step;
    watch.add(report, step);
    if (!sink(report, step)) return;
  }
}

/// The rule for all chains of a Scalar at once.
template <class Scalar>
class FailureWatch {
 public:
  using Mask = typename MaskOf<Scalar>::type;

  explicit FailureWatch(const FailureRule& rule) : rule_(rule), allowed_(rule.allowed(FailureRule::kWindow)) {
    recent_.fill(Scalar(0));
  }

  void add(const StepReportOf<Scalar>& report, std::uint64_t t) {
    const Mask bad = !is_finite_step(report.refusal);
    if (quiet_ && !any(bad)) return;  // nothing to remember so far
    quiet_ = false;
    const Scalar now = select(bad, Scalar(1), Scalar(0));
    Scalar& oldest = recent_[t % FailureRule::kWindow];
    count_ += now - oldest;
    oldest = now;
    if (t >= FailureRule::kWindow) failed_ = failed_ || count_ > Scalar(double(allowed_));
    if (t % FailureRule::kWindow == 0) over_ = all(failed_);
  }
  /// After the last step.
  void conclude(std::uint64_t steps) { failed_ = failed_ || count_ > Scalar(double(rule_.allowed(steps))); }

  /// Whether every chain has failed; looked at once a window.
  bool failed() const { return over_; }
  const Mask& failed_chains() const { return failed_; }

 private:
  FailureRule rule_;
  std::uint64_t allowed_;
  std::array<Scalar, FailureRule::kWindow> recent_;  // by step number; 1 where it was not finite
  Scalar count_ = Scalar(0);
  Mask failed_{false};
  bool quiet_ = true, over_ = false;
};

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// The frame of hmc, nuts and mams: transitions with an acceptance test, a warm-up that finds the step size
/// and a diagonal metric, and what is told of it. A step of these samplers is one transition, of many
/// gradients of all rows.
/// @source Carpenter et al. 2017 (Stan); Hoffman & Gelman 2014
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "smile/adaptation/dual_averaging.hpp"
#include "smile/adaptation/metric_windows.hpp"
#include "smile/kernels/host_vector.hpp"
#include "smile/samplers/sampler.hpp"

namespace smile {

struct AdjustedOptions {
  double step_size = 1e-3;  ///< ε > 0: where the warm-up begins to look; without warm-up the step itself
  double target_acceptance = 0.8;                 ///< mean acceptance that the warm-up aims at, in (0, 1)
  double trajectory_length = 1.5707963267948966;  ///< hmc: ε times the leapfrog steps of a transition, > 0
  std::int64_t max_tree_depth = 10;               ///< nuts: doublings of a transition, in 1 … 20
};

/// New gradients of steps 1 … n, roughly: how many a transition takes is known only when it has been run. Of
/// the networks of the UCI sets and of models of some tens of parameters it is between 7 and 127.
constexpr std::uint64_t gradients_of(const AdjustedOptions&, std::uint64_t steps) {
  return 31 * steps;
}

/// An energy error above this says that the leapfrog steps have left the level set: the step is too long
/// somewhere, and draws near there are missing.
inline constexpr double kDivergence = 1000;

/// θ, L(θ) and ∇L(θ).
template <class Vector>
struct Evaluated {
  Vector position, gradient;
  double log_density = StepReport::kNone;
};

template <class Vector>
class AdjustedSampler : public Sampler<Vector> {
 public:
  void start(const Vector& position, Target<Vector>& target, NormalSource<Vector>&) override {
    state_.position = position;
    state_.gradient = Vector(position.size());
    allocate();
    evaluate(target, state_, 0);
    averaging_.restart(options_.step_size);
  }

  StepReport step(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t) final {
    StepReport report;
    gradients_ = 0;
    if (!is_evaluated_) evaluate(target, state_, t);
    is_evaluated_ = true;
    if (std::isfinite(state_.log_density)) {
      if (t == 1 && tuning_ > 0) find_step_size(target, normals, t);
      report.step_size = step_size(t);
      const Transition done = transition(target, normals, t, report.step_size);
      report.energy_change = done.energy_change;
      require(report.refusal, done.moved, done.diverged ? Refusal::divergence : Refusal::metropolis);
      if (t <= tuning_) tune(done, target, normals, t);
      if (t <= plan_.warmup_steps)
        after_warmup_step(t, tuning_);
      else
        sampling_.add(done);
    } else {
      report.step_size = step_size(t);
      report.refusal = Refusal::log_density;
    }
    report.gradients = gradients_;
    report.log_density = state_.log_density;
    report.next_step_size = step_size(t + 1);
    return report;
  }

  const Vector& position() const final { return state_.position; }
  void move_to(const Vector& position) final {
    state_.position = position;
    is_evaluated_ = false;
  }
  std::uint64_t warmup_steps() const final { return plan_.warmup_steps; }
  std::uint64_t total_steps() const final { return plan_.warmup_steps + plan_.sampling_steps; }

  std::vector<std::pair<std::string, double>> tuned() const override {
    const double n = double(sampling_.transitions);
    return {{"step_size", averaging_.average()},
            {"acceptance", n > 0 ? sampling_.acceptance / n : StepReport::kNone},
            {"divergent_transitions", double(sampling_.diverged)}};
  }
  std::vector<std::string> findings() const final {
    if (sampling_.diverged == 0) return {};
    return {std::to_string(sampling_.diverged) + " of " + std::to_string(sampling_.transitions) +
            " transitions diverged: draws near there are missing; raise target_acceptance towards 1"};
  }

  void serialise(Archive& archive) override {
    const bool anew = archive.reading() && state_.position.size() == 0;
    archive.vector(state_.position), archive.vector(state_.gradient), archive.value(state_.log_density);
    archive.value(is_evaluated_);
    if (anew) allocate();
    averaging_.serialise(archive), windows_.serialise(archive);
    archive.value(sampling_);
  }

 protected:
  /// @param tuning  transitions of the warm-up, from its start, in which step size and metric move
  AdjustedSampler(const AdjustedOptions& options, const SamplingPlan& plan, std::uint64_t tuning)
      : options_(options), plan_(plan), tuning_(tuning), averaging_(options.target_acceptance) {}

  struct Transition {
    bool moved = false, diverged = false;
    double acceptance = 0;  ///< the statistic that the step size is to hold at its target
    double energy_change = StepReport::kNone;
  };

  /// Room for what the dynamics hold; `state_` has its size.
  virtual void allocate() { windows_ = MetricWindows(state_.position.size(), tuning_); }
  /// One transition from `state_`, with a momentum of its own; leaves the new state there.
  virtual Transition transition(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t,
                                double step_size) = 0;
  /// The error of the energy after one step from `state_` with a fresh momentum.
  /// @param number  of the momentum
  virtual double error_of_one_step(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t,
                                   std::uint64_t number, double step_size) = 0;
  /// The metric becomes that of these variances. @param variance  @shape [d], entries > 0
  virtual void set_variance(const std::vector<double>& variance) = 0;
  virtual void after_warmup_step(std::uint64_t, std::uint64_t) {}

  void evaluate(Target<Vector>& target, Evaluated<Vector>& at, std::uint64_t t) {
    at.log_density = target.log_density_and_gradient(at.position, at.gradient, t);
    ++gradients_;
  }
  double step_size(std::uint64_t t) const {
    return t <= tuning_ ? averaging_.step_size() : averaging_.average();
  }

  AdjustedOptions options_;
  SamplingPlan plan_;
  Evaluated<Vector> state_;

 private:
  void tune(const Transition& done, Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t) {
    averaging_.observe(done.acceptance);
    if (const auto variance = windows_.add(state_.position, t)) {
      set_variance(*variance);
      find_step_size(target, normals, t);
    }
  }

  /// The step at which a single one is accepted with a probability of about the target, by doubling or
  /// halving; the averaging begins there. @source Hoffman & Gelman 2014, Algorithm 4
  void find_step_size(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t) {
    constexpr std::uint64_t kDoublings = 50;
    double step = averaging_.step_size();
    const double bound = -std::log(options_.target_acceptance);
    int direction = 0;
    for (std::uint64_t i = 0; i < kDoublings; ++i) {
      const int wanted = error_of_one_step(target, normals, t, t * kDoublings + i, step) < bound ? 1 : -1;
      if (direction == 0) direction = wanted;
      if (wanted != direction) break;
      step *= direction > 0 ? 2 : 0.5;
    }
    averaging_.restart(step);
  }

  std::uint64_t tuning_;
  DualAveraging averaging_;
  MetricWindows windows_;
  int gradients_ = 0;
  bool is_evaluated_ = true;  ///< the state has its log-density and gradient
  struct Sampling {
    double acceptance = 0;  ///< sum
    std::uint64_t transitions = 0, diverged = 0;
    void add(const Transition& done) {
      ++transitions;
      acceptance += done.acceptance;
      diverged += done.diverged;
    }
  } sampling_;
};

}  // namespace smile

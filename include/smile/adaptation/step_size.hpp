// SPDX-License-Identifier: Apache-2.0
/// The rules for the step size of a chain, as values: a schedule (or a constant), the paper's energy rule,
/// the turning-angle rule. A rule says the size of a step, is shown the step when it is done, and is told
/// when warm-up is over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "smile/adaptation/energy_tuner.hpp"
#include "smile/adaptation/schedule.hpp"
#include "smile/adaptation/turning_angle.hpp"
#include "smile/archive.hpp"
#include "smile/kernels/lanes_of_one.hpp"

namespace smile {

template <class Scalar>
struct ScheduledStep {
  Scalar step_size;        ///< ε
  bool exploring = false;  ///< inside the exploration part of a cycle: the state is not to be stored
};

/// What a rule is shown of a step.
template <class Scalar>
struct StepSeen {
  typename MaskOf<Scalar>::type finite;  ///< nothing of the step was infinite or NaN
  Scalar gradient_norm;                  ///< n_t = ‖g ⊘ ŝ‖ of the last momentum update
  double dimension;                      ///< d
  EnergyTuner::Verdict verdict;          ///< on ΔE; a default one where ΔE was not judged
};

/// ε of a schedule for each phase, or a constant. It learns nothing. The one rule that bundles of chains
/// have.
/// @source spec 1.9
template <class Scalar>
class ScheduledStepSize {
 public:
  ScheduledStepSize() = default;
  /// @param constant  ε > 0, of schedules of the constant kind
  ScheduledStepSize(const Schedule& warmup, const Schedule& sampling, const SamplingPlan& plan,
                    const Scalar& constant)
      : warmup_(warmup), sampling_(sampling), plan_(plan), constant_(constant) {}

  /// A constant for each chain of a bundle.
  void fix(const Scalar& constant) { constant_ = constant; }

  /// Of step t, from 1.
  ScheduledStep<Scalar> size(std::uint64_t t) const {
    const bool in_warmup = t <= plan_.warmup_steps;
    const Schedule& schedule = in_warmup ? warmup_ : sampling_;
    if (schedule.kind == ScheduleKind::constant) return {constant_, false};
    const Schedule::Point point = in_warmup ? schedule.at(t - 1, plan_.warmup_steps)
                                            : schedule.at(t - 1 - plan_.warmup_steps, plan_.sampling_steps);
    return {Scalar(point.step_size), point.exploring};
  }
  void start(const Scalar&, double) {}
  void observe(std::uint64_t, const StepSeen<Scalar>&) {}
  void freeze() {}
  Scalar after_warmup() const { return size(plan_.warmup_steps + 1).step_size; }
  std::vector<std::pair<std::string, double>> tuned(double, std::uint64_t) const { return {}; }
  void serialise(Archive&) {}

 private:
  Schedule warmup_, sampling_;
  SamplingPlan plan_;
  Scalar constant_ = Scalar(0);
};

/// The paper's rule: the verdict on each |ΔE| moves ε, in [1e−8, 10]. No fixed point (spec 1.8).
/// @source the paper, Algorithm 1; spec 1.8, rule 3
class EnergyStepSize {
 public:
  /// @param adapt_in_sampling  false: ε freezes after warm-up at the geometric mean of the steps after number
  ///                           `average_after`, by default of warm-up's second half
  EnergyStepSize(double initial, bool adapt_in_sampling, const SamplingPlan& plan,
                 std::optional<std::uint64_t> average_after = {});
  ScheduledStep<double> size(std::uint64_t t) const;
  void start(double, double) {}
  void observe(std::uint64_t t, const StepSeen<double>& seen);
  void freeze();
  double after_warmup() const;
  void serialise(Archive& archive);

 private:
  double step_size_;
  bool adapt_in_sampling_;
  SamplingPlan plan_;
  std::uint64_t average_after_;
  StepSizeAverage average_;
  double frozen_ = 0;  // 0: not
};

/// The turning-angle rule, in warm-up; frozen in sampling. Every step that is not finite halves ε for the
/// next.
/// @source spec 1.13
class TurningStepSize {
 public:
  /// @param initial  of the first step   @param turn_angle  δ*   @param rate  α, in (0, 1]
  /// @param average_after  sampling has the geometric mean of the warm-up steps after this one; by default of
  ///                       warm-up's second half
  TurningStepSize(double initial, double turn_angle, double rate, const SamplingPlan& plan,
                  std::optional<std::uint64_t> average_after = {});
  ScheduledStep<double> size(std::uint64_t t) const;
  /// @param gradient_norm  ‖g(θ₀) ⊘ ŝ₀‖
  void start(double gradient_norm, double dimension);
  void observe(std::uint64_t t, const StepSeen<double>& seen);
  void freeze();
  double after_warmup() const;
  void serialise(Archive& archive);

 private:
  double initial_;
  SamplingPlan plan_;
  std::uint64_t average_after_;
  TurningAngleRule turning_;
  StepSizeAverage average_;
  std::uint64_t nonfinite_in_row_ = 0;
  double frozen_ = 0;  // 0: not
};

/// The rule that one chain follows.
class StepSize {
 public:
  using Rule = std::variant<ScheduledStepSize<double>, EnergyStepSize, TurningStepSize>;
  explicit StepSize(Rule rule);
  /// Of step t, from 1.
  ScheduledStep<double> size(std::uint64_t t) const;
  /// Of the schedule, which has to be the rule.
  void fix(double constant);
  /// Where a gradient at θ₀ is known.
  void start(double gradient_norm, double dimension);
  /// After step t, whose size was size(t).
  void observe(std::uint64_t t, const StepSeen<double>& seen);
  /// Warm-up is over.
  void freeze();
  /// Step sizes worth reporting, by name: `initial`, that with which sampling begins, that of step `last`.
  std::vector<std::pair<std::string, double>> tuned(double initial, std::uint64_t last) const;
  void serialise(Archive& archive);

 private:
  Rule rule_;
};

/// What a chain by itself can follow, and what a bundle of chains can.
template <class Scalar>
struct StepSizeOf {
  using type = ScheduledStepSize<Scalar>;
};
template <>
struct StepSizeOf<double> {
  using type = StepSize;
};

}  // namespace smile

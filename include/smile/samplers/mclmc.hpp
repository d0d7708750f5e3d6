// SPDX-License-Identifier: Apache-2.0
/// Microcanonical Langevin Monte Carlo with full-batch gradients, tuned as in MILE: `mclmc`.
/// @source Robnik & Seljak 2024; Sommer et al. 2025 (MILE); spec 1.6, 1.9, 1.10
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "smile/adaptation/decoherence_length.hpp"
#include "smile/adaptation/mile_tuner.hpp"
#include "smile/adaptation/weighted_moments.hpp"
#include "smile/dynamics/splitting.hpp"
#include "smile/kernels/host_vector.hpp"
#include "smile/samplers/isokinetic_step.hpp"
#include "smile/samplers/sampler.hpp"

namespace smile {

struct MclmcOptions {
  Integrator integrator = Integrator::mclachlan;
  GradientGuard guard;
  MileTunerOptions tuner;
  /// Set: no tuning at all; ε and ℓ are these in every step.
  struct Fixed {
    double step_size, decoherence_length;
  };
  std::optional<Fixed> fixed;
};

/// New gradients of steps 1 … n, where none is refused.
inline std::uint64_t gradients_of(const MclmcOptions& options, std::uint64_t steps) {
  return steps * std::uint64_t(gradients_per_step(options.integrator));
}

/// Each step is O_{ε/2} · (splitting step) · O_{ε/2}. A refused (non-finite) step turns back and draws a new
/// direction.
template <class Vector>
class MclmcSampler final : public Sampler<Vector> {
 public:
  MclmcSampler(const MclmcOptions& options, const SamplingPlan& plan)
      : options_(options),
        plan_(plan),
        phases_(plan.warmup_steps, options.tuner.diagonal_preconditioning),
        isokinetic_({.integrator = options.integrator, .guard = options.guard, .refreshes = true}) {}

  void start(const Vector& position, Target<Vector>& target, NormalSource<Vector>& normals) override {
    const double d = double(position.size());
    isokinetic_.place(position);
    step_size_ = MileStepSize(options_.tuner, d);
    decoherence_length_ = options_.fixed ? options_.fixed->decoherence_length : std::max(std::sqrt(d), 15.0);
    isokinetic_.redraw_velocity(normals, 0);
    isokinetic_.evaluate_start(target);
    moments_ = WeightedMoments(position.size());
    draws_ = AutocorrelationLength(position.size(), phases_.third);
  }

  StepReport step(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t) override {
    StepReport report;
    report.step_size = current_step_size();
    const typename IsokineticStep<Vector>::Request request{report.step_size, decoherence_length_};
    isokinetic_.attempt(target, normals, t, request, report);
    const bool accepted = report.accepted();
    isokinetic_.finish(normals, t, request, accepted, accepted, accepted);
    if (!accepted) isokinetic_.redraw_velocity(normals, t);
    if (!options_.fixed && t <= phases_.total()) tune(t, report);
    report.log_density = isokinetic_.log_density();
    report.next_step_size = current_step_size();
    return report;
  }

  const Vector& position() const override { return isokinetic_.state().position(); }
  void move_to(const Vector& position) override { isokinetic_.move_to(position); }
  bool velocity(Vector& out) const override {
    out = state().velocity();
    return true;
  }
  const IsokineticState<Vector>& state() const { return isokinetic_.state(); }
  std::uint64_t warmup_steps() const override {
    return options_.fixed ? plan_.warmup_steps : phases_.total();
  }
  std::uint64_t total_steps() const override { return warmup_steps() + plan_.sampling_steps; }
  double decoherence_length() const { return decoherence_length_; }
  /// Of θ over phase 2, weighted by the step sizes.
  const WeightedMoments& phase2_moments() const { return moments_; }
  /// Without tuning (options.fixed): ε and ℓ from the next step on.
  void set_fixed(const MclmcOptions::Fixed& fixed) {
    options_.fixed = fixed;
    decoherence_length_ = fixed.decoherence_length;
  }

  std::vector<std::pair<std::string, double>> tuned() const override {
    return {{"step_size", current_step_size()},
            {"decoherence_length_after_phase_2", phase2_length_},
            {"decoherence_length", decoherence_length_}};
  }

  void serialise(Archive& archive) override {
    isokinetic_.serialise(archive);
    step_size_.serialise(archive);
    archive.value(decoherence_length_), archive.value(phase2_length_);
    if (archive.reading()) {
      const std::size_t d = std::size_t(state().dimension());
      moments_ = WeightedMoments(d);
      draws_ = AutocorrelationLength(d, phases_.third);
      step_size_.configure(options_.tuner, double(d));
    }
    moments_.serialise(archive);
    draws_.serialise(archive);
  }

 private:
  double current_step_size() const {
    return options_.fixed ? options_.fixed->step_size : step_size_.step_size();
  }

  /// Phases 1 and 2 move ε; phase 2 sees the spread of θ; phase 3 the autocorrelation (spec 1.10).
  void tune(std::uint64_t t, const StepReport& report) {
    const std::uint64_t first = phases_.first, both = first + phases_.second;
    if (t <= both) {
      const double desired = desired_energy_variance(options_.tuner.desired_energy_var_start,
                                                     options_.tuner.desired_energy_var_end, t - 1, both);
      if (t > first && report.accepted()) moments_.add(position(), report.step_size);
      step_size_.observe(report.energy_change, !report.accepted(), desired);
      if (t == both) end_phase2();
    } else if (t <= both + phases_.retuning) {
      step_size_.observe(report.energy_change, !report.accepted(), options_.tuner.desired_energy_var_end);
    } else {
      draws_.add(position(), t - both - phases_.retuning - 1);
      if (t == phases_.total()) end_phase3();
    }
    if (both == 0 && t == 1) phase2_length_ = decoherence_length_;
  }

  void end_phase2() {
    const double spread = moments_.spread();
    if (spread > 0) {  // false, too, where nothing was seen
      if (options_.tuner.diagonal_preconditioning) {
        const std::vector<double> variance = moments_.variance();
        Vector scale(variance.size());
        // ŝ = 1/sd: the metric holds ŝ², not normalised; a coordinate that never moved keeps ŝ = 1.
        for (std::size_t i = 0; i < variance.size(); ++i)
          scale[i] = typename Vector::value_type(variance[i] > 0 ? 1 / variance[i] : 1);
        isokinetic_.state().set_fixed_metric(std::move(scale));
        decoherence_length_ = std::sqrt(state().dimension());
        step_size_.restart();
      } else {
        decoherence_length_ = spread;
      }
    }
    phase2_length_ = decoherence_length_;
  }

  void end_phase3() {
    const double length = draws_.value(current_step_size());
    if (length > 0) decoherence_length_ = length;
    draws_.clear();
  }

  MclmcOptions options_;
  SamplingPlan plan_;
  MilePhases phases_;
  IsokineticStep<Vector> isokinetic_;
  MileStepSize step_size_;
  double decoherence_length_ = 0, phase2_length_ = StepReport::kNone;
  WeightedMoments moments_;      // of θ in phase 2
  AutocorrelationLength draws_;  // of phase 3
};

// Compiled once, in src/samplers/.
extern template class MclmcSampler<HostVector<float>>;
extern template class MclmcSampler<HostVector<double>>;

}  // namespace smile

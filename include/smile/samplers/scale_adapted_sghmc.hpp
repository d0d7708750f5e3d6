/// Scale-adapted stochastic-gradient HMC: adasghmc and rmsprop-sghmc.
/// @source Springenberg et al. 2016; spec 1.9
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "smile/kernels/host_vector.hpp"
#include "smile/samplers/langevin.hpp"

namespace smile {

struct ScaleAdaptedOptions {
  GradientGuard guard;
  double step_size = 1e-2;  ///< ε > 0
  Schedule warmup_schedule, sampling_schedule;
  double friction = 0.05;            ///< α = `mdecay`, in (0, 1]
  bool rmsprop = false;              ///< s² ← ρ s² + (1−ρ) g² instead of the adaptive averages
  double running_avg_factor = 0.99;  ///< ρ of rmsprop-sghmc, in [0, 1)
};

/// Warm-up, each step: the averages τ, ḡ, s² (all start at 1) take the gradient kept from the step before
/// (zero before the first); then, with the new gradient and fixed s during sampling,
///     v ← (1−α) v + ε g + n sqrt(max(2α s − (ε s)², 1e−7)),   θ ← θ + ε v / s,   v₀ = 0
template <class Vector>
class ScaleAdaptedSampler final : public Sampler<Vector> {
 public:
  ScaleAdaptedSampler(const ScaleAdaptedOptions& options, const SamplingPlan& plan)
      : options_(options), plan_(plan) {}

  void start(const Vector& position, Target<Vector>&, NormalSource<Vector>&) override {
    position_ = position;
    momentum_ = kept_gradient_ = Vector(position.size());
    tau_ = mean_ = variance_ = Vector(position.size(), 1);
    allocate_scratch();
  }

  StepReport step(Target<Vector>& target, NormalSource<Vector>& normals, std::uint64_t t) override {
    StepReport report;
    const auto [step, exploring] =
        scheduled_step(options_.warmup_schedule, options_.sampling_schedule, plan_, options_.step_size, t);
    report.step_size = report.next_step_size = step;
    report.exploring = exploring;
    report.gradients = 1;
    const double value = target.log_density_and_gradient(position_, gradient_, t);
    if (!std::isfinite(value)) {
      report.refusal = Refusal::log_density;
    } else if (!options_.guard.admit(gradient_)) {
      report.refusal = Refusal::gradient;
    } else {
      report.gradient_norm = std::sqrt(kernels::norm2(gradient_));
      next_variance_ = variance_;
      if (t <= plan_.warmup_steps) {
        if (options_.rmsprop) {
          kernels::adapt_rms(next_variance_, kept_gradient_, options_.running_avg_factor);
        } else {
          next_tau_ = tau_;
          next_mean_ = mean_;
          kernels::adapt_scale(next_tau_, next_mean_, next_variance_, kept_gradient_);
        }
      }
      normals.normals(normals_, Purpose::noise, t);
      proposal_ = position_;
      next_momentum_ = momentum_;
      kernels::scaled_momentum_update(proposal_, next_momentum_, next_variance_, gradient_, normals_, step,
                                      options_.friction);
      if (!kernels::all_finite(proposal_)) report.refusal = Refusal::position;
    }
    if (report.accepted()) {
      position_.swap(proposal_);
      momentum_.swap(next_momentum_);
      variance_.swap(next_variance_);
      if (t <= plan_.warmup_steps && !options_.rmsprop) {
        tau_.swap(next_tau_);
        mean_.swap(next_mean_);
      }
      kept_gradient_.swap(gradient_);
      log_density_ = value;
    }
    report.log_density = log_density_;
    return report;
  }

  const Vector& position() const override { return position_; }
  const Vector& momentum() const { return momentum_; }
  const Vector& variance() const { return variance_; }  ///< s²
  const Vector& tau() const { return tau_; }
  const Vector& mean() const { return mean_; }
  std::uint64_t warmup_steps() const override { return plan_.warmup_steps; }
  std::uint64_t total_steps() const override { return plan_.warmup_steps + plan_.sampling_steps; }

  /// max s, to be compared with 2α/ε².
  double largest_scale() const { return std::sqrt(kernels::examine(variance_).largest); }
  /// 2α/ε² with the largest ε of the sampling phase: where max s reaches it, the injected noise is cut off
  /// and the balance of the dynamics is lost.
  double balance_bound() const {
    const Schedule& schedule = options_.sampling_schedule;
    const double step = schedule.kind == ScheduleKind::constant ? options_.step_size
                                                                : std::max(schedule.initial, schedule.target);
    return 2 * options_.friction / (step * step);
  }

  std::vector<std::string> findings() const override {
    if (largest_scale() < balance_bound()) return {};
    return {"the balance condition max s < 2·mdecay/step_size² is broken (max s = " +
            std::to_string(largest_scale()) + ", bound " + std::to_string(balance_bound()) +
            "): lower step_size or raise mdecay"};
  }
  std::vector<std::pair<std::string, double>> tuned() const override {
    return {{"largest_scale", largest_scale()}, {"balance_bound", balance_bound()}};
  }

  void serialise(Archive& archive) override {
    archive.vector(position_), archive.vector(momentum_), archive.vector(variance_),
        archive.vector(kept_gradient_);
    archive.vector(tau_), archive.vector(mean_);
    archive.value(log_density_);
    if (archive.reading()) allocate_scratch();
  }

 private:
  void allocate_scratch() {
    proposal_ = gradient_ = normals_ = next_momentum_ = next_variance_ = next_tau_ = next_mean_ =
        Vector(position_.size());
  }

  ScaleAdaptedOptions options_;
  SamplingPlan plan_;
  Vector position_, momentum_, variance_, tau_, mean_, kept_gradient_;
  Vector proposal_, gradient_, normals_, next_momentum_, next_variance_, next_tau_, next_mean_;
  double log_density_ = StepReport::kNone;
};

// Compiled once, in src/samplers/.
extern template class ScaleAdaptedSampler<HostVector<float>>;
extern template class ScaleAdaptedSampler<HostVector<double>>;

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include "smile/adaptation/step_size.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace smile {

EnergyStepSize::EnergyStepSize(double initial, bool adapt_in_sampling, const SamplingPlan& plan,
                               std::optional<std::uint64_t> average_after)
    : step_size_(initial),
      adapt_in_sampling_(adapt_in_sampling),
      plan_(plan),
      average_after_(average_after.value_or(plan.warmup_steps / 2)) {}

ScheduledStep<double> EnergyStepSize::size(std::uint64_t) const {
  return {frozen_ > 0 ? frozen_ : step_size_};
}

void EnergyStepSize::observe(std::uint64_t t, const StepSeen<double>& seen) {
  average_.add(t, average_after_, plan_.warmup_steps, size(t).step_size);
  if (!seen.verdict.moves || !(t <= plan_.warmup_steps || adapt_in_sampling_)) return;
  step_size_ = std::clamp(step_size_ * seen.verdict.factor, 1e-8, 10.0);
}

void EnergyStepSize::freeze() {
  if (!adapt_in_sampling_ && !average_.empty()) frozen_ = average_.value();
}

double EnergyStepSize::after_warmup() const {
  return size(plan_.warmup_steps + 1).step_size;
}

void EnergyStepSize::serialise(Archive& archive) {
  archive.value(step_size_), archive.value(frozen_);
  average_.serialise(archive);
}

TurningStepSize::TurningStepSize(double initial, double turn_angle, double rate, const SamplingPlan& plan,
                                 std::optional<std::uint64_t> average_after)
    : initial_(initial),
      plan_(plan),
      average_after_(average_after.value_or(plan.warmup_steps / 2)),
      turning_(turn_angle, rate) {}

ScheduledStep<double> TurningStepSize::size(std::uint64_t t) const {
  const double base = frozen_ > 0 ? frozen_ : (t == 1 || !turning_.ready() ? initial_ : turning_.step_size());
  return {std::ldexp(base, -int(std::min<std::uint64_t>(nonfinite_in_row_, 60)))};
}

void TurningStepSize::start(double gradient_norm, double dimension) {
  turning_.follow(gradient_norm, dimension);
}

void TurningStepSize::observe(std::uint64_t t, const StepSeen<double>& seen) {
  average_.add(t, average_after_, plan_.warmup_steps, size(t).step_size);
  nonfinite_in_row_ = seen.finite ? 0 : nonfinite_in_row_ + 1;
  if (seen.finite && t <= plan_.warmup_steps) turning_.follow(seen.gradient_norm, seen.dimension);
}

void TurningStepSize::freeze() {
  if (!average_.empty()) frozen_ = average_.value();
}

double TurningStepSize::after_warmup() const {
  return frozen_ > 0 ? frozen_ : size(plan_.warmup_steps + 1).step_size;
}

void TurningStepSize::serialise(Archive& archive) {
  turning_.serialise(archive);
  average_.serialise(archive);
  archive.value(nonfinite_in_row_), archive.value(frozen_);
}

StepSize::StepSize(Rule rule) : rule_(std::move(rule)) {}

// A schedule goes first: the steps of the naive samplers in few dimensions are short enough to show the call.
ScheduledStep<double> StepSize::size(std::uint64_t t) const {
  if (const auto* schedule = std::get_if<ScheduledStepSize<double>>(&rule_)) return schedule->size(t);
  return std::visit([&](const auto& rule) { return rule.size(t); }, rule_);
}
void StepSize::fix(double constant) {
  std::get<ScheduledStepSize<double>>(rule_).fix(constant);
}
void StepSize::start(double gradient_norm, double dimension) {
  std::visit([&](auto& rule) { rule.start(gradient_norm, dimension); }, rule_);
}
void StepSize::observe(std::uint64_t t, const StepSeen<double>& seen) {
  if (std::holds_alternative<ScheduledStepSize<double>>(rule_)) return;  // learns nothing
  std::visit([&](auto& rule) { rule.observe(t, seen); }, rule_);
}
void StepSize::freeze() {
  std::visit([](auto& rule) { rule.freeze(); }, rule_);
}
std::vector<std::pair<std::string, double>> StepSize::tuned(double initial, std::uint64_t last) const {
  const double after_warmup = std::visit([](const auto& rule) { return rule.after_warmup(); }, rule_);
  return {{"step_size_start", initial},
          {"step_size_after_warmup", after_warmup},
          {"step_size_end", size(last).step_size}};
}
void StepSize::serialise(Archive& archive) {
  std::visit([&](auto& rule) { rule.serialise(archive); }, rule_);
}

}  // namespace smile

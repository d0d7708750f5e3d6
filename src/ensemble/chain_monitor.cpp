// SPDX-License-Identifier: Apache-2.0
#include "smile/ensemble/chain_monitor.hpp"

#include <algorithm>
#include <cmath>

namespace smile {
namespace {

std::size_t bin_of(double fraction, std::size_t bins) {
  if (!(fraction > 0)) return 0;
  return std::min(bins - 1, std::size_t(fraction * double(bins)));
}

}  // namespace

void EnergyErrors::add(const StepReport& report) {
  const double error = std::abs(report.energy_change);
  if (!std::isfinite(error)) return;
  ++finite;
  const double exponent = error > 0 ? std::log10(error) : kLowest;
  ++counts[bin_of((exponent - kLowest) / (kHighest - kLowest), kBins)];
  if (std::isfinite(report.probability)) {
    ++compared;
    ++probability_counts[bin_of(report.probability, kProbabilityBins)];
  }
}

double EnergyErrors::kolmogorov_distance() const {
  if (compared == 0) return StepReport::kNone;
  double distance = 0;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < kProbabilityBins; ++i) {
    below += probability_counts[i];
    const double uniform = double(i + 1) / double(kProbabilityBins);
    distance = std::max(distance, std::abs(double(below) / double(compared) - uniform));
  }
  return distance;
}

void StepSums::add(const StepReport& report, bool audit_step) {
  ++steps;
  gradients += std::uint64_t(report.gradients);
  ++refusals[std::size_t(report.refusal)];
  log_step_size += std::log(report.step_size);
  if (std::isfinite(report.turn_angle) && std::isfinite(report.gradient_norm)) {
    turn_angle += report.turn_angle;
    gradient_norm2 += report.gradient_norm * report.gradient_norm;
    ++turned;
  }
  if (audit_step && std::isfinite(report.energy_change)) {
    audit += report.energy_change * report.energy_change;
    ++audits;
  }
}

std::uint64_t StepSums::refused() const {
  return steps - refusals[0];
}

std::uint64_t StepSums::nonfinite() const {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < kRefusalKinds; ++i)
    if (!is_finite_step(Refusal(i))) count += refusals[i];
  return count;
}

double StepSums::mean_step_size() const {
  return steps > 0 ? std::exp(log_step_size / double(steps)) : StepReport::kNone;
}

double StepSums::mean_turn_angle() const {
  return turned > 0 ? turn_angle / double(turned) : StepReport::kNone;
}

double StepSums::gradient_rms(double dimension) const {
  return turned > 0 ? std::sqrt(gradient_norm2 / double(turned) / dimension) : StepReport::kNone;
}

double StepSums::implied_decoherence_length() const {
  const double angle = mean_turn_angle();
  return 2 * mean_step_size() / (angle * angle);
}

double StepSums::same_batch_energy_variance(double dimension) const {
  return audits > 0 ? audit / double(audits) / dimension : StepReport::kNone;
}

void ChainMonitor::add(const StepReport& report, bool in_warmup, bool audit_step) {
  (in_warmup ? warmup : sampling).add(report, audit_step);
  window.add(report, audit_step);
  if (!audit_step) {  // another quantity in audit steps
    window_energy.add(report);
    if (!in_warmup) energy.add(report);
  }
  if (steps == 0) first_step_size = report.step_size;
  last_step_size = report.step_size;
  if (in_warmup) warmup_end_step_size = report.step_size;
  smallest_step_size = std::min(smallest_step_size, report.step_size);
  largest_step_size = std::max(largest_step_size, report.step_size);
  if (std::isfinite(report.gamma_shape)) {
    gamma_shape = report.gamma_shape;
    gamma_scale = report.gamma_scale;
  }
  log_density = report.log_density;
  recent[steps % kRecent] = is_finite_step(report.refusal) ? std::uint8_t{0} : std::uint8_t(report.refusal);
  ++steps;
}

std::uint64_t ChainMonitor::recent_nonfinite() const {
  const auto finite = std::count(recent.begin(), recent.end(), std::uint8_t{0});  // also of steps to come
  return kRecent - std::uint64_t(finite);
}

double ChainMonitor::recent_nonfinite_fraction() const {
  return steps == 0 ? 0 : double(recent_nonfinite()) / double(std::min<std::uint64_t>(steps, kRecent));
}

Refusal ChainMonitor::recent_cause() const {
  std::array<std::size_t, kRefusalKinds> counts{};
  for (const std::uint8_t refusal : recent)
    if (refusal != 0) ++counts[refusal];
  return Refusal(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

bool ChainMonitor::never_accepted() const {
  return steps > 0 && warmup.refusals[0] + sampling.refusals[0] == 0;
}

Refusal ChainMonitor::main_cause() const {
  std::array<std::uint64_t, kRefusalKinds> counts{};
  for (std::size_t i = 1; i < kRefusalKinds; ++i) counts[i] = warmup.refusals[i] + sampling.refusals[i];
  return Refusal(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

}  // namespace smile

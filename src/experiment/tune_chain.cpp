#include "experiment/tune_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiment/chain_report.hpp"
#include "smile/targets/task_likelihood.hpp"

namespace smile::experiment {
namespace {

constexpr std::size_t kRecent = 100;
constexpr std::uint64_t kScores = 100;  ///< scored steps of an advance

}  // namespace

ValidationRows validation_rows(const Experiment& e) {
  return {e.valid.targets, nothing_learned(e.info, e.config.data.normalize)};
}

TuneChain::TuneChain(const Experiment& experiment, const SamplerConfig& sampler,
                     const ValidationRows& validation, std::uint32_t chain, const HostVector<float>& start,
                     std::uint64_t steps)
    : e_(experiment),
      validation_(validation),
      max_nonfinite_fraction_(sampler.max_nonfinite_fraction),
      target_(make_target(experiment, chain, start)),
      sampler_(make_sampler(sampler, {steps / 2, steps - steps / 2}, experiment.observations())),
      normals_(experiment.seed(), chain),
      network_(experiment.network->predictor()),
      whole_(start),
      recent_(kRecent, false),
      scores_(validation.targets.size()),
      outputs_(validation.targets.size() * experiment.outputs()) {
  HostVector<float> moving = start;
  if (e_.frozen) e_.frozen->take(start, moving);
  sampler_->start(moving, *target_, normals_);
}

void TuneChain::advance(std::uint64_t until, std::uint64_t collect_after) {
  const std::uint64_t every = std::max<std::uint64_t>(1, (until - collect_after) / kScores);
  while (step_ < until && hopeless_.empty()) {
    const StepReport report = sampler_->step(*target_, normals_, ++step_);
    const bool bad = !is_finite_step(report.refusal);
    gradients_ += std::uint64_t(report.gradients);
    refused_ += !report.accepted();
    nonfinite_ += bad;
    recent_[step_ % kRecent] = bad;
    if (!std::isnan(report.step_size)) last_step_size_ = report.step_size;
    if (bad && step_ >= kRecent && blows_up()) {
      hopeless_ = fmt::format("not finite at step {}", step_);
      return;
    }
    if (step_ > collect_after && (step_ - collect_after) % every == 0) score();
  }
  if (!hopeless_.empty() || scored_ == 0) return;
  double lppd = 0;
  for (const LogSumExp& sum : scores_) lppd += sum.value() - std::log(double(scored_));
  lppd /= double(scores_.size());
  if (std::isnan(lppd) || lppd < validation_.trivial_lppd)
    hopeless_ = fmt::format("worse than no network at step {}", step_);
}

void TuneChain::clear_scores() {
  scores_.assign(scores_.size(), LogSumExp());
  scored_ = 0;
}

bool TuneChain::blows_up() const {
  return double(std::count(recent_.begin(), recent_.end(), true)) > max_nonfinite_fraction_ * kRecent;
}

void TuneChain::score() {
  if (e_.frozen)
    e_.frozen->put(sampler_->position().span(), whole_);
  else
    whole_ = sampler_->position();
  const HostVector<float>& position = whole_;
  network_->predict(Part::valid, position, outputs_);
  const std::size_t width = e_.outputs();
  const Task task = e_.config.task();
  std::vector<double> logits(width);
  for (std::size_t i = 0; i < scores_.size(); ++i) {
    const auto row = std::span<const float>(outputs_).subspan(i * width, width);
    double value = 0;
    if (!e_.is_regression()) {
      std::copy(row.begin(), row.end(), logits.begin());
      value = categorical_log_likelihood(logits, std::size_t(validation_.targets[i]), {});
    } else {
      const float log_sigma = task == Task::regression ? row[1] : position[position.size() - 1];
      value = normal_log_likelihood(validation_.targets[i], double(row[0]), double(log_sigma)).log_likelihood;
    }
    scores_[i].add(value);
  }
  ++scored_;
}

}  // namespace smile::experiment

// SPDX-License-Identifier: Apache-2.0
#include "tune/tune_chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "evaluation/row_predictive.hpp"
#include "smile/diagnosis/chain_report.hpp"

namespace smile::experiment {
namespace {

constexpr std::uint64_t kScores = 100;  ///< scored steps of an advance

ChainSetup setup_of(const Experiment& e, const SamplerConfig& sampler, std::uint32_t chain,
                    const HostVector<float>& start, std::uint64_t steps) {
  ChainSetup setup;
  setup.target = make_target(e, chain, start);
  setup.sampler = make_sampler(sampler, {steps / 2, steps - steps / 2}, e.observations());
  setup.start = start;
  if (e.frozen) e.frozen->take(start, setup.start);
  return setup;
}

}  // namespace

ValidationRows validation_rows(const Experiment& e) {
  return {e.valid.targets, nothing_learned(e.info, e.config.data.dataset.normalize)};
}

TuneChain::TuneChain(const Experiment& experiment, const SamplerConfig& sampler,
                     const ValidationRows& validation, std::uint32_t chain, const HostVector<float>& start,
                     std::uint64_t steps)
    : e_(experiment),
      validation_(validation),
      chain_(setup_of(experiment, sampler, chain, start, steps),
             {experiment.seed(), chain, {sampler.max_nonfinite_fraction}}),
      network_(experiment.network->predictor()),
      whole_(start),
      scores_(validation.targets.size()),
      outputs_(validation.targets.size() * experiment.outputs()) {}

void TuneChain::advance(std::uint64_t until, std::uint64_t collect_after) {
  const std::uint64_t every = std::max<std::uint64_t>(1, (until - collect_after) / kScores);
  if (!hopeless_.empty()) return;
  chain_.advance(until, [&](const StepReport&, std::uint64_t t) {
    done_ = t;
    if (!chain_.failed() && t > collect_after && (t - collect_after) % every == 0) score();
    return true;
  });
  if (chain_.failed()) hopeless_ = fmt::format("not finite at step {}", steps());
  if (!hopeless_.empty() || scored_ == 0) return;
  double lppd = 0;
  for (const LogSumExp& sum : scores_) lppd += sum.value() - std::log(double(scored_));
  lppd /= double(scores_.size());
  if (std::isnan(lppd) || lppd < validation_.trivial_lppd)
    hopeless_ = fmt::format("worse than no network at step {}", steps());
}

void TuneChain::clear_scores() {
  scores_.assign(scores_.size(), LogSumExp());
  scored_ = 0;
}

void TuneChain::score() {
  if (e_.frozen)
    e_.frozen->put(chain_.position().span(), whole_);
  else
    whole_ = chain_.position();
  const HostVector<float>& position = whole_;
  network_->predict(Part::valid, position, outputs_);
  RowPredictive reader(e_.config.task(), e_.outputs());
  for (std::size_t i = 0; i < scores_.size(); ++i)
    scores_[i].add(reader.log_density(outputs_, i, position.span(), validation_.targets[i]));
  ++scored_;
}

}  // namespace smile::experiment

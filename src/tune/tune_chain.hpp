// SPDX-License-Identifier: Apache-2.0
/// One short chain of a step-size search, in memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "experiment/experiment.hpp"
#include "smile/ensemble/chain.hpp"
#include "smile/statistics/summaries.hpp"

namespace smile::experiment {

/// What the chain is compared on; shared.
struct ValidationRows {
  std::vector<double> targets;
  double trivial_lppd = 0;  ///< of a prediction without a network; NaN: not known
};
ValidationRows validation_rows(const Experiment& experiment);

class TuneChain {
 public:
  /// @param steps  of the whole search, for the sampler's plan
  TuneChain(const Experiment& experiment, const SamplerConfig& sampler, const ValidationRows& validation,
            std::uint32_t chain, const HostVector<float>& start, std::uint64_t steps);

  /// Goes on to step `until`. Some hundred of the steps after `collect_after` are scored.
  void advance(std::uint64_t until, std::uint64_t collect_after);
  /// Forgets the scores.
  void clear_scores();

  std::uint64_t steps() const { return done_; }
  std::uint64_t gradients() const { return monitor().warmup.gradients + monitor().sampling.gradients; }
  std::uint64_t refused() const { return monitor().warmup.refused() + monitor().sampling.refused(); }
  std::uint64_t nonfinite() const { return monitor().warmup.nonfinite() + monitor().sampling.nonfinite(); }
  /// Why the chain was given up; empty while it goes on.
  const std::string& hopeless() const { return hopeless_; }
  /// log Σ p(y_i | x_i, θ) over the scored steps, and their number.
  const std::vector<LogSumExp>& scores() const { return scores_; }
  std::uint64_t scored() const { return scored_; }

 private:
  void score();
  const ChainMonitor& monitor() const { return chain_.record().monitor; }

  const Experiment& e_;
  const ValidationRows& validation_;
  Chain chain_;
  std::unique_ptr<Predictor> network_;
  HostVector<float> whole_;              ///< the network's vector, frozen parameters included
  std::atomic<std::uint64_t> done_ = 0;  ///< steps; read by the thread that shows progress
  std::uint64_t scored_ = 0;
  std::string hopeless_;
  std::vector<LogSumExp> scores_;
  std::vector<float> outputs_;
};

}  // namespace smile::experiment

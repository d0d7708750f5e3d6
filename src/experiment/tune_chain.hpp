/// One short chain of a step-size search, in memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "experiment/experiment.hpp"
#include "smile/ensemble/stream_normals.hpp"
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

  std::uint64_t steps() const { return step_; }
  std::uint64_t gradients() const { return gradients_; }
  std::uint64_t refused() const { return refused_; }
  std::uint64_t nonfinite() const { return nonfinite_; }
  double last_step_size() const { return last_step_size_; }
  /// Why the chain was given up; empty while it goes on.
  const std::string& hopeless() const { return hopeless_; }
  /// log Σ p(y_i | x_i, θ) over the scored steps, and their number.
  const std::vector<LogSumExp>& scores() const { return scores_; }
  std::uint64_t scored() const { return scored_; }

 private:
  void score();
  bool blows_up() const;

  const Experiment& e_;
  const ValidationRows& validation_;
  double max_nonfinite_fraction_;
  std::unique_ptr<Target<HostVector<float>>> target_;
  std::unique_ptr<Sampler<HostVector<float>>> sampler_;
  StreamNormals<HostVector<float>> normals_;
  std::unique_ptr<Predictor> network_;
  HostVector<float> whole_;  ///< the network's vector, frozen parameters included
  std::uint64_t step_ = 0, gradients_ = 0, refused_ = 0, nonfinite_ = 0, scored_ = 0;
  std::vector<bool> recent_;  ///< of the last hundred steps: not finite
  double last_step_size_ = 0;
  std::string hopeless_;
  std::vector<LogSumExp> scores_;
  std::vector<float> outputs_;
};

}  // namespace smile::experiment

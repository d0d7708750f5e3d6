// SPDX-License-Identifier: Apache-2.0
/// The paper's recipe for the step size: short chains over a coarse grid around the optimiser's last learning
/// rate, judged by stability and validation LPPD.
/// @source Sommer et al. 2026, appendix E.7; successive halving: Jamieson & Talwalkar 2016
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "smile/config/config.hpp"
#include "smile/ensemble/progress.hpp"

namespace smile {

struct TuneOptions {
  std::string out;               ///< folder; empty: <saving_dir>/<experiment_name>/<time>-tune
  int threads = 0;               ///< 0: one for each core the process may use; changes no result
  std::optional<double> centre;  ///< middle of the grid; none: from the optimiser's last learning rate
  double decades = 3.5;          ///< width of the grid, in (0, 8]
  int per_decade = 2;            ///< steps in a decade, ≥ 1
  std::int64_t chains = 1;  ///< for each step; at most the run's. One long chain says more than several short
  double budget = 0.18;     ///< gradients of the whole search over those of the run, in (0, 1]
  bool refine = false;      ///< then also the steps half-way to the neighbours of the best
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const Progress&)> on_progress;
  std::function<void(const std::string&)> on_message;
};

/// One step size and how it fared.
struct TunedStep {
  double step_size = 0;
  std::uint64_t steps = 0;      ///< done by each chain
  std::uint64_t gradients = 0;  ///< of all its chains
  double reset_rate = 0;        ///< refused steps (the guardrail's and those not finite) over all
  double nonfinite_rate = 0;    ///< steps that were not finite over all
  double validation_lppd = 0;   ///< of the second half of its steps; NaN where it was stopped before
  std::string verdict;          ///< "chosen", "kept to the end", "behind after 750 steps", "stopped: …"
};

struct TuneSummary {
  std::string directory, config, table;                  ///< the folder; tuned.yaml and steps.csv in it
  std::vector<TunedStep> steps;                          ///< by step size
  double step_size = 0;                                  ///< recommended
  std::string reason;                                    ///< one sentence
  double centre = 0;                                     ///< of the grid
  std::string centre_from;                               ///< where it is from, in words
  std::uint64_t gradients = 0, warmstart_gradients = 0;  ///< of the chains; of the members' training
  std::uint64_t run_gradients = 0;                       ///< of a whole run's chains
  std::vector<std::string> remarks;
};

/// Searches the step size for the sampler of a configuration.
///
/// The members are trained once for all steps. Every step moves the same chains (same members, batches and
/// random numbers) for L steps; the better half goes on to 2 L, and the better half of these to 4 L. The
/// LPPD of the validation rows is that of the second half of the steps so far, all chains together. A step is
/// stopped where more than `max_nonfinite_fraction` of a chain's last 100 steps were not finite, or where a
/// chain predicts worse than no network at all (the mean and spread of the training targets, or equal
/// classes). The best is taken among the steps of the last round with less than 1 % steps that were not
/// finite, and multiplied by √(its chains' steps/the run's steps): what a chain that has not arrived yet
/// lacks falls with the length of its path, the bias rises with the step, so that longer chains want a
/// shorter step (docs/results/tune.md). Not so for the energy rule, whose step adapts.
///
/// Samplers with `step_size_rule: turn` (psmile-auto, smile-auto) find their step themselves: what is tuned
/// and written is the same sampler with a fixed step. The centre is the optimiser's last learning rate η; for
/// samplers whose step multiplies the gradient of the whole log-posterior (sgld, psgld, csgld, sghmc) it is
/// η/N, for sgnht, which multiplies it twice by the step, √(η/N).
/// @throws Error (usage) where there is nothing to tune (mclmc, a step-size schedule); of kind run where no
/// step survives or it was interrupted
TuneSummary tune_step_size(const Config& config, const TuneOptions& options);

/// The table of steps for a terminal.
std::string tune_table(const TuneSummary& summary);

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// What a run's chains were like, in numbers and words (spec 3.2, 1.8): the document behind `smile diagnose`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "smile/diagnosis/energy_window.hpp"
#include "smile/named.hpp"

namespace smile {

/// What a finding is about.
enum class Cause {
  damaged,
  failed,
  blown_up,
  worse_than_nothing,
  worse_than_member,
  apart,
  began_too_large,
  hardly_turns,
  stuck,
  divergences,
  resets,
  few_resets,
  gamma_fit,
  step_size_drift,
  turning_angle,
  still,
  not_settled,
  too_few_draws,
  sampler,
  // of all chains together
  incomplete,
  worse_than_no_network,
  worse_than_start,
  walked_away,
  chains_differ,
  constant,
  constant_predictions,
  nonfinite_draws,
  too_narrow,
  too_hot,
  prior_only,
};
template <>
struct Named<Cause> {
  /// Codes, stable, for programs; and what is said where several chains have it.
  static constexpr Alternative<Cause> all[] = {
      {Cause::damaged, "damaged", "their files are damaged"},
      {Cause::failed, "failed", "they failed"},
      {Cause::blown_up, "blown-up", "they have blown up and fit the training rows worse than no network"},
      {Cause::worse_than_nothing, "worse-than-nothing",
       "their last states fit the training rows worse than no network at all"},
      {Cause::worse_than_member, "worse-than-member",
       "their draws predict the test rows far worse than the members they started from"},
      {Cause::apart, "apart", "they fit the rows much less well than the other chains"},
      {Cause::began_too_large, "began-too-large", "they began with a step size that is far too large"},
      {Cause::hardly_turns, "hardly-turns", "their steps are so small that they went nowhere"},
      {Cause::stuck, "stuck", "they refused most of their sampling steps and hardly moved"},
      {Cause::divergences, "divergences", "some of their steps were not finite"},
      {Cause::resets, "resets", "they reset much more often than expected"},
      {Cause::few_resets, "few-resets", "they reset less often than expected"},
      {Cause::gamma_fit, "gamma-fit", "|dE| does not follow its Gamma fit"},
      {Cause::step_size_drift, "step-size-drift", "the energy rule moved their step sizes far away"},
      {Cause::turning_angle, "turning-angle", "their velocities turned by another angle than chosen"},
      {Cause::still, "still", "parameters stand still in them"},
      {Cause::not_settled, "not-settled", "they do not agree with themselves yet"},
      {Cause::too_few_draws, "too-few-draws", "they have too few draws to judge"},
      {Cause::sampler, "sampler", "the sampler remarks"},
      {Cause::incomplete, "incomplete"},
      {Cause::worse_than_no_network, "worse-than-no-network"},
      {Cause::worse_than_start, "worse-than-start"},
      {Cause::walked_away, "walked-away"},
      {Cause::chains_differ, "chains-differ"},
      {Cause::constant, "constant"},
      {Cause::constant_predictions, "constant-predictions"},
      {Cause::nonfinite_draws, "nan-draws"},
      {Cause::too_narrow, "too-narrow"},
      {Cause::too_hot, "too-hot"},
      {Cause::prior_only, "prior-only"},
  };
};

/// One thing to know: a sentence with numbers, and what to try.
struct Finding {
  enum class Weight {
    note,     ///< good to know; the draws can be used
    warning,  ///< the draws may mislead, and there is something to do about it
    failure,  ///< the chain has no usable draws
  };
  Weight weight = Weight::note;
  Cause cause = Cause::sampler;
  std::string text;    ///< "it resets at 6.1 % of its sampling steps where 2 % are expected"
  std::string advice;  ///< "lower step_size by a factor of 3"; may be empty
};
template <>
struct Named<Finding::Weight> {
  static constexpr Alternative<Finding::Weight> all[] = {{Finding::Weight::note, "note"},
                                                         {Finding::Weight::warning, "warning"},
                                                         {Finding::Weight::failure, "failure"}};
};

/// The heaviest finding decides; an unfinished chain is `incomplete` unless it failed, and one with nothing
/// against it is `unjudged` where it has too few draws for that to mean anything.
enum class Verdict { sound, sound_with_remarks, unjudged, doubtful, incomplete, failed };
template <>
struct Named<Verdict> {
  static constexpr Alternative<Verdict> all[] = {{Verdict::sound, "sound"},
                                                 {Verdict::sound_with_remarks, "sound, with remarks"},
                                                 {Verdict::unjudged, "too few draws to judge"},
                                                 {Verdict::doubtful, "doubtful"},
                                                 {Verdict::incomplete, "incomplete"},
                                                 {Verdict::failed, "failed"}};
};

/// One chain. NaN where a quantity does not apply or is not known.
struct ChainDiagnosis {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::uint32_t chain = 0;
  Verdict verdict = Verdict::sound;
  std::uint64_t steps = 0, warmup_steps = 0, total_steps = 0, draws = 0;
  double test_lppd = kNone;
  double start_test_lppd = kNone;           ///< of the member it started from, alone
  double training_log_likelihood = kNone;   ///< a training row, of the last state
  double squared_norm_per_dim = kNone;      ///< ‖θ‖²/d of the last state
  double reset_frequency = kNone;           ///< refused steps of the sampling phase, as a fraction
  double expected_reset_frequency = kNone;  ///< κ; NaN without a guardrail
  std::uint64_t divergences = 0;            ///< steps of both phases that were not finite
  std::vector<std::pair<std::string, std::uint64_t>> refusals;  ///< both phases, by cause
  double gamma_shape = kNone, gamma_scale = kNone;              ///< last fit of |ΔE|
  double kolmogorov_distance = kNone;                           ///< of |ΔE| to the fits, sampling phase
  double step_size_first = kNone, step_size_after_warmup = kNone, step_size_last = kNone;
  double step_size_smallest = kNone, step_size_largest = kNone;
  bool step_size_drifted = false;  ///< the energy rule left the bounds of StepSizeDrift
  double gradient_rms = kNone;     ///< rms of ‖g̃‖/√d over the sampling phase
  double seconds_per_step = kNone, gradients_per_second = kNone;
  double chainwise_rhat_parameters = kNone, chainwise_rhat_predictions = kNone;  ///< medians
  std::size_t still_quantities = 0;  ///< parameters that stand still in this chain, not in all to one value
  std::vector<EnergyWindow> energy_over_time;  ///< at most some 200
  std::vector<Finding> findings;
};

struct RunDiagnosis {
  std::string directory, status;
  std::vector<ChainDiagnosis> chains;
  std::vector<Finding> findings;  ///< of all chains together
  std::size_t count(Verdict verdict) const;
};

/// From the checkpoints, the draws (read once, to see that they are those the chains stored) and, where they
/// are there, the files of eval/. Needs no data and takes no lock.
/// @throws Error where there is no run (run_access.hpp)
RunDiagnosis diagnose_run(const std::filesystem::path& run);

/// "chain 3", "chains 0, 3".
std::string chains_text(const std::vector<std::uint32_t>& chains);
/// What a run says at its end: the findings that someone should act on, one sentence each. The same of many
/// chains is said once.
std::vector<std::string> chain_warnings(const RunDiagnosis& diagnosis);
std::vector<std::string> run_warnings(const RunDiagnosis& diagnosis);

/// The struct's fields by their names.
std::string to_json(const RunDiagnosis& diagnosis);
/// For a terminal: a verdict for the run, a line a chain, its findings below it.
std::string to_text(const RunDiagnosis& diagnosis);

}  // namespace smile

/// What a run's chains were like, in numbers and words (spec 3.2, 1.8): the document behind `smile diagnose`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace smile {

/// One thing to know: a sentence with numbers, and what to try.
struct Finding {
  enum class Weight {
    note,     ///< good to know; the draws can be used
    warning,  ///< the draws may mislead
    failure,  ///< the chain has no usable draws
  };
  Weight weight = Weight::note;
  std::string code;    ///< "resets", "step-size-drift", …; stable, for programs
  std::string text;    ///< "resets at 6.1 % of its sampling steps where 2 % are expected"
  std::string advice;  ///< "lower step_size by a factor of 3"; may be empty
};

/// The heaviest finding decides; an unfinished chain is `incomplete` unless it failed.
enum class Verdict { sound, sound_with_remarks, doubtful, incomplete, failed };
/// "sound", "sound, with remarks", "doubtful", "incomplete", "failed".
const char* name_of(Verdict verdict);

/// A stretch of a chain (1,000 steps, or several such in long runs), from its monitors. NaN where a quantity
/// does not apply.
struct EnergyWindow {
  std::uint64_t last_step = 0;
  double step_size = 0;                     ///< geometric mean over the last 1,000 steps
  double reset_frequency = 0;               ///< refused steps of the stretch, as a fraction
  double gamma_shape = 0, gamma_scale = 0;  ///< fit of |ΔE| at its end
  double kolmogorov_distance = 0;           ///< of |ΔE| to the fits, last 1,000 steps
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
  std::size_t still_quantities = 0;  ///< parameters that stand still in this chain though others move
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

/// The struct's fields by their names.
std::string to_json(const RunDiagnosis& diagnosis);
/// For a terminal: a verdict for the run, a line a chain, its findings below it.
std::string to_text(const RunDiagnosis& diagnosis);

}  // namespace smile

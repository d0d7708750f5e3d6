// SPDX-License-Identifier: Apache-2.0
/// One chain: what its numbers mean, and what to try.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnosis/evidence.hpp"
#include "diagnosis/limits.hpp"
#include "smile/adaptation/energy_tuner.hpp"
#include "smile/ensemble/ensemble_runner.hpp"
#include "smile/number_text.hpp"

namespace smile::diagnosis {
namespace {

using Weight = Finding::Weight;

double percent(double fraction) {
  return 100 * fraction;
}

class Judge {
 public:
  Judge(ChainDiagnosis& d, const ChainEvidence& chain, const RunEvidence& run)
      : d_(d), chain_(chain), r_(chain.record), m_(chain.record.monitor), run_(run) {}

  void judge() {
    if (!chain_.damage.empty()) return damaged();  // nothing that is read from it means anything
    if (r_.status == ChainStatus::failed)
      return add(Weight::failure, Cause::failed, r_.reason, m_.steps > 0 ? against_nonfinite() : "");
    if (d_.steps == 0) return;
    const bool elsewhere = region();
    divergences();
    for (const std::string& finding : r_.findings) add(Weight::warning, Cause::sampler, finding, "");
    step_size_drift();
    // What follows from being elsewhere, or from not moving, is not said a second time.
    if (elsewhere || stuck() || hardly_turns()) return;
    resets();
    gamma_fit();
    turning_angle();
    still();
    if (r_.status == ChainStatus::complete && chain_.draws() < kFewestDraws)
      too_few_draws();
    else
      settled();
  }

 private:
  void add(Weight weight, Cause cause, std::string text, std::string advice) {
    d_.findings.push_back({weight, cause, std::move(text), std::move(advice)});
  }

  void damaged() {
    add(Weight::failure, Cause::damaged, chain_.damage,
        fmt::format("restore the files from a copy, or run this chain anew: remove {0} (and {0}.previous, "
                    "where it is there) and then `{1}`",
                    checkpoint_path(run_.run, d_.chain).string(), run_.resume));
  }

  /// Why steps were not finite, and what to try.
  std::string against_nonfinite() const {
    const std::string smaller = run_.smaller_step();
    switch (m_.main_cause()) {
      case Refusal::log_density:
        return smaller +
               "; if it stays, the log-density itself has places where it is not a number (check prior "
               "limits and data)";
      case Refusal::gradient:
        return smaller + ", or set gradient_clip to a smaller value";
      default:
        return smaller;
    }
  }

  /// Whether the step size that adaptation began with was far above the one it came to: then a chain may be
  /// anywhere before there is a step to choose.
  bool began_too_large() const {
    return run_.chooses_step() && m_.first_step_size > kBeganTooLarge * m_.warmup_end_step_size;
  }

  /// Whether it is where networks fit the data. @return whether it is not
  bool region() {
    const experiment::Astray& astray = chain_.astray;
    if (!astray.any()) return false;
    std::string advice = run_.smaller_step();
    if (began_too_large()) {
      add(Weight::warning, Cause::began_too_large,
          fmt::format("it began with a step size of {:.3g} where {:.3g} was found to be right at the end of "
                      "warm-up: what the first steps destroyed it did not find again",
                      m_.first_step_size, m_.warmup_end_step_size),
          "lower step_size, or leave it out");
      advice = "lower step_size, or leave it out";
    }
    const double own = d_.training_log_likelihood;
    const std::string against = fmt::format(
        "log-likelihood of a training row {} (median of the chains {}), "
        "|theta|^2/d {:.3g}",
        number_text(own), number_text(chain_.usual_likelihood), d_.squared_norm_per_dim);
    if (astray.worse_than_nothing && !astray.apart)
      add(Weight::warning, Cause::worse_than_nothing,
          fmt::format("its last state fits the training rows worse than no network at all: log-likelihood of "
                      "a row {}, where {:.2f} needs nothing learned",
                      number_text(own), run_.rows.nothing_learned),
          advice);
    else if (astray.worse_than_nothing || (astray.apart && !std::isfinite(own)))
      add(Weight::warning, Cause::blown_up, "it has blown up: " + against, advice);
    else if (astray.apart)
      add(Weight::warning, Cause::apart,
          fmt::format("it fits much less well than the other chains: {}, test LPPD {}", against,
                      number_text(d_.test_lppd)),
          advice);
    else
      add(Weight::warning, Cause::worse_than_member,
          fmt::format("its draws predict the test rows far worse (LPPD {}) than the member it started "
                      "from ({})",
                      number_text(d_.test_lppd), number_text(d_.start_test_lppd)),
          advice + "; if that does not help, the prior does not fit the network");
    return true;
  }

  /// Whether the step size is what the configuration says, all along.
  bool is_fixed() const { return m_.steps > 0 && m_.smallest_step_size == m_.largest_step_size; }
  double refused() const { return std::isfinite(d_.reset_frequency) ? d_.reset_frequency : 0; }

  bool stuck() {
    if (!(refused() > (run_.sampler.row().adjusted() ? kManyRejections : kManyRefusals))) return false;
    add(Weight::warning, Cause::stuck,
        fmt::format("it refused {:.0f} % of its sampling steps and hardly moved", percent(refused())),
        run_.smaller_step());
    return true;
  }

  bool hardly_turns() {
    const double angle = m_.sampling.mean_turn_angle();
    if (!(angle < kHardlyTurns && angle * std::sqrt(double(m_.sampling.steps)) < 1)) return false;
    add(Weight::warning, Cause::hardly_turns,
        fmt::format(
            "its steps are so small that it went nowhere: {} steps of size {:.3g} turned the velocity "
            "by {:.2g} each",
            m_.sampling.steps, m_.last_step_size, angle),
        run_.larger_step());
    return true;
  }

  void divergences() {
    if (d_.divergences == 0) return;
    std::string causes;
    for (std::size_t i = 1; i < kRefusalKinds; ++i) {
      const auto count = m_.warmup.refusals[i] + m_.sampling.refusals[i];
      if (!is_finite_step(Refusal(i)) && count > 0)
        causes += fmt::format("{}{} ({})", causes.empty() ? "" : ", ", name_of(Refusal(i)), count);
    }
    const bool many = double(d_.divergences) / double(d_.steps) > kManyDivergences;
    add(many ? Weight::warning : Weight::note, Cause::divergences,
        fmt::format("{} of its {} steps were not finite and were refused: {}", d_.divergences, d_.steps,
                    causes),
        many ? against_nonfinite() : "nothing, as long as they stay rare");
  }

  /// Against κ, where enough were expected for the comparison to mean something.
  void resets() {
    const StepSums& s = m_.sampling;
    const double kappa = d_.expected_reset_frequency;
    if (!std::isfinite(kappa) || s.steps == 0) return;
    const double expected = kappa * double(s.steps), found = double(s.refused());
    const double chance = 4 * std::sqrt(expected + 1);  // four standard deviations of a Poisson count
    const std::string text = fmt::format(
        "it resets at {:.3g} % of its sampling steps where {:.3g} % are "
        "expected: |dE| has a {} tail than its Gamma fit",
        percent(refused()), percent(kappa), found > expected ? "heavier" : "lighter");
    if (found > kResetFactor * expected && found > expected + chance)
      add(Weight::warning, Cause::resets, text, run_.smaller_step());
    else if (kResetFactor * found < expected && found < expected - chance)
      add(Weight::note, Cause::few_resets, text, "nothing: the guardrail hardly acts");
  }

  void gamma_fit() {
    if (!(d_.kolmogorov_distance > kPoorFit)) return;
    add(Weight::note, Cause::gamma_fit,
        fmt::format(
            "|dE| does not follow its Gamma fit (Kolmogorov distance {:.2f}), so that resets need not "
            "come at the chosen rate",
            d_.kolmogorov_distance),
        run_.sampler.follows_energy() ? "step_size_rule: turn does not use the fit to choose the step"
                                      : "nothing");
  }

  void step_size_drift() {
    if (!d_.step_size_drifted) return;
    add(Weight::warning, Cause::step_size_drift,
        fmt::format(
            "the energy rule moved the step size from {:.3g} to {:.3g} (between {:.3g} and {:.3g} on the "
            "way), out of [{:g}, {:g}] times step_size",
            run_.sampler.step.step_size, d_.step_size_last, d_.step_size_smallest, d_.step_size_largest,
            StepSizeDrift::low, StepSizeDrift::high),
        "use step_size_rule: turn, adapt_during: warmup, or a fixed step");
  }

  /// Too small an angle only costs time; a large one is a step too large.
  void turning_angle() {
    const double angle = m_.sampling.mean_turn_angle(), chosen = run_.sampler.microcanonical.turn_angle;
    if (!run_.chooses_step() || !(angle > kTurnFactor * chosen)) return;
    add(Weight::warning, Cause::turning_angle,
        fmt::format(
            "its velocity turned by {:.3g} a sampling step where turn_angle asks for {:.3g}: the step "
            "size had not settled at the end of warm-up",
            angle, chosen),
        "raise warmup_steps");
  }

  void still() {
    // Of a Laplace approximation of the last layer the others are meant to.
    if (d_.still_quantities == 0 || run_.sampler.row().dynamics == Dynamics::laplace) return;
    add(Weight::warning, Cause::still,
        fmt::format("{} of the parameters looked at stand still in it, though it refused only {:.3g} % of "
                    "its steps: they are too small to change a number",
                    d_.still_quantities, percent(refused())),
        run_.larger_step());
  }

  void too_few_draws() {
    add(Weight::note, Cause::too_few_draws,
        fmt::format("it has {} draw{}, too few to judge whether it agrees with itself (at least {})",
                    chain_.draws(), chain_.draws() == 1 ? "" : "s", kFewestDraws),
        chain_.draws() < r_.stored ? "lower burn_in, or raise n_samples"
                                   : "raise n_samples, or lower n_thinning");
  }

  void settled() {
    const double rhat = d_.chainwise_rhat_predictions;
    if (!(rhat > kSettled)) return;
    const bool moving = rhat > kMoving;
    add(moving ? Weight::warning : Weight::note, Cause::not_settled,
        fmt::format("{} (chain-wise R-hat {:.2f}, settled below {:.1f})",
                    moving ? "it does not agree with itself yet: predictions differ between the parts of the "
                             "chain"
                           : "predictions differ a little between the parts of the chain",
                    rhat, kSettled),
        moving && is_fixed() && refused() == 0
            ? "raise step_size (not a step was refused), or n_samples"
            : "raise n_samples (or warmup_steps, where the first part differs)");
  }

  ChainDiagnosis& d_;
  const ChainEvidence& chain_;
  const ChainRecord& r_;
  const ChainMonitor& m_;
  const RunEvidence& run_;
};

Verdict verdict_of(const ChainDiagnosis& d, const ChainEvidence& chain) {
  Weight heaviest = Weight::note;
  bool too_few = false;
  for (const Finding& finding : d.findings) {
    heaviest = std::max(heaviest, finding.weight);
    too_few = too_few || finding.cause == Cause::too_few_draws;
  }
  if (heaviest == Weight::failure) return Verdict::failed;
  if (chain.record.status == ChainStatus::running) return Verdict::incomplete;
  if (heaviest == Weight::warning) return Verdict::doubtful;
  if (too_few) return Verdict::unjudged;
  return d.findings.empty() ? Verdict::sound : Verdict::sound_with_remarks;
}

}  // namespace

std::string RunEvidence::smaller_step() const {
  if (sampler.row().dynamics == Dynamics::laplace)
    return "the draws leave where the network is linear: read the linearised metrics, or write "
           "laplace_prior: "
           "validation or laplace_form: last_layer";
  if (sampler.row().dynamics == Dynamics::ivon)
    return "lengthen warmup_steps, or lower step_size by a factor of 3";
  if (sampler.row().adjusted()) return "raise target_acceptance towards 1, which makes the steps shorter";
  return chooses_step() ? "lower turn_angle by a factor of 2" : "lower step_size by a factor of 3 to 10";
}

std::string RunEvidence::larger_step() const {
  if (sampler.row().adjusted()) return "lower target_acceptance, which makes the steps longer";
  return chooses_step() ? "raise turn_angle" : "raise step_size";
}

void judge_chain(ChainDiagnosis& diagnosis, const ChainEvidence& chain, const RunEvidence& run) {
  Judge(diagnosis, chain, run).judge();
  diagnosis.verdict = verdict_of(diagnosis, chain);
}

}  // namespace smile::diagnosis

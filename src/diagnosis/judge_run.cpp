// SPDX-License-Identifier: Apache-2.0
/// All chains together: sampling against what it started from, agreement between chains, coverage.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diagnosis/evidence.hpp"
#include "diagnosis/limits.hpp"
#include "smile/evaluation/metrics.hpp"
#include "smile/number_text.hpp"

namespace smile::diagnosis {
namespace {

using nlohmann::json;
using Weight = Finding::Weight;

class Judge {
 public:
  Judge(RunDiagnosis& d, const RunEvidence& run) : d_(d), run_(run) {}

  void judge() {
    if (const std::size_t unfinished = d_.count(Verdict::incomplete); unfinished > 0)
      add(Weight::warning, Cause::incomplete,
          fmt::format("{} of {} chains have not ended", unfinished, d_.chains.size()),
          fmt::format("let them go on: {}", run_.resume));
    lppd();
    walk();
    convergence();
    coverage();
    temperature();
    prior_only();
  }

 private:
  void add(Weight weight, Cause cause, std::string text, std::string advice) {
    d_.findings.push_back({weight, cause, std::move(text), std::move(advice)});
  }

  bool some_chain(Cause cause) const {
    for (const ChainDiagnosis& chain : d_.chains)
      for (const Finding& finding : chain.findings)
        if (finding.cause == cause) return true;
    return false;
  }
  bool is_damaged() const { return some_chain(Cause::damaged); }
  /// Chains that are nowhere near the posterior say nothing about its width.
  bool is_astray() const { return is_damaged() || d_.count(Verdict::doubtful) > 0; }
  bool is_too_small() const { return some_chain(Cause::hardly_turns) || some_chain(Cause::still); }

  /// What to do about a sampler that made predictions worse; where chains were told off, that comes first.
  std::string against_bad_sampling() const {
    if (is_damaged()) return "mend the damaged chains and then evaluate anew";
    if (d_.count(Verdict::doubtful) > 0) return "see the chains that are doubtful";
    if (run_.wide_under_standard_prior())
      return fmt::format(
          "set training.sampler.prior_config.name: WarmStart (or He): {} parameters under "
          "N(0, 1) and {} training rows",
          run_.dimension, run_.rows.count);
    return run_.smaller_step() + "; if that does not help, the prior does not fit the network";
  }

  void lppd() {
    if (!run_.metrics) return;
    for (const MetricRow& row : run_.metrics->metrics) {
      if (row.name != metric::kLppd) continue;
      const double before = row.ensemble, after = row.sampling;
      // There are draws, and what they predict is not finite: null in the file.
      const bool no_number = std::isnan(after) && run_.metrics->draws > 0;
      if (after < run_.nothing_learned || no_number)
        add(Weight::warning, Cause::worse_than_no_network,
            fmt::format("the draws predict the test rows worse than no network at all: LPPD {}, where {:.2f} "
                        "needs nothing learned",
                        no_number ? "not finite" : number_text(after), run_.nothing_learned),
            against_bad_sampling());
      else if (after < before - kLowered && !is_too_small())
        add(Weight::warning, Cause::worse_than_start,
            fmt::format("sampling lowered the test LPPD from {} (warm-started ensemble) to {}",
                        number_text(before), number_text(after)),
            against_bad_sampling());
    }
  }

  /// Windows of the sampling phase whose draws predict the validation rows worse than the members did.
  void walk() {
    if (!run_.diagnostics.is_object() || !run_.diagnostics.contains("walk") || is_damaged() || is_too_small())
      return;
    for (const Finding& finding : d_.findings)
      if (finding.cause == Cause::worse_than_no_network) return;  // says it all
    const json& windows = run_.diagnostics.at("walk").at("windows");
    const auto is_below = [](const json& w) {
      const double gain = json_number(w, "gain"), error = json_number(w, "gain_error");
      return gain < -kLowered && gain < -3 * error;
    };
    const auto first = std::find_if(windows.begin(), windows.end(), is_below);
    if (first == windows.end()) return;
    const bool stays = is_below(windows.back());
    add(stays ? Weight::warning : Weight::note, Cause::walked_away,
        fmt::format(
            "from draw {} on the draws predict the validation rows worse than the members they started from "
            "(LPPD {}, where the members have {}){}",
            first->value("first_draw", 0), number_text(json_number(*first, "validation_lppd")),
            number_text(json_number(run_.diagnostics.at("walk"), "members_validation_lppd")),
            stays ? "" : "; later ones are as good again"),
        stays ? against_bad_sampling() : "raise warmup_steps, so that these draws are not kept");
  }

  void convergence() {
    if (!run_.diagnostics.is_object() || !run_.diagnostics.contains("predictions")) return;
    const json& predictions = run_.diagnostics.at("predictions");
    const double rhat = json_number(predictions.value("rhat", json()), "median"),
                 ess = json_number(predictions.value("ess_bulk", json()), "median");
    if (rhat > kSettled && run_.diagnostics.at("chains_used").size() > 1)
      add(Weight::note, Cause::chains_differ,
          fmt::format(
              "the chains differ in their predictions (R-hat {:.2f}, bulk ESS {:.0f}): usual where the "
              "posterior has many modes",
              rhat, ess),
          "judge chains by themselves; more chains make the average better");
    for (const char* group : {"parameters", "predictions"}) not_as_usual(group);
  }

  /// Quantities whose draws are not numbers, or stand still in all chains.
  void not_as_usual(const char* group) {
    const json& of_group = run_.diagnostics.at(group);
    const int nonfinite = of_group.value("with_nan", 0) + of_group.value("with_infinite", 0);
    const int constant = of_group.value("constant", 0);
    if (nonfinite > 0)
      add(Weight::warning, Cause::nonfinite_draws,
          fmt::format("{} of the {} looked at have a draw that is not a finite number{}", nonfinite, group,
                      first_place(group)),
          "leave out the chain named, or run it with smaller steps");
    if (constant == 0) return;
    const bool moves = run_.diagnostics.at("parameters").value("constant", 0) == 0 && !is_too_small();
    if (std::string_view(group) == "predictions" && moves)
      add(Weight::note, Cause::constant_predictions,
          fmt::format("{} of the predictions looked at are the same for all draws, though the parameters "
                      "move: the network is at its limits there (probability 0 or 1, or no active unit)",
                      constant),
          "nothing");
    else
      add(Weight::warning, Cause::constant,
          fmt::format("{} of the {} looked at stand still in all chains (ESS 0, reason: constant)", constant,
                      group),
          refuses_much() ? run_.smaller_step() : run_.larger_step());
  }

  bool refuses_much() const {
    for (const ChainDiagnosis& chain : d_.chains)
      if (chain.reset_frequency > kManyRefusals) return true;
    return false;
  }

  /// " (draw 17 of chain 2, theta[4])" of the first quantity that names one.
  std::string first_place(std::string_view group) const {
    if (!run_.diagnostics.contains("quantities")) return "";
    for (const json& quantity : run_.diagnostics.at("quantities")) {
      const std::string name = quantity.value("name", "");
      const bool is_prediction = name.rfind("prediction", 0) == 0;
      if (is_prediction != (group == "predictions")) continue;
      for (const char* kind : {"nan_draw", "infinite_draw"})
        if (quantity.contains(kind)) {
          const auto place = quantity[kind].value("chain", std::size_t{0});
          const json& used = run_.diagnostics.at("chains_used");
          return fmt::format(" (draw {} of chain {}, {})", quantity[kind].value("draw", 0),
                             place < used.size() ? used[place].get<std::size_t>() : place, name);
        }
    }
    return "";
  }

  /// Layers whose draws are wider than the posterior.
  void temperature() {
    if (!run_.diagnostics.is_object() || !run_.diagnostics.contains("temperature") || is_astray()) return;
    std::string hot;
    double hottest = 0;
    for (const json& layer : run_.diagnostics.at("temperature")) {
      const double value = json_number(layer, "value"), error = json_number(layer, "standard_error");
      if (!(value - 3 * (std::isfinite(error) ? error : 0) > kTooHot)) continue;
      hot += fmt::format("{}{} {:.2f}", hot.empty() ? "" : ", ", layer.value("layer", ""), value);
      hottest = std::max(hottest, value);
    }
    if (hot.empty()) return;
    add(Weight::warning, Cause::too_hot,
        fmt::format("draws are wider than the posterior in some layers: temperature {} (1 is right)", hot),
        against_heat());
  }

  std::string against_heat() const {
    const MicrocanonicalOptions& options = run_.sampler.microcanonical;
    if (!run_.sampler.is_stochastic_microcanonical()) return run_.smaller_step();
    if (options.decoherence_length && std::isinf(*options.decoherence_length))
      return "set decoherence_length: auto, or take the sampler psmile-auto with its own defaults";
    return "give a larger batch_size, or a smaller turn_angle";
  }

  /// Directions that no data speaks of should look like the prior.
  void prior_only() {
    if (!run_.diagnostics.is_object() || !run_.diagnostics.contains("prior_only") || is_astray()) return;
    const json& found = run_.diagnostics.at("prior_only");
    const double spread = json_number(found, "spread");
    if (!(spread > kPriorOnlyFactor || spread < 1 / kPriorOnlyFactor)) return;
    add(Weight::warning, Cause::prior_only,
        fmt::format(
            "parameters that have no data ({}) should vary as their prior says, and the mean square of "
            "their draws is {:.2g} of the prior's",
            found.value("parameters", 0), spread),
        run_.sampler.is_stochastic_microcanonical() && run_.sampler.microcanonical.decoherence_length &&
                std::isinf(*run_.sampler.microcanonical.decoherence_length)
            ? "set decoherence_length: auto, which stirs directions without batch noise"
            : "run longer chains");
  }

  void coverage() {
    if (!run_.sampling.is_object() || !run_.sampling.contains("intervals") || is_damaged()) return;
    for (const json& interval : run_.sampling.at("intervals")) {
      if (std::abs(json_number(interval, "nominal") - 0.9) > 1e-9) continue;
      const double observed = json_number(interval, "observed"), n = run_.sampling.value("points", 1.0);
      if (observed < 0.9 - 3 * std::sqrt(0.09 / n))
        add(Weight::warning, Cause::too_narrow,
            fmt::format("90 % intervals hold {:.1f} % of the {:.0f} test targets: they are too narrow",
                        100 * observed, n),
            "more chains or longer ones; see the calibration plot of the report");
    }
  }

  RunDiagnosis& d_;
  const RunEvidence& run_;
};

}  // namespace

void judge_run(RunDiagnosis& diagnosis, const RunEvidence& run) {
  Judge(diagnosis, run).judge();
}

}  // namespace smile::diagnosis

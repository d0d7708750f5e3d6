// SPDX-License-Identifier: Apache-2.0
/// A diagnosis as JSON and as text.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "smile/diagnosis/diagnosis.hpp"
#include "smile/number_text.hpp"

namespace smile {
namespace {

using nlohmann::ordered_json;

ordered_json json_of(const std::vector<Finding>& findings) {
  ordered_json out = ordered_json::array();
  for (const Finding& f : findings)
    out.push_back(
        {{"weight", name_of(f.weight)}, {"code", name_of(f.cause)}, {"text", f.text}, {"advice", f.advice}});
  return out;
}

/// Columns, since rows would repeat their names.
ordered_json json_of(const std::vector<EnergyWindow>& windows) {
  ordered_json out;
  for (const char* name :
       {"last_step", "step_size", "reset_frequency", "gamma_shape", "gamma_scale", "kolmogorov_distance"})
    out[name] = ordered_json::array();
  for (const EnergyWindow& w : windows) {
    out["last_step"].push_back(w.last_step);
    out["step_size"].push_back(w.step_size);
    out["reset_frequency"].push_back(w.reset_frequency);
    out["gamma_shape"].push_back(w.gamma_shape);
    out["gamma_scale"].push_back(w.gamma_scale);
    out["kolmogorov_distance"].push_back(w.kolmogorov_distance);
  }
  return out;
}

ordered_json json_of(const ChainDiagnosis& d) {
  ordered_json refusals = ordered_json::object();
  for (const auto& [cause, count] : d.refusals) refusals[cause] = count;
  return {{"chain", d.chain},
          {"verdict", name_of(d.verdict)},
          {"steps", d.steps},
          {"warmup_steps", d.warmup_steps},
          {"total_steps", d.total_steps},
          {"draws", d.draws},
          {"test_lppd", d.test_lppd},
          {"start_test_lppd", d.start_test_lppd},
          {"training_log_likelihood_per_row", d.training_log_likelihood},
          {"squared_norm_per_dim", d.squared_norm_per_dim},
          {"reset_frequency", d.reset_frequency},
          {"expected_reset_frequency", d.expected_reset_frequency},
          {"divergences", d.divergences},
          {"refusals", refusals},
          {"gamma_shape", d.gamma_shape},
          {"gamma_scale", d.gamma_scale},
          {"kolmogorov_distance", d.kolmogorov_distance},
          {"step_size_first", d.step_size_first},
          {"step_size_after_warmup", d.step_size_after_warmup},
          {"step_size_last", d.step_size_last},
          {"step_size_smallest", d.step_size_smallest},
          {"step_size_largest", d.step_size_largest},
          {"step_size_drifted", d.step_size_drifted},
          {"gradient_rms", d.gradient_rms},
          {"seconds_per_step", d.seconds_per_step},
          {"gradients_per_second", d.gradients_per_second},
          {"chainwise_rhat_parameters", d.chainwise_rhat_parameters},
          {"chainwise_rhat_predictions", d.chainwise_rhat_predictions},
          {"still_quantities", d.still_quantities},
          {"energy_over_time", json_of(d.energy_over_time)},
          {"findings", json_of(d.findings)}};
}

std::string text_of(const Finding& f, const char* indent) {
  return fmt::format("{}{}: {}{}\n", indent, name_of(f.weight), f.text,
                     f.advice.empty() ? "" : "; try: " + f.advice);
}

/// The numbers that a reader of a verdict asks for first.
std::string facts_of(const ChainDiagnosis& d) {
  std::string text;
  const auto add = [&](const std::string& fact) { text += (text.empty() ? "" : ", ") + fact; };
  if (d.steps == 0) return "has not begun";
  add(d.steps < d.total_steps ? fmt::format("{} of {} steps", d.steps, d.total_steps)
                              : fmt::format("{} steps", d.steps));
  add(fmt::format("{} draws", d.draws));
  if (std::isfinite(d.test_lppd)) add("test LPPD " + number_text(d.test_lppd));
  if (std::isfinite(d.reset_frequency))
    add(std::isfinite(d.expected_reset_frequency)
            ? fmt::format("resets {:.3g} % (expected {:.3g} %)", 100 * d.reset_frequency,
                          100 * d.expected_reset_frequency)
            : fmt::format("refused {:.3g} %", 100 * d.reset_frequency));
  add(fmt::format("step size {:.3g}", d.step_size_last));
  if (std::isfinite(d.chainwise_rhat_predictions))
    add(fmt::format("chain-wise R-hat {:.2f} of predictions, {:.2f} of parameters",
                    d.chainwise_rhat_predictions, d.chainwise_rhat_parameters));
  return text;
}

/// "3 of 4 chains are sound; doubtful: chain 2".
std::string summary_of(const RunDiagnosis& run) {
  const std::size_t good = run.count(Verdict::sound) + run.count(Verdict::sound_with_remarks),
                    all = run.chains.size();
  if (good == all) return all == 1 ? "the chain is sound" : fmt::format("all {} chains are sound", all);
  std::string text = fmt::format("{} of {} chains {} sound", good, all, good == 1 ? "is" : "are");
  for (const Verdict verdict : {Verdict::unjudged, Verdict::doubtful, Verdict::incomplete, Verdict::failed}) {
    std::vector<std::uint32_t> which;
    for (const ChainDiagnosis& d : run.chains)
      if (d.verdict == verdict) which.push_back(d.chain);
    if (!which.empty()) text += fmt::format("; {}: {}", name_of(verdict), chains_text(which));
  }
  return text;
}

}  // namespace

std::string to_json(const RunDiagnosis& run) {
  ordered_json out = {{"directory", run.directory},
                      {"status", run.status},
                      {"summary", summary_of(run)},
                      {"findings", json_of(run.findings)},
                      {"chains", ordered_json::array()}};
  for (const ChainDiagnosis& chain : run.chains) out["chains"].push_back(json_of(chain));
  return out.dump(1) + "\n";
}

std::string to_text(const RunDiagnosis& run) {
  std::string text = fmt::format("{} ({}): {}\n", run.directory, run.status, summary_of(run));
  for (const ChainDiagnosis& d : run.chains) {
    text += fmt::format("chain {}: {}. {}\n", d.chain, name_of(d.verdict), facts_of(d));
    for (const Finding& f : d.findings) text += text_of(f, "  ");
  }
  if (!run.findings.empty()) text += "all chains together\n";
  for (const Finding& f : run.findings) text += text_of(f, "  ");
  return text;
}

}  // namespace smile

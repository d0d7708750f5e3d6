// SPDX-License-Identifier: Apache-2.0
#include "smile/report/html_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "report/figures.hpp"
#include "report/page.hpp"
#include "report/plot.hpp"
#include "report/run_files.hpp"
#include "run/json_file.hpp"
#include "run/output_guard.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/run/run_paths.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using report::Cell;
using report::escaped;
using report::grouped;
using report::number;
using report::ordered_json;
using report::RunFiles;

std::string metrics_section(const RunFiles& run) {
  std::vector<std::vector<Cell>> rows;
  for (const MetricRow& row : run.metrics.metrics)
    rows.push_back(
        {row.name, report::metric_text(row.name, row.ensemble), report::metric_text(row.name, row.sampling)});
  return "<h3>Test metrics</h3>\n" + report::table({"metric", "warm-started ensemble", "sampler"}, rows) +
         "<p class=\"quiet\">LPPD is the mean log predictive density of a test row: more is better. The "
         "ensemble is the "
         "networks that the chains start from; the sampler is all stored draws of all chains. Errors are in "
         "normalised "
         "units where nothing else is said.</p>\n";
}

std::string badge(const std::string& verdict) {
  const char* kind = verdict.starts_with("sound") ? "good" : verdict == "failed" ? "failure" : "warning";
  return fmt::format("<span class=\"badge {}\">{}</span>", kind, escaped(verdict));
}

std::string verdicts(const RunFiles& run) {
  if (!run.diagnostics.contains("chains")) return {};
  std::vector<std::vector<Cell>> rows;
  for (const auto& chain : run.diagnostics.at("chains")) {
    std::string text;
    for (const auto& f : chain.at("findings")) {
      text += fmt::format("<div>{}", escaped(report::capitalised(f.value("text", ""))));
      if (const std::string advice = f.value("advice", ""); !advice.empty() && !advice.starts_with("nothing"))
        text += fmt::format(". <span class=\"quiet\">Try: {}.</span>", escaped(advice));
      text += "</div>";
    }
    rows.push_back({std::to_string(chain.value("chain", 0)), Cell::html(badge(chain.value("verdict", ""))),
                    Cell::html(text.empty() ? "–" : text)});
  }
  return report::table({"chain", "verdict", "why"}, rows, 3);
}

std::string chain_numbers(const RunFiles& run) {
  std::vector<std::vector<Cell>> rows;
  for (const ChainReport& chain : run.chains) {
    std::string causes;
    for (const auto& [cause, count] : chain.sampling.refused_by_cause)
      causes += fmt::format("{}{} {}", causes.empty() ? "" : ", ", cause, count);
    rows.push_back({std::to_string(chain.chain), number(chain.score.lppd), number(chain.score.rmse),
                    number(chain.training_log_likelihood), number(chain.position_norm2_per_dim),
                    number(chain.step_size_first), number(chain.step_size_after_warmup),
                    number(chain.step_size_last), number(100 * chain.warmup.refusal_frequency),
                    number(100 * chain.sampling.refusal_frequency), causes.empty() ? "–" : causes,
                    number(chain.energy.gamma_shape), number(chain.energy.gamma_scale),
                    number(chain.energy.kolmogorov_distance), number(chain.sampling.gradient_rms),
                    number(chain.sampling.mean_turn_angle)});
  }
  return report::table(
      {"chain", "LPPD", "RMSE", "train log-lik.", "|θ|²/d", "ε first", "ε warm-up end", "ε last",
       "resets warm-up %", "resets %", "causes", "Gamma k", "Gamma ϑ", "K–S", "gradient rms", "turn angle"},
      rows);
}

std::string convergence_tables(const RunFiles& run) {
  const auto& d = run.diagnostics;
  if (!d.contains("parameters")) return {};
  std::vector<std::vector<Cell>> rows;
  for (const char* group : {"predictions", "parameters"})
    for (const auto& [key, name] : {std::pair{"rhat", "R-hat"},
                                    {"chainwise_rhat", "chain-wise R-hat"},
                                    {"ess_bulk", "bulk ESS"},
                                    {"ess_tail", "tail ESS"}}) {
      const auto& spread = d.at(group).at(key);
      rows.push_back({fmt::format("{} of {}", name, group), number(json_number(spread, "min")),
                      number(json_number(spread, "q05")), number(json_number(spread, "median")),
                      number(json_number(spread, "q95")), number(json_number(spread, "max"))});
    }
  std::string out = report::table({"over quantities", "min", "5 %", "median", "95 %", "max"}, rows);
  rows.clear();
  for (const auto& q : d.at("quantities")) {
    const std::string name = q.value("name", "");
    if (name.starts_with("theta[")) continue;
    rows.push_back({name, number(json_number(q, "mean")), number(json_number(q, "sd")),
                    number(json_number(q, "rhat")), number(json_number(q, "ess_bulk")),
                    number(json_number(q, "ess_tail")), number(json_number(q, "between_variance")),
                    number(json_number(q, "within_variance")), q.value("reason", "")});
  }
  out += "<details><summary>Log-density, log σ and followed predictions one by one</summary>\n" +
         report::table({"quantity", "mean", "sd", "R-hat", "bulk ESS", "tail ESS", "between variance",
                        "within variance", "remark"},
                       rows) +
         "</details>\n";
  return out + fmt::format(
                   "<p class=\"quiet\">{} parameters drawn at random (with log σ where there is one) and {} "
                   "test predictions, {} draws a chain.</p>\n",
                   d.at("parameters").value("quantities", 0), d.at("predictions").value("quantities", 0),
                   d.value("draws_per_chain", 0));
}

std::string timing_section(const RunFiles& run) {
  std::vector<std::vector<Cell>> rows;
  double warm = report::kNone, sampling = report::kNone;
  for (const PhaseTime& phase : run.phases) {
    const auto done = double(phase.done);
    if (phase.name == "warm start") warm = phase.seconds;
    if (phase.name == "sampling") sampling = phase.seconds;
    rows.push_back({phase.name, number(phase.seconds), fmt::format("{} {}", grouped(done), phase.unit),
                    phase.seconds > 0 ? grouped(done / phase.seconds) : "–"});
  }
  double steps = 0, gradients = 0, seconds = 0;
  for (const ChainReport& chain : run.chains) {
    steps += double(chain.steps), seconds += chain.seconds;
    gradients += chain.gradients_per_second * chain.seconds;
  }
  // Of a run that was done in parts nobody saw the whole.
  if (std::isnan(sampling) && seconds > 0)
    rows.push_back({"sampling, all chains", number(seconds), fmt::format("{} steps", grouped(steps)),
                    grouped(steps / seconds)});
  std::string out;
  if (!rows.empty()) out = report::table({"phase", "seconds", "work", "per second"}, rows);
  std::string text;
  if (seconds > 0)
    text = fmt::format("A chain by itself: {} steps and {} gradients a second, {} µs a step.",
                       grouped(steps / seconds), grouped(gradients / seconds), number(1e6 * seconds / steps));
  if (warm > 0 && sampling > 0)
    text += fmt::format(" Sampling took {} times as long as the warm start.", number(sampling / warm));
  return "<h2>Time</h2>\n" + out + (text.empty() ? "" : "<p>" + escaped(text) + "</p>\n");
}

std::string section(const char* heading, const std::string& figures) {
  return figures.empty() ? std::string()
                         : fmt::format("<h2>{}</h2>\n<div class=\"figures\">\n{}</div>\n", heading, figures);
}

/// For who wants to know how, not only how well.
std::string sampler_sections(const RunFiles& run) {
  std::string out;
  if (const std::string figures = report::chain_figures(run) + report::walk_figures(run); !figures.empty())
    out += "<div class=\"figures\">\n" + figures + "</div>\n";
  out += "<details><summary>Numbers of each chain</summary>\n" + chain_numbers(run) + "</details>\n";
  if (const std::string tables = convergence_tables(run); !tables.empty())
    out += section("Convergence", report::convergence_figures(run)) + tables;
  return out + timing_section(run);
}

std::string write_report_of(const std::string& run_directory, const std::string& out) {
  const RunFiles run = report::read_run_files(run_directory);
  std::string body = report::first_screen(run);
  body += section("Predictions", report::prediction_figures(run));
  body += "<div class=\"pair\">\n<div>\n" + report::confusion_section(run) + report::worst_rows(run) +
          "</div>\n<div>\n" + metrics_section(run) + "</div>\n</div>\n";
  body += "<h2>Chains</h2>\n" + verdicts(run);
  body +=
      "<details class=\"expert\"><summary>What the sampler did: steps, energies, convergence, "
      "time</summary>\n" +
      sampler_sections(run) + "</details>\n";
  body += "<h2>Configuration</h2>\n<details><summary>config.yaml</summary><pre>" + escaped(run.config_text) +
          "</pre></details>\n";
  const std::string path = out.empty() ? RunPaths(run.path).report().string() : out;
  OutputGuard().reads(run.config).check(path, RunPaths({}).report());
  write_file_atomically(path, report::page("smile: " + run.config.experiment_name, body));
  return path;
}

}  // namespace

std::string write_report(const std::string& run_directory, const std::string& out) {
  return run::reading_evaluation(run_directory, [&] { return write_report_of(run_directory, out); });
}

}  // namespace smile

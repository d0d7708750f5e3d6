#include "smile/report/html_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "report/figures.hpp"
#include "report/page.hpp"
#include "report/plot.hpp"
#include "report/run_files.hpp"
#include "run/output_guard.hpp"
#include "smile/data/atomic_file.hpp"
#include "smile/run/run_paths.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using report::Cell;
using report::element;
using report::escaped;
using report::grouped;
using report::number;
using report::ordered_json;
using report::RunFiles;
using report::value;

std::string percent(double share) {
  return std::isnan(share) ? std::string("–") : fmt::format("{:.1f} %", 100 * share);
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = char(text[0] - 'a' + 'A');
  return text;
}

std::string head(const RunFiles& run) {
  const double failed = value(run.metrics, "failed_chains");
  return fmt::format(
      "<h1>{}</h1>\n<p class=\"quiet\">{} on {} · {} draws of {} chains{} · {} {} · smile {}</p>\n",
      escaped(run.config.experiment_name), escaped(run.config.training.sampler.name),
      escaped(fs::path(run.config.data.path).filename().string()), grouped(value(run.metrics, "draws")),
      value(run.metrics, "chains"), failed > 0 ? fmt::format(" ({} failed)", failed) : "",
      escaped(run.state.value("status", "")), escaped(run.state.value("time", "").substr(0, 10)),
      escaped(run.state.value("version", "")));
}

std::string tile(const std::string& what, const std::string& value, const std::string& than) {
  return fmt::format(
      "<div class=\"tile\"><div class=\"what\">{}</div><div class=\"value\">{}</div><div "
      "class=\"than\">{}</div></div>\n",
      escaped(what), escaped(value), escaped(than));
}

/// The chains that the diagnosis calls sound, and all.
std::pair<std::size_t, std::size_t> sound_chains(const RunFiles& run) {
  std::size_t sound = 0, all = 0;
  if (run.diagnostics.contains("chains"))
    for (const auto& chain : run.diagnostics["chains"])
      ++all, sound += chain.value("verdict", "").starts_with("sound");
  return {sound, all};
}

std::string tiles(const RunFiles& run) {
  const double before = run.metric("LPPD", "ensemble_initialization"), after = run.metric("LPPD");
  std::string lppd_than = "warm-started ensemble " + number(before);
  if (std::isfinite(before) && std::isfinite(after))
    lppd_than += fmt::format(" ({}{:.3g})", after < before ? "−" : "+", std::abs(after - before));
  const char* error = run.is_regression() ? "RMSE" : "accuracy";
  std::string out = tile("LPPD of the sampler (test rows)", number(after), lppd_than) +
                    tile(capitalised(fmt::format("{} of the sampler", error)), number(run.metric(error)),
                         "warm-started ensemble " + number(run.metric(error, "ensemble_initialization")));
  if (run.is_regression())
    out += tile("90 % intervals hold", percent(report::coverage_of_intervals(run, 0.9)),
                fmt::format("of {} test targets", grouped(double(run.array("target").size()))));
  else
    out += tile("Calibration error (ECE)", number(run.metric("ECE")),
                "warm-started ensemble " + number(run.metric("ECE", "ensemble_initialization")));
  const auto [sound, all] = sound_chains(run);
  out += tile("Sound chains", fmt::format("{} of {}", sound, all),
              all == sound ? "see below for each" : "the others are named below");
  return "<div class=\"tiles\">\n" + out + "</div>\n";
}

std::string note(const std::string& weight, const std::string& text, const std::string& advice) {
  return fmt::format(
      "<p class=\"note {}\">{}{}</p>\n", weight, escaped(capitalised(text)),
      advice.empty() ? "" : fmt::format(". <span class=\"try\">Try: {}.</span>", escaped(advice)));
}

/// Everything that may mislead; three at first, the rest a click away.
std::string warnings(const RunFiles& run) {
  std::vector<std::string> notes;
  if (run.diagnostics.contains("findings"))
    for (const auto& f : run.diagnostics["findings"])
      if (f.value("weight", "") != "note")
        notes.push_back(note(f.value("weight", ""), f.value("text", ""), f.value("advice", "")));
  if (run.metrics.contains("warnings"))
    for (const auto& w : run.metrics["warnings"]) notes.push_back(note("warning", w.get<std::string>(), ""));
  const auto [sound, all] = sound_chains(run);
  if (notes.empty() && sound == all) return note("good", "No warnings.", "");
  std::string out, rest;
  constexpr std::size_t kShown = 3;
  for (std::size_t i = 0; i < notes.size(); ++i) (i < kShown ? out : rest) += notes[i];
  if (!rest.empty())
    out += fmt::format("<details><summary>{} more</summary>{}</details>\n", notes.size() - kShown, rest);
  if (notes.empty()) out = note("warning", "Some chains are not sound; see the table of chains.", "");
  return out;
}

std::string first_screen(const RunFiles& run) {
  return head(run) + "<div class=\"first\">\n<div>\n" + tiles(run) + warnings(run) +
         "<p class=\"quiet\">LPPD: mean log predictive density of a test row, in nats; more is better. The "
         "sampler moves "
         "each network of the warm-started ensemble through its posterior: what it adds is the "
         "difference.</p>\n</div>\n" +
         report::calibration_figure(run) + "</div>\n";
}

std::string metrics_section(const RunFiles& run) {
  std::vector<std::vector<Cell>> rows;
  for (const auto& row : run.metrics["metrics"])
    rows.push_back({row.value("name", ""), number(value(row, "ensemble_initialization")),
                    number(value(row, "sampling"))});
  return "<h2>Test metrics</h2>\n" + report::table({"metric", "warm-started ensemble", "sampler"}, rows) +
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
  for (const auto& chain : run.diagnostics["chains"]) {
    std::string text;
    for (const auto& f : chain["findings"]) {
      text += fmt::format("<div>{}", escaped(capitalised(f.value("text", ""))));
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
  for (const auto& chain : run.chains) {
    const auto &warm = chain["warmup"], &samp = chain["sampling"];
    std::string causes;
    for (const auto& [cause, count] : samp["refused_by_cause"].items())
      causes += fmt::format("{}{} {}", causes.empty() ? "" : ", ", cause, count.get<std::uint64_t>());
    rows.push_back({std::to_string(chain.value("chain", 0)), number(value(chain, "test_lppd")),
                    number(value(chain, "test_rmse")), number(value(chain, "training_log_likelihood")),
                    number(value(chain, "position_norm2_per_dim")), number(value(chain, "step_size_first")),
                    number(value(chain, "step_size_after_warmup")), number(value(chain, "step_size_last")),
                    number(100 * value(warm, "refusal_frequency")),
                    number(100 * value(samp, "refusal_frequency")), causes.empty() ? "–" : causes,
                    number(value(chain["energy_error"], "gamma_shape")),
                    number(value(chain["energy_error"], "gamma_scale")),
                    number(value(chain["energy_error"], "kolmogorov_distance")),
                    number(value(samp, "gradient_rms")), number(value(samp, "mean_turn_angle"))});
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
      const auto& spread = d[group][key];
      rows.push_back({fmt::format("{} of {}", name, group), number(value(spread, "min")),
                      number(value(spread, "q05")), number(value(spread, "median")),
                      number(value(spread, "q95")), number(value(spread, "max"))});
    }
  std::string out = report::table({"over quantities", "min", "5 %", "median", "95 %", "max"}, rows);
  rows.clear();
  for (const auto& q : d["quantities"]) {
    const std::string name = q.value("name", "");
    if (name.starts_with("theta[")) continue;
    rows.push_back({name, number(value(q, "mean")), number(value(q, "sd")), number(value(q, "rhat")),
                    number(value(q, "ess_bulk")), number(value(q, "ess_tail")),
                    number(value(q, "between_variance")), number(value(q, "within_variance")),
                    q.value("reason", "")});
  }
  out += "<details><summary>Log-density, log σ and followed predictions one by one</summary>\n" +
         report::table({"quantity", "mean", "sd", "R-hat", "bulk ESS", "tail ESS", "between variance",
                        "within variance", "remark"},
                       rows) +
         "</details>\n";
  return out + fmt::format(
                   "<p class=\"quiet\">{} parameters drawn at random (with log σ where there is one) and {} "
                   "test predictions, {} draws a chain.</p>\n",
                   d["parameters"].value("quantities", 0), d["predictions"].value("quantities", 0),
                   d.value("draws_per_chain", 0));
}

std::string timing_section(const RunFiles& run) {
  std::vector<std::vector<Cell>> rows;
  double warm = report::kNone, sampling = report::kNone;
  if (run.progress.contains("phases"))
    for (const auto& phase : run.progress["phases"]) {
      const std::string name = phase.value("name", "");
      const double seconds = value(phase, "seconds"), done = value(phase, "done");
      if (name == "warm start") warm = seconds;
      if (name == "sampling") sampling = seconds;
      rows.push_back({name, number(seconds), fmt::format("{} {}", grouped(done), phase.value("unit", "")),
                      seconds > 0 ? grouped(done / seconds) : "–"});
    }
  double steps = 0, gradients = 0, seconds = 0;
  for (const auto& chain : run.chains) {
    steps += value(chain, "steps"), seconds += value(chain, "seconds");
    gradients += value(chain, "gradients_per_second") * value(chain, "seconds");
  }
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

}  // namespace

std::string write_report(const std::string& run_directory, const std::string& out) {
  const RunFiles run = report::read_run_files(run_directory);
  std::string body = first_screen(run);
  body += section("Predictions", report::prediction_figures(run)) + report::worst_rows(run);
  body += metrics_section(run);
  body += "<h2>Chains</h2>\n" + verdicts(run);
  if (const std::string figures = report::chain_figures(run); !figures.empty())
    body += "<div class=\"figures\">\n" + figures + "</div>\n";
  body += "<details><summary>Numbers of each chain</summary>\n" + chain_numbers(run) + "</details>\n";
  const std::string convergence = report::convergence_figures(run);
  if (const std::string tables = convergence_tables(run); !tables.empty())
    body += section("Convergence", convergence) + tables;
  body += timing_section(run);
  body += "<h2>Configuration</h2>\n<details><summary>config.yaml</summary><pre>" + escaped(run.config_text) +
          "</pre></details>\n";
  const std::string path = out.empty() ? RunPaths(run.path).report().string() : out;
  OutputGuard().reads(run.config).check(path, RunPaths({}).report());
  write_file_atomically(path, report::page("smile: " + run.config.experiment_name, body));
  return path;
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// What a reader sees without scrolling: the tiles, what may mislead, calibration.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "report/figures.hpp"
#include "report/page.hpp"

namespace smile::report {
namespace {

std::string head(const RunFiles& run) {
  const std::size_t failed = run.metrics.failed_chains;
  return fmt::format(
      "<h1>{}</h1>\n<p class=\"quiet\">{} on {} · {} draws of {} chains{} · {} {} · smile {}</p>\n",
      escaped(run.config.experiment_name), escaped(run.config.training.sampler.name),
      escaped(std::filesystem::path(run.config.data.path).filename().string()),
      grouped(double(run.metrics.draws)), run.metrics.chains,
      failed > 0 ? fmt::format(" ({} failed)", failed) : "", escaped(run.state.status),
      escaped(run.state.time.substr(0, 10)), escaped(run.state.version));
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
    for (const auto& chain : run.diagnostics.at("chains"))
      ++all, sound += chain.value("verdict", "").starts_with("sound");
  return {sound, all};
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
    for (const auto& f : run.diagnostics.at("findings"))
      if (f.value("weight", "") != "note")
        notes.push_back(note(f.value("weight", ""), f.value("text", ""), f.value("advice", "")));
  for (const std::string& w : run.metrics.warnings) notes.push_back(note("warning", w, ""));
  const auto [sound, all] = sound_chains(run);
  if (notes.empty() && sound == all)
    return note("good",
                chains_differ(run) ? "No warnings; that the chains differ is said above." : "No warnings.",
                "");
  std::string out, rest;
  constexpr std::size_t kShown = 3;
  for (std::size_t i = 0; i < notes.size(); ++i) (i < kShown ? out : rest) += notes[i];
  if (!rest.empty())
    out += fmt::format("<details><summary>{} more</summary>{}</details>\n", notes.size() - kShown, rest);
  if (notes.empty()) out = note("warning", "Some chains are not sound; see the table of chains.", "");
  return out;
}

}  // namespace

std::string tiles(const RunFiles& run) {
  const double before = run.metric(metric::kLppd, Phase::ensemble), after = run.metric(metric::kLppd);
  std::string lppd_than = "warm-started ensemble " + number(before);
  if (std::isfinite(before) && std::isfinite(after))
    lppd_than += fmt::format(" ({}{:.3g})", after < before ? "−" : "+", std::abs(after - before));
  const bool in_own_unit = run.is_regression() && std::isfinite(run.metric(metric::kRmseOwnUnit));
  const char* error = !run.is_regression() ? metric::kAccuracy
                      : in_own_unit        ? metric::kRmseOwnUnit
                                           : metric::kRmse;
  const std::string unit = run.data.target_name.empty() ? "the target" : run.data.target_name;
  const std::string of_error =
      in_own_unit ? "RMSE in the unit of " + unit : capitalised(fmt::format("{} of the sampler", error));
  std::string out = tile("LPPD of the sampler (test rows)", number(after), lppd_than) +
                    tile(of_error, metric_text(error, run.metric(error)),
                         "warm-started ensemble " + metric_text(error, run.metric(error, Phase::ensemble)));
  if (run.is_regression())
    out += tile("90 % intervals hold", percent(coverage_of_intervals(run, 0.9)),
                fmt::format("of {} test targets", grouped(double(run.array("target").size()))));
  else
    out +=
        tile("Calibration error (ECE)", metric_text(metric::kEce, run.metric(metric::kEce)),
             "warm-started ensemble " + metric_text(metric::kEce, run.metric(metric::kEce, Phase::ensemble)));
  const auto [sound, all] = sound_chains(run);
  out += tile("Sound chains", fmt::format("{} of {}", sound, all),
              all != sound         ? "the others are named below"
              : chains_differ(run) ? "each by itself; they differ, as said above"
                                   : "see below for each");
  return "<div class=\"tiles\">\n" + out + "</div>\n";
}

std::string first_screen(const RunFiles& run) {
  return head(run) + "<div class=\"first\">\n<div>\n" + verdict(run) + tiles(run) + warnings(run) +
         "<p class=\"quiet\">LPPD: mean log predictive density of a test row, in nats; more is better. The "
         "sampler moves "
         "each network of the warm-started ensemble through its posterior: what it adds is the "
         "difference.</p>\n</div>\n" +
         calibration_figure(run) + "</div>\n";
}

}  // namespace smile::report

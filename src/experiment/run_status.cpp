// SPDX-License-Identifier: Apache-2.0
#include "smile/experiment/run_status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "experiment/draws.hpp"
#include "experiment/experiment.hpp"
#include "experiment/live_status.hpp"
#include "experiment/task_accumulator.hpp"
#include "smile/ensemble/ensemble_runner.hpp"
#include "smile/error.hpp"
#include "smile/evaluation/metrics.hpp"
#include "smile/files/draws.hpp"
#include "smile/run/inputs.hpp"
#include "smile/run/metrics_file.hpp"
#include "smile/run/run_paths.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::size_t kDrawsOfAChain = 10;

/// Draws of the second half of a chain, evenly.
std::vector<std::vector<float>> some_draws(const fs::path& run, std::uint32_t chain) {
  std::vector<std::vector<float>> draws;
  if (!DrawsReader::exist(draws_path(run, chain))) return draws;
  const DrawsReader rows(draws_path(run, chain));
  const std::size_t first = rows.rows() / 2, count = rows.rows() - first;
  const std::size_t used = std::min(kDrawsOfAChain, count);
  for (std::size_t i = 0; i < used; ++i) {
    draws.emplace_back(rows.columns());
    rows.read(first + i * count / used, draws.back());
  }
  return draws;
}

/// The mixture of some draws on the validation rows, as the evaluation does it on the test rows.
std::optional<LppdSoFar> lppd_so_far(const fs::path& run) {
  const experiment::Experiment e = experiment::prepare(load_run_config(run));
  if (e.valid.rows == 0) return std::nullopt;
  std::vector<std::vector<std::vector<float>>> chains;
  std::vector<std::size_t> counts;
  std::vector<std::uint32_t> numbers;  // of the chains
  LppdSoFar out;
  for (std::size_t i = 0; i < e.chains(); ++i) {
    auto draws = some_draws(run, std::uint32_t(i));
    if (draws.empty() || draws[0].size() != e.dimension()) continue;
    counts.push_back(draws.size());
    numbers.push_back(std::uint32_t(i));
    out.draws += draws.size();
    chains.push_back(std::move(draws));
  }
  if (chains.empty()) return std::nullopt;
  out.rows = e.valid.rows;
  RegressionOptions options;
  options.nominal_coverages.clear();
  experiment::TaskAccumulator mixture(e.config.task(), e.outputs(), e.valid.targets, counts, options);
  const auto network = e.network->predictor();
  const experiment::CompleteDraw complete = experiment::complete_draws(e, *e.network, run);
  HostVector<float> position(e.dimension());
  std::vector<float> outputs(e.valid.rows * e.outputs());
  for (std::size_t c = 0; c < chains.size(); ++c)
    for (std::size_t s = 0; s < chains[c].size(); ++s) {
      if (position.size() != e.dimension()) position.resize(e.dimension());
      std::copy(chains[c][s].begin(), chains[c][s].end(), position.data());
      if (complete) complete(numbers[c], position);
      network->predict(Part::valid, position, outputs);
      mixture.add(c, s, std::as_const(position).span(), outputs);
    }
  out.lppd = mixture.metrics([](const auto& m) { return m.lppd.lppd; });
  return out;
}

void read_test_lppd(const fs::path& run, RunStatusReport& report) {
  const auto file = read_metrics(run);
  if (!file) return;
  const auto put = [&](std::optional<double>& place, Phase phase) {
    if (const double lppd = file->value(metric::kLppd, phase); std::isfinite(lppd)) place = lppd;
  };
  put(report.test_lppd, Phase::sampling);
  put(report.ensemble_test_lppd, Phase::ensemble);
}

std::uint64_t resets_of(const RunFacts& facts) {
  std::uint64_t resets = 0;
  for (std::size_t i = 0; i < facts.chains; ++i)
    if (const auto record = read_chain_record(facts.path, std::uint32_t(i)))
      resets += record->monitor.warmup.refused() + record->monitor.sampling.refused();
  return resets;
}

}  // namespace

RunStatusReport run_status(const fs::path& run, bool with_lppd) {
  RunStatusReport report;
  report.facts = inspect_run(run);
  if (auto live = read_progress(run)) {
    report.seconds_since_news = std::max(0.0, double(std::int64_t(std::time(nullptr)) - live->written));
    for (const auto& phase : live->phases) report.phase_seconds.emplace_back(phase.name, phase.seconds);
    report.progress = std::move(live->now);
  }
  const bool sampling = !report.facts.writer.empty() && report.progress && !report.progress->chains.empty();
  report.resets = sampling ? report.progress->refused : resets_of(report.facts);
  // A run that goes on has no test LPPD yet, or that of an earlier state.
  if (report.facts.writer.empty() && report.facts.evaluated) read_test_lppd(run, report);
  if (with_lppd && !report.test_lppd && report.facts.draws > 0) {
    try {
      report.validation_lppd = lppd_so_far(run);
    } catch (const Error&) {
      // The data may be elsewhere by now; everything else can still be said.
    }
  }
  return report;
}

std::string to_json(const RunStatusReport& report) {
  const RunFacts& facts = report.facts;
  ordered_json out = {{"directory", facts.path.string()},
                      {"status", facts.status()},
                      {"phase", facts.state.phase},
                      {"reason", facts.state.reason},
                      {"since", facts.time},
                      {"writer", facts.writer.empty() ? ordered_json() : ordered_json(facts.writer)},
                      {"chains", facts.chains},
                      {"chains_complete", facts.chains_complete},
                      {"chains_failed", facts.chains_failed},
                      {"draws", facts.draws},
                      {"resets", report.resets},
                      {"evaluated", facts.evaluated}};
  for (const auto& [phase, seconds] : report.phase_seconds) out["phase_seconds"][phase] = seconds;
  if (const auto& now = report.progress) {
    ordered_json progress = {{"phase", now->phase},
                             {"unit", now->unit},
                             {"done", now->done},
                             {"total", now->total},
                             {"per_second", now->per_second},
                             {"log_density", now->log_density},
                             {"step_size", now->step_size},
                             {"seconds_since_news", report.seconds_since_news}};
    progress["seconds_left"] =
        facts.writer.empty() ? ordered_json() : ordered_json(experiment::seconds_left(*now));
    out["progress"] = std::move(progress);
  }
  if (report.test_lppd) out["test_lppd"] = *report.test_lppd;
  if (report.ensemble_test_lppd) out["ensemble_test_lppd"] = *report.ensemble_test_lppd;
  if (const auto& lppd = report.validation_lppd)
    out["validation_lppd"] = {{"lppd", lppd->lppd}, {"draws", lppd->draws}, {"rows", lppd->rows}};
  return out.dump(1) + "\n";
}

std::string to_text(const RunStatusReport& report) {
  const RunFacts& facts = report.facts;
  std::string text = facts.path.string() + ": ";
  if (!facts.writer.empty())
    text += fmt::format("running ({}), {}\n", facts.writer, facts.state.phase);
  else if (facts.is_abandoned())
    text += fmt::format("killed during {}\n", facts.state.phase);
  else if (facts.state.status == "complete")
    text += fmt::format("complete since {}\n", facts.time);
  else
    text += fmt::format("{}: {}\n", facts.state.status, facts.state.reason);
  if (report.progress && !facts.writer.empty()) {
    for (const auto& line : experiment::describe(*report.progress)) text += line + "\n";
    if (report.seconds_since_news > 30)
      text += fmt::format("no news for {}\n", experiment::clock_text(report.seconds_since_news));
  }
  text += facts.inventory() + fmt::format(", {} resets\n", report.resets);
  if (!report.phase_seconds.empty()) {
    std::string times;
    for (const auto& [phase, seconds] : report.phase_seconds)
      times += fmt::format("{}{} {}", times.empty() ? "" : ", ", phase, experiment::clock_text(seconds));
    text += "time: " + times + "\n";
  }
  if (report.test_lppd) {
    text += fmt::format("test LPPD {:.4f}", *report.test_lppd);
    if (report.ensemble_test_lppd)
      text += fmt::format(" (warm-started ensemble {:.4f})", *report.ensemble_test_lppd);
    text += "\n";
  }
  if (const auto& lppd = report.validation_lppd)
    text += fmt::format("LPPD {:.4f} on {} validation rows, of {} of the draws so far\n", lppd->lppd,
                        lppd->rows, lppd->draws);
  if (facts.writer.empty() && facts.state.status != "complete")
    text += fmt::format("go on with `{}`\n", facts.resume_command());
  return text;
}

}  // namespace smile

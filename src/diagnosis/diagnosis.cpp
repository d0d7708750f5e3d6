// SPDX-License-Identifier: Apache-2.0
#include "smile/diagnosis/diagnosis.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "diagnosis/energy_windows.hpp"
#include "diagnosis/evidence.hpp"
#include "files/file_error.hpp"
#include "run/json_file.hpp"
#include "smile/adaptation/energy_tuner.hpp"
#include "smile/config/config.hpp"
#include "smile/data/dataset.hpp"
#include "smile/ensemble/checkpoint.hpp"
#include "smile/ensemble/draw_check.hpp"
#include "smile/error.hpp"
#include "smile/run/run_access.hpp"
#include "smile/run/run_inspection.hpp"
#include "smile/run/run_paths.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using diagnosis::ChainEvidence;
using diagnosis::RunEvidence;
using nlohmann::json;
constexpr double kNone = ChainDiagnosis::kNone;

RunEvidence evidence_of(const RunFacts& facts) {
  const RunPaths paths(facts.path);
  RunEvidence run;
  run.run = facts.path;
  const Config config = load_config(paths.config().string());
  run.sampler = config.training.sampler;
  run.resume = facts.resume_command();
  try {
    const DatasetInfo info = load_dataset_info(paths.data());
    run.rows = experiment::training_rows_of(info, config.data.dataset.normalize);
    run.nothing_learned = experiment::nothing_learned(info, config.data.dataset.normalize);
  } catch (const data::MachineError&) {
    throw;
  } catch (const Error&) {
    // Then nothing is said per row.
  }
  run.diagnostics = run::read_json(paths.diagnostics());
  run.chains = read_chains(facts.path);
  run.metrics = read_metrics(facts.path);
  run.sampling = run::read_json(paths.sampling_metrics());
  return run;
}

/// A chain's record; `damage` says what is wrong with it or its draws.
ChainEvidence chain_of(const RunEvidence& run, std::uint32_t number) {
  ChainEvidence chain;
  try {
    std::string remark;
    if (auto checkpoint = ensemble::read_checkpoint(checkpoint_path(run.run, number), remark))
      chain.record = std::move(checkpoint->record);
  } catch (const data::MachineError&) {
    throw;
  } catch (const Error& error) {
    chain.damage = error.cause();
  }
  chain.record.chain = number;
  if (chain.damage.empty()) chain.damage = draws_problem(run.run, chain.record);
  return chain;
}

std::vector<ChainEvidence> chains_of(const RunEvidence& run) {
  std::vector<ChainEvidence> chains;
  for (std::uint32_t i = 0; i < std::uint32_t(run.sampler.n_chains); ++i) chains.push_back(chain_of(run, i));
  for (const ChainReport& report : run.chains)
    if (report.chain < chains.size()) chains[report.chain].score = report.score;
  // Astray is a chain by comparison with the others.
  std::vector<ChainRecord> records;
  experiment::ChainScores scores;
  for (const ChainEvidence& chain : chains) records.push_back(chain.record), scores.push_back(chain.score);
  const auto astray = experiment::find_astray(records, scores, run.rows);
  for (std::size_t i = 0; i < chains.size(); ++i) {
    chains[i].astray = astray.chains[i];
    chains[i].usual_likelihood = astray.usual_likelihood;
  }
  return chains;
}

void put_numbers(ChainDiagnosis& d, const ChainEvidence& chain, const RunEvidence& run) {
  const ChainRecord& r = chain.record;
  const ChainMonitor& m = r.monitor;
  d.chain = r.chain;
  d.steps = r.step, d.warmup_steps = r.warmup_steps, d.total_steps = r.total_steps, d.draws = r.stored;
  d.test_lppd = chain.score.lppd;
  d.start_test_lppd = chain.score.start_lppd;
  d.training_log_likelihood = run.rows.per_row(m.training_log_likelihood);
  d.squared_norm_per_dim = m.squared_norm_per_dim;
  if (m.sampling.steps > 0) d.reset_frequency = double(m.sampling.refused()) / double(m.sampling.steps);
  if (run.sampler.has_guardrail())
    d.expected_reset_frequency = 1 - run.sampler.microcanonical.tuner.reset_prob;
  d.divergences = m.warmup.nonfinite() + m.sampling.nonfinite();
  for (std::size_t i = 1; i < kRefusalKinds; ++i)
    if (const auto n = m.warmup.refusals[i] + m.sampling.refusals[i]; n > 0)
      d.refusals.emplace_back(name_of(Refusal(i)), n);
  d.gamma_shape = m.gamma_shape, d.gamma_scale = m.gamma_scale;
  if (std::isfinite(m.gamma_shape)) d.kolmogorov_distance = m.energy.kolmogorov_distance();
  d.step_size_first = m.first_step_size;
  d.step_size_after_warmup = m.warmup_end_step_size;
  d.step_size_last = m.last_step_size;
  if (m.steps > 0) d.step_size_smallest = m.smallest_step_size, d.step_size_largest = m.largest_step_size;
  d.step_size_drifted =
      run.sampler.follows_energy() && m.steps > 0 &&
      StepSizeDrift::left(run.sampler.step.step_size, m.smallest_step_size, m.largest_step_size);
  d.gradient_rms = m.sampling.gradient_rms(double(r.dimension));
  if (r.step > 0) d.seconds_per_step = r.seconds / double(r.step);
  if (r.seconds > 0) d.gradients_per_second = double(m.warmup.gradients + m.sampling.gradients) / r.seconds;
}

/// The chain's place among those that the convergence diagnostics are about.
std::optional<std::size_t> place_of(std::uint32_t chain, const json& diagnostics) {
  if (!diagnostics.is_object() || !diagnostics.contains("chains_used")) return std::nullopt;
  const json& used = diagnostics.at("chains_used");
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used.at(i) == chain) return i;
  return std::nullopt;
}

void put_convergence(ChainDiagnosis& d, const json& diagnostics) {
  const auto place = place_of(d.chain, diagnostics);
  if (!place) return;
  const auto median = [&](const char* group) {
    const json& values = diagnostics.at(group).at("chain_median_rhat");
    return *place < values.size() && values[*place].is_number() ? values[*place].get<double>() : kNone;
  };
  d.chainwise_rhat_parameters = median("parameters");
  d.chainwise_rhat_predictions = median("predictions");
  const json& still = diagnostics.at("parameters").at("chain_still");
  if (*place < still.size()) d.still_quantities = still.at(*place).get<std::size_t>();
}

}  // namespace

std::size_t RunDiagnosis::count(Verdict verdict) const {
  return std::size_t(std::count_if(chains.begin(), chains.end(),
                                   [&](const ChainDiagnosis& chain) { return chain.verdict == verdict; }));
}

namespace {

RunDiagnosis diagnosis_of(const fs::path& path) {
  const RunFacts facts = inspect_run(path);
  RunEvidence run = evidence_of(facts);
  RunDiagnosis out;
  out.directory = path.string();
  out.status = facts.status();
  const std::vector<ChainEvidence> chains = chains_of(run);
  for (const ChainEvidence& chain : chains) run.dimension = std::max(run.dimension, chain.record.dimension);
  for (const ChainEvidence& chain : chains) {
    ChainDiagnosis d;
    put_numbers(d, chain, run);
    put_convergence(d, run.diagnostics);
    d.energy_over_time = experiment::energy_windows(path, d.chain);
    diagnosis::judge_chain(d, chain, run);
    out.chains.push_back(std::move(d));
  }
  diagnosis::judge_run(out, run);
  return out;
}

}  // namespace

RunDiagnosis diagnose_run(const fs::path& path) {
  return run::reading_evaluation(path, [&] { return diagnosis_of(path); });
}

}  // namespace smile

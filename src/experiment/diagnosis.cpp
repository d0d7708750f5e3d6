#include "smile/experiment/diagnosis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "ensemble/checkpoint.hpp"
#include "experiment/chain_report.hpp"
#include "experiment/energy_windows.hpp"
#include "smile/adaptation/energy_tuner.hpp"
#include "smile/data/dataset.hpp"
#include "smile/ensemble/draw_check.hpp"
#include "smile/error.hpp"
#include "smile/experiment/config.hpp"
#include "smile/experiment/run_access.hpp"
#include "smile/experiment/run_inspection.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Weight = Finding::Weight;
constexpr double kNone = ChainDiagnosis::kNone;

// Where a number becomes a finding. They are rules of thumb: generous enough that a sound chain has none.
constexpr double kResetFactor = 3;         ///< reset frequency against κ, either way
constexpr double kManyRefusals = 0.3;      ///< a chain that refuses more hardly moves
constexpr double kManyDivergences = 1e-2;  ///< share of steps that were not finite
constexpr double kPoorFit = 0.2;           ///< Kolmogorov distance of |ΔE| to its Gamma
constexpr double kSettled = 1.1;           ///< R̂ below which a quantity counts as settled
constexpr double kMoving = 1.5;            ///< chain-wise R̂ above which it clearly is not

json json_of(const fs::path& path) {
  std::ifstream in(path);
  return json::parse(in, nullptr, false);
}

double number(const json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_number() ? object[key].get<double>()
                                                                               : kNone;
}

/// What all chains are judged by.
struct Context {
  SamplerConfig sampler;
  std::string resume;
  experiment::TrainingRows rows;
  json diagnostics, chains, metrics, sampling;

  bool has_guardrail() const { return sampler.has_guardrail(); }
  bool drifts() const { return sampler.follows_energy(); }
};

Context context_of(const fs::path& run) {
  Context c;
  const Config config = load_config((run / "config.yaml").string());
  c.sampler = config.training.sampler;
  c.resume = inspect_run(run).resume_command();
  try {
    c.rows =
        experiment::training_rows_of(load_dataset_info(run / "dataset_splits.npz"), config.data.normalize);
  } catch (const Error&) {
    // Then nothing is said per row.
  }
  const fs::path eval = run / "eval";
  c.diagnostics = json_of(eval / "diagnostics.json");
  c.chains = json_of(eval / "chains.json");
  c.metrics = json_of(eval / "metrics.json");
  c.sampling = json_of(eval / "sampling.json");
  return c;
}

/// The chains' records, and their test metrics where the run was evaluated.
struct Chains {
  std::vector<ChainRecord> records;
  std::vector<experiment::ChainScore> scores;
  std::vector<std::string> damage;  ///< what is wrong with a chain's checkpoint or draws, or empty
};

Chains chains_of(const fs::path& run, const Context& c) {
  Chains out;
  const auto count = std::size_t(c.sampler.n_chains);
  out.records.resize(count);
  out.scores.resize(count);
  out.damage.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto chain = std::uint32_t(i);
    try {
      std::string remark;
      if (auto checkpoint = ensemble::read_checkpoint(checkpoint_path(run, chain), remark))
        out.records[i] = std::move(checkpoint->record);
    } catch (const Error& error) {
      out.damage[i] = error.cause();
    }
    out.records[i].chain = chain;
    if (out.damage[i].empty()) out.damage[i] = draws_problem(run, out.records[i]);
  }
  if (c.chains.is_array())
    for (const json& chain : c.chains) {
      const auto i = std::size_t(chain.value("chain", 0));
      if (i < count)
        out.scores[i] = {chain.value("draws_evaluated", std::size_t{0}), number(chain, "test_lppd"),
                         number(chain, "test_rmse"), number(chain, "start_test_lppd")};
    }
  return out;
}

void put_numbers(ChainDiagnosis& d, const ChainRecord& r, const experiment::ChainScore& score,
                 const Context& c) {
  const ChainMonitor& m = r.monitor;
  d.chain = r.chain;
  d.steps = r.step, d.warmup_steps = r.warmup_steps, d.total_steps = r.total_steps, d.draws = r.stored;
  d.test_lppd = score.lppd;
  d.start_test_lppd = score.start_lppd;
  d.training_log_likelihood = c.rows.per_row(m.training_log_likelihood);
  d.squared_norm_per_dim = m.squared_norm_per_dim;
  if (m.sampling.steps > 0) d.reset_frequency = double(m.sampling.refused()) / double(m.sampling.steps);
  if (c.has_guardrail()) d.expected_reset_frequency = 1 - c.sampler.microcanonical.tuner.reset_prob;
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
      c.drifts() && m.steps > 0 &&
      StepSizeDrift::left(c.sampler.step.step_size, m.smallest_step_size, m.largest_step_size);
  d.gradient_rms = m.sampling.gradient_rms(double(r.dimension));
  if (r.step > 0) d.seconds_per_step = r.seconds / double(r.step);
  if (r.seconds > 0) d.gradients_per_second = double(m.warmup.gradients + m.sampling.gradients) / r.seconds;
}

/// The chain's place among those that the convergence diagnostics are about.
std::optional<std::size_t> place_of(std::uint32_t chain, const json& diagnostics) {
  if (!diagnostics.is_object() || !diagnostics.contains("chains_used")) return std::nullopt;
  const json& used = diagnostics["chains_used"];
  for (std::size_t i = 0; i < used.size(); ++i)
    if (used[i] == chain) return i;
  return std::nullopt;
}

void put_convergence(ChainDiagnosis& d, const json& diagnostics) {
  const auto place = place_of(d.chain, diagnostics);
  if (!place) return;
  const auto median = [&](const char* group) {
    const json& values = diagnostics[group]["chain_median_rhat"];
    return *place < values.size() && values[*place].is_number() ? values[*place].get<double>() : kNone;
  };
  d.chainwise_rhat_parameters = median("parameters");
  d.chainwise_rhat_predictions = median("predictions");
  const json& still = diagnostics["parameters"]["chain_still"];
  if (*place < still.size()) d.still_quantities = still[*place].get<std::size_t>();
}

double percent(double fraction) {
  return 100 * fraction;
}

/// What to try where steps were not finite.
std::string against_nonfinite(Refusal cause, bool chooses_step) {
  const std::string smaller =
      chooses_step ? "lower turn_angle by a factor of 2" : "lower step_size by a factor of 3 to 10";
  if (cause == Refusal::log_density)
    return smaller +
           "; if it stays, the log-density itself has places where it is not a number (check prior "
           "limits and data)";
  if (cause == Refusal::gradient) return smaller + ", or set gradient_clip to a smaller value";
  return smaller;
}

class Judge {
 public:
  Judge(ChainDiagnosis& d, const ChainRecord& r, const Context& c) : d_(d), r_(r), c_(c) {}

  void judge(const std::string& damage, const experiment::Astray& astray, double usual_likelihood) {
    if (!damage.empty())
      add(Weight::failure, "damaged", damage,
          "restore the files from a copy, or remove this chain's checkpoint and run it anew: " + c_.resume);
    if (r_.status == ChainStatus::failed)
      add(Weight::failure, "failed", r_.reason,
          r_.monitor.steps > 0 ? against_nonfinite(r_.monitor.main_cause(), chooses_step()) : "");
    if (d_.steps == 0) return;
    region(astray, usual_likelihood);
    refusals();
    energy();
    step_size();
    convergence();
    for (const std::string& finding : r_.findings)
      if (!finding.starts_with("the step size ran from"))  // said above, with more numbers
        add(Weight::warning, "sampler", finding, "");
  }

 private:
  bool chooses_step() const { return c_.sampler.turns(); }
  void add(Weight weight, const char* code, std::string text, std::string advice) {
    d_.findings.push_back({weight, code, std::move(text), std::move(advice)});
  }

  /// Whether it is where networks fit the data.
  void region(const experiment::Astray& astray, double usual_likelihood) {
    const std::string advice = chooses_step() ? "lower turn_angle" : "lower step_size by a factor of 3 to 10";
    if (astray.apart)
      add(Weight::warning, "blown-up",
          fmt::format(
              "it has left the region of the others: log-likelihood of a training row {:.3g} (median of "
              "the chains {:.3g}), |theta|^2/d {:.3g}",
              d_.training_log_likelihood, usual_likelihood, d_.squared_norm_per_dim),
          advice);
    if (astray.worse_than_nothing)
      add(Weight::warning, "worse-than-nothing",
          fmt::format("its last state fits the training rows worse than no network at all: log-likelihood of "
                      "a row {:.3g}, where {:.3g} needs nothing learned",
                      d_.training_log_likelihood, c_.rows.nothing_learned),
          advice);
    if (astray.worse_than_start)
      add(Weight::warning, "worse-than-member",
          fmt::format("its draws predict the test rows far worse (LPPD {:.3f}) than the member it started "
                      "from ({:.3f})",
                      d_.test_lppd, d_.start_test_lppd),
          advice + "; if that does not help, the prior does not fit the network");
  }

  void refusals() {
    const StepSums& s = r_.monitor.sampling;
    const double many = std::isfinite(d_.reset_frequency) ? d_.reset_frequency : 0;
    if (many > kManyRefusals)
      add(Weight::warning, "stuck",
          fmt::format("it refused {:.0f} % of its sampling steps and hardly moved", percent(many)),
          chooses_step() ? "lower turn_angle" : "lower step_size by a factor of 3");
    if (d_.divergences > 0) {
      std::string causes;
      for (const auto& [cause, count] : d_.refusals)
        if (cause != name_of(Refusal::energy_error))
          causes += fmt::format("{}{} ({})", causes.empty() ? "" : ", ", cause, count);
      const double share = double(d_.divergences) / double(d_.steps);
      add(share > kManyDivergences ? Weight::warning : Weight::note, "divergences",
          fmt::format("{} of its {} steps were not finite and were refused: {}", d_.divergences, d_.steps,
                      causes),
          share > kManyDivergences ? against_nonfinite(r_.monitor.main_cause(), chooses_step())
                                   : "nothing, as long as they stay rare");
    }
    // Against κ, where enough were expected for the comparison to mean something.
    const double kappa = d_.expected_reset_frequency;
    if (!std::isfinite(kappa) || s.steps == 0 || many > kManyRefusals) return;
    const double expected = kappa * double(s.steps), found = double(s.refused());
    const double chance = 4 * std::sqrt(expected + 1);  // four standard deviations of a Poisson count
    if (found > kResetFactor * expected && found > expected + chance)
      add(Weight::warning, "resets",
          fmt::format("it resets at {:.2g} % of its sampling steps where {:.2g} % are expected: |dE| has a "
                      "heavier tail than its Gamma fit",
                      percent(many), percent(kappa)),
          chooses_step() ? "lower turn_angle" : "lower step_size by a factor of 3");
    else if (kResetFactor * found < expected && found < expected - chance)
      add(Weight::note, "few-resets",
          fmt::format(
              "it resets at {:.2g} % of its sampling steps where {:.2g} % are expected: the guardrail "
              "hardly acts",
              percent(many), percent(kappa)),
          "nothing: |dE| has a lighter tail than its Gamma fit");
  }

  void energy() {
    if (!(d_.kolmogorov_distance > kPoorFit)) return;
    add(Weight::note, "gamma-fit",
        fmt::format(
            "|dE| does not follow its Gamma fit (Kolmogorov distance {:.2f}), so that resets need not "
            "come at the chosen rate",
            d_.kolmogorov_distance),
        c_.drifts() ? "step_size_rule: turn does not use the fit to choose the step" : "nothing");
  }

  void step_size() {
    if (!d_.step_size_drifted) return;
    add(Weight::warning, "step-size-drift",
        fmt::format(
            "the energy rule moved the step size from {:.3g} to {:.3g} (between {:.3g} and {:.3g} on the "
            "way), out of [{:g}, {:g}] times step_size",
            c_.sampler.step.step_size, d_.step_size_last, d_.step_size_smallest, d_.step_size_largest,
            StepSizeDrift::low, StepSizeDrift::high),
        "use step_size_rule: turn, adapt_during: warmup, or a fixed step");
  }

  void convergence() {
    if (d_.still_quantities > 0)
      add(Weight::warning, "still",
          fmt::format("{} parameters stand still in it though they move in other chains",
                      d_.still_quantities),
          "lower step_size, and look whether it accepts steps at all");
    const double rhat = d_.chainwise_rhat_predictions;
    if (rhat > kSettled)
      add(rhat > kMoving ? Weight::warning : Weight::note, "not-settled",
          fmt::format("it does not agree with itself yet: predictions differ between the parts of the chain "
                      "(chain-wise R-hat {:.2f}, settled below {:.1f})",
                      rhat, kSettled),
          "raise n_samples (or warmup_steps, where the first part differs)");
  }

  ChainDiagnosis& d_;
  const ChainRecord& r_;
  const Context& c_;
};

Verdict verdict_of(const ChainDiagnosis& d, const ChainRecord& r) {
  Weight heaviest = Weight::note;
  for (const Finding& finding : d.findings) heaviest = std::max(heaviest, finding.weight);
  if (heaviest == Weight::failure) return Verdict::failed;
  if (r.status == ChainStatus::running) return Verdict::incomplete;
  if (heaviest == Weight::warning) return Verdict::doubtful;
  return d.findings.empty() ? Verdict::sound : Verdict::sound_with_remarks;
}

/// Sampling against what it started from, agreement between chains, coverage.
void judge_ensemble(RunDiagnosis& out, const Context& c) {
  const auto add = [&](Weight weight, const char* code, std::string text, std::string advice) {
    out.findings.push_back({weight, code, std::move(text), std::move(advice)});
  };
  if (const std::size_t unfinished = out.count(Verdict::incomplete); unfinished > 0)
    add(Weight::warning, "incomplete",
        fmt::format("{} of {} chains have not ended", unfinished, out.chains.size()),
        fmt::format("let them go on: {}", c.resume));
  if (c.metrics.is_object() && c.metrics.contains("metrics"))
    for (const json& row : c.metrics["metrics"]) {
      if (row.value("name", "") != "LPPD") continue;
      const double before = number(row, "ensemble_initialization"), after = number(row, "sampling");
      if (after < before)
        add(Weight::warning, "worse-than-start",
            fmt::format("sampling lowered the test LPPD from {:.3f} (warm-started ensemble) to {:.3f}",
                        before, after),
            "lower step_size, or leave out the chains that are doubtful");
    }
  if (c.diagnostics.is_object() && c.diagnostics.contains("predictions")) {
    const json& predictions = c.diagnostics["predictions"];
    const double rhat = number(predictions["rhat"], "median"),
                 ess = number(predictions["ess_bulk"], "median");
    if (rhat > kSettled)
      add(Weight::note, "chains-differ",
          fmt::format(
              "the chains differ in their predictions (R-hat {:.2f}, bulk ESS {:.0f}): usual where the "
              "posterior has many modes",
              rhat, ess),
          "judge chains by themselves; more chains make the average better");
    for (const char* group : {"parameters", "predictions"}) {
      const auto still = c.diagnostics[group].value("constant", 0),
                 nan = c.diagnostics[group].value("with_nan", 0);
      if (still > 0)
        add(Weight::warning, "constant",
            fmt::format("{} of the {} looked at stand still in all chains (ESS 0, reason: constant)", still,
                        group),
            "lower step_size, and see whether steps are accepted at all");
      if (nan > 0)
        add(Weight::warning, "nan-draws",
            fmt::format("{} of the {} looked at have a draw that is not a number", nan, group),
            "see the draw named in eval/diagnostics.json");
    }
  }
  if (c.sampling.is_object() && c.sampling.contains("intervals"))
    for (const json& interval : c.sampling["intervals"]) {
      if (std::abs(number(interval, "nominal") - 0.9) > 1e-9) continue;
      const double observed = number(interval, "observed"), n = c.sampling.value("points", 1.0);
      if (observed < 0.9 - 3 * std::sqrt(0.09 / n))
        add(Weight::warning, "too-narrow",
            fmt::format("90 % intervals hold {:.1f} % of the {:.0f} test targets: they are too narrow",
                        percent(observed), n),
            "more chains or longer ones; see the calibration plot of the report");
    }
}

}  // namespace

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::sound:
      return "sound";
    case Verdict::sound_with_remarks:
      return "sound, with remarks";
    case Verdict::doubtful:
      return "doubtful";
    case Verdict::incomplete:
      return "incomplete";
    case Verdict::failed:
      break;
  }
  return "failed";
}

std::size_t RunDiagnosis::count(Verdict verdict) const {
  return std::size_t(std::count_if(chains.begin(), chains.end(),
                                   [&](const ChainDiagnosis& chain) { return chain.verdict == verdict; }));
}

RunDiagnosis diagnose_run(const fs::path& run) {
  require_known_run(run);
  const Context c = context_of(run);
  const Chains chains = chains_of(run, c);
  const auto astray = experiment::find_astray(chains.records, chains.scores, c.rows);
  RunDiagnosis out;
  out.directory = run.string();
  if (const auto state = read_run_state(run)) out.status = state->status;
  for (std::size_t i = 0; i < chains.records.size(); ++i) {
    const ChainRecord& record = chains.records[i];
    ChainDiagnosis d;
    put_numbers(d, record, chains.scores[i], c);
    put_convergence(d, c.diagnostics);
    d.energy_over_time = experiment::energy_windows(run, record.chain);
    Judge(d, record, c).judge(chains.damage[i], astray.chains[i], astray.usual_likelihood);
    d.verdict = verdict_of(d, record);
    out.chains.push_back(std::move(d));
  }
  judge_ensemble(out, c);
  return out;
}

}  // namespace smile

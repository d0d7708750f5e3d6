// SPDX-License-Identifier: Apache-2.0
/// The step-size recipe: a search over short chains that continue from round to round.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "experiment/experiment.hpp"
#include "smile/config/options.hpp"
#include "smile/config/sampler_factory.hpp"
#include "smile/ensemble/parallel.hpp"
#include "smile/error.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/run/epoch_rows.hpp"
#include "smile/run/run_paths.hpp"
#include "smile/statistics/summaries.hpp"
#include "smile/tune/tune.hpp"
#include "tune/tune_chain.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using experiment::Experiment;
using experiment::TuneChain;
using experiment::ValidationRows;
using experiment::WarmStart;

/// The length of a chain in each round, in units of the first; the better half goes on each time.
constexpr std::uint64_t kRounds[] = {1, 2, 4};
constexpr double kMostNonfinite = 0.01;
constexpr std::uint64_t kFewestSteps = 100;  ///< of a first round that says anything

/// What is tuned: the configuration with a fixed step in place of the turning-angle rule.
Config tunable(Config config, std::vector<std::string>& remarks) {
  SamplerConfig& sampler = config.training.sampler;
  const std::string place = config.place("training.sampler.name");
  const SamplerRow& row = sampler.row();
  if (!row.stochastic)
    throw Error(place, sampler.name + " finds its step size by itself, there is nothing to tune",
                "run the configuration as it is");
  if (row.fits_gaussian())
    throw Error(place, sampler.name + " takes a learning rate that falls to 0, short runs do not see its end",
                "run the configuration as it is, with a longer warmup_steps or another step_size where it "
                "fits badly");
  if (sampler.step.warmup_schedule.kind != ScheduleKind::constant ||
      sampler.step.sampling_schedule.kind != ScheduleKind::constant)
    // Short chains are compared in the middle of their way, where a schedule has not come down yet.
    throw Error(
        place, "the step size of this sampler follows a schedule, short chains do not see its end",
        row.cyclic
            ? fmt::format("tune {0} (--set training.sampler.name={0}) and take its step for "
                          "scheduler_config_samp.init_step_size",
                          row.fixed_step)
            : "tune with scheduler_config_warm.name=none and scheduler_config_samp.name=none, and take "
              "the step for init_step_size");
  if (sampler.turns()) {
    remarks.push_back(fmt::format(
        "{} finds its step size by itself (step_size_rule: turn); what is tuned here is the same sampler "
        "with a fixed step",
        sampler.name));
    sampler.microcanonical.rule = StepSizeRule::fixed;
    if (!row.fixed_step.empty()) sampler.name = row.fixed_step;
    if (!sampler.row().guardrail) sampler.microcanonical.tuner.reset_prob = 1;
  }
  return config;
}

/// The last learning rate that a member of the folder was trained with.
std::optional<double> last_learning_rate(const fs::path& folder) {
  std::optional<double> last;
  for (const EpochReport& epoch : read_rows<EpochReport>(RunPaths(folder).epochs()))
    if (epoch.member == 0) last = epoch.learning_rate;
  return last;
}

void find_centre(const Experiment& e, const fs::path& folder, const TuneOptions& options,
                 TuneSummary& summary) {
  if (options.centre) {
    summary.centre = *options.centre;
    summary.centre_from = "as given";
    return;
  }
  const WarmstartConfig& warmstart = e.config.training.warmstart;
  std::optional<double> rate = last_learning_rate(folder);
  if (!rate && warmstart.warmstart_exp_dir) rate = last_learning_rate(*warmstart.warmstart_exp_dir);
  if (!rate) rate = member_options(e.config).learning_rate.at(0);
  const double n = double(e.observations());
  summary.centre = *rate;
  summary.centre_from = fmt::format("the optimiser's last learning rate {:g}", *rate);
  switch (e.config.training.sampler.step_unit()) {
    case StepUnit::rate:
      break;
    case StepUnit::rate_over_rows:
      summary.centre = *rate / n;
      summary.centre_from += fmt::format(" over the {} training rows", e.observations());
      break;
    case StepUnit::root_rate_over_rows:
      summary.centre = std::sqrt(*rate / n);
      summary.centre_from =
          fmt::format("the root of {} over the {} training rows", summary.centre_from, e.observations());
  }
}

/// All chains of one step size.
struct Candidate {
  double step_size = 0;
  std::vector<std::unique_ptr<TuneChain>> chains;
  double lppd = std::numeric_limits<double>::quiet_NaN();
  std::string verdict;  ///< empty while it takes part

  std::uint64_t sum(std::uint64_t (TuneChain::*count)() const) const {
    std::uint64_t total = 0;
    for (const auto& chain : chains) total += ((*chain).*count)();
    return total;
  }
  double share(std::uint64_t (TuneChain::*count)() const) const {
    return double(sum(count)) / double(std::max<std::uint64_t>(1, sum(&TuneChain::steps)));
  }
};

class Search {
 public:
  Search(const Experiment& e, const TuneOptions& options, const std::vector<HostVector<float>>& members)
      : e_(e),
        options_(options),
        members_(members),
        validation_(experiment::validation_rows(e)),
        begin_(std::chrono::steady_clock::now()) {}

  /// @param length  of the first round
  void plan(std::uint64_t length, std::uint64_t all_steps) {
    length_ = length;
    progress_.phase = "tuning";
    progress_.total = all_steps;
  }

  void add(double step_size) {
    Candidate candidate;
    candidate.step_size = step_size;
    SamplerConfig sampler = e_.config.training.sampler;
    sampler.step.step_size = step_size;
    for (std::size_t k = 0; k < members_.size(); ++k)
      candidate.chains.push_back(std::make_unique<TuneChain>(e_, sampler, validation_, std::uint32_t(k),
                                                             members_[k], length_ * kRounds[2]));
    candidates_.push_back(std::move(candidate));
  }

  /// Moves all that take part to the end of a round. A round has parts, after each of which the hopeless are
  /// taken out; only the second half of the steps so far is scored.
  void round(std::uint64_t length) {
    constexpr std::uint64_t kParts = 4;
    const std::uint64_t end = length * length_, half = end / 2;
    for (Candidate& candidate : candidates_)
      for (auto& chain : candidate.chains) chain->clear_scores();
    for (std::uint64_t part = 1; part <= kParts; ++part) {
      const std::uint64_t until = end * part / kParts;
      std::vector<TuneChain*> jobs;
      for (Candidate& candidate : candidates_)
        if (candidate.verdict.empty())
          for (auto& chain : candidate.chains) jobs.push_back(chain.get());
      ensemble::parallel_for(
          jobs.size(), threads(jobs.size()),
          [&](std::size_t i) {
            if (stopped() || jobs[i]->steps() >= until) return;
            jobs[i]->advance(until, std::min(until, std::max(half, jobs[i]->steps())));
          },
          [&](bool) { show(); });
      if (stopped())
        throw Error("smile tune", "interrupted", "give the same command again; the result does not change",
                    ErrorKind::run);
      for (Candidate& candidate : candidates_) stop_if_hopeless(candidate);
    }
    for (Candidate& candidate : candidates_)
      if (candidate.verdict.empty()) candidate.lppd = lppd_of(candidate);
  }

  /// Takes out all but the `keep` best.
  void keep_best(std::size_t keep, const std::string& verdict) {
    const auto order = ranking();
    for (std::size_t i = keep; i < order.size(); ++i) order[i]->verdict = verdict;
  }

  /// Those that take part, best first.
  std::vector<Candidate*> ranking() {
    std::vector<Candidate*> order;
    for (Candidate& candidate : candidates_)
      if (candidate.verdict.empty()) order.push_back(&candidate);
    std::stable_sort(order.begin(), order.end(),
                     [](const Candidate* a, const Candidate* b) { return a->lppd > b->lppd; });
    return order;
  }

  std::vector<Candidate>& candidates() { return candidates_; }
  void finish() {
    progress_.finished = true;
    progress_.total = progress_.done;
    show();
  }

 private:
  std::size_t threads(std::size_t jobs) const {
    RunOptions threading;
    threading.threads = options_.threads;
    return experiment::thread_count(e_, threading, std::max<std::size_t>(1, jobs));
  }
  bool stopped() const { return options_.stop && options_.stop->load(); }

  void stop_if_hopeless(Candidate& candidate) const {
    if (!candidate.verdict.empty()) return;
    for (const auto& chain : candidate.chains)
      if (!chain->hopeless().empty()) {
        candidate.verdict = "stopped: " + chain->hopeless();
        candidate.lppd = std::numeric_limits<double>::quiet_NaN();
        return;
      }
  }

  double lppd_of(const Candidate& candidate) const {
    double sum = 0;
    const std::size_t rows = validation_.targets.size();
    for (std::size_t i = 0; i < rows; ++i) {
      LogSumExp pooled;
      std::uint64_t draws = 0;
      for (const auto& chain : candidate.chains) {
        pooled.merge(chain->scores()[i]);
        draws += chain->scored();
      }
      sum += pooled.value() - std::log(double(draws));
    }
    return sum / double(rows);
  }

  void show() {
    if (!options_.on_progress) return;
    progress_.done = 0;
    for (const Candidate& candidate : candidates_) progress_.done += candidate.sum(&TuneChain::steps);
    progress_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    progress_.per_second = progress_.seconds > 0 ? double(progress_.done) / progress_.seconds : 0;
    options_.on_progress(progress_);
  }

  const Experiment& e_;
  const TuneOptions& options_;
  const std::vector<HostVector<float>>& members_;
  ValidationRows validation_;
  std::uint64_t length_ = 0;
  std::vector<Candidate> candidates_;
  Progress progress_;
  std::chrono::steady_clock::time_point begin_;
};

/// Steps of the grid, from the smallest on.
std::vector<double> grid_around(double centre, const TuneOptions& options) {
  const int count = 1 + std::max(1, int(std::lround(options.decades * options.per_decade)));
  std::vector<double> grid;
  for (int i = 0; i < count; ++i)
    grid.push_back(centre * std::pow(10.0, (double(i) - 0.5 * double(count - 1)) / options.per_decade));
  return grid;
}

/// Halves, rounded up, and at least two.
std::size_t better_half(std::size_t count) {
  return std::max<std::size_t>(2, (count + 1) / 2);
}

/// Steps of all chains of one candidate, where `count` candidates begin, in units of the first round.
std::uint64_t round_units(std::size_t count, bool refine) {
  const std::size_t second = better_half(count), third = better_half(second);
  return count * kRounds[0] + second * (kRounds[1] - kRounds[0]) + third * (kRounds[2] - kRounds[1]) +
         (refine ? 2 * kRounds[2] : 0);
}

std::uint64_t warmstart_updates(const Experiment& e, const fs::path& folder) {
  const std::uint64_t epochs = read_rows<EpochReport>(RunPaths(folder).epochs()).size();
  const auto batch = e.config.training.warmstart.member.batch_size;
  const double rows = double(e.observations());
  return epochs * std::uint64_t(batch ? std::ceil(rows / double(*batch)) : 1.0);
}

/// What a short chain's best step is to a chain of the run's length. What a chain that has not arrived yet
/// lacks falls with the length of its path, steps times step size, and the bias rises with the step size:
/// where one is as steep as the other, the best step falls with the root of the number of steps. A step that
/// adapts needs no such correction.
double to_run_length(const SamplerConfig& sampler, std::uint64_t tuned_steps, std::uint64_t run_steps) {
  return sampler.follows_energy() || tuned_steps >= run_steps
             ? 1
             : std::sqrt(double(tuned_steps) / double(run_steps));
}

std::string reason_of(const std::vector<Candidate*>& order) {
  const Candidate& best = *order.front();
  std::string text =
      fmt::format("{:.3g} has the highest validation LPPD ({:.3f})", best.step_size, best.lppd);
  if (order.size() > 1)
    text += fmt::format(", next comes {:.3g} ({:.3f})", order[1]->step_size, order[1]->lppd);
  const double bad = best.share(&TuneChain::nonfinite);
  text += bad > 0 ? fmt::format("; {:.2g} % of its steps were not finite", 100 * bad)
                  : std::string("; all its steps were finite");
  const double resets = best.share(&TuneChain::refused);
  if (resets > bad) text += fmt::format(", {:.2g} % were reset", 100 * resets);
  return text;
}

std::string csv_of(const TuneSummary& summary) {
  std::string csv = "step_size,steps,gradients,reset_rate,nonfinite_rate,validation_lppd,verdict\n";
  for (const TunedStep& step : summary.steps)
    csv += fmt::format("{:.8g},{},{},{:.6g},{:.6g},{},{}\n", step.step_size, step.steps, step.gradients,
                       step.reset_rate, step.nonfinite_rate,
                       std::isnan(step.validation_lppd) ? "" : fmt::format("{:.6f}", step.validation_lppd),
                       step.verdict);
  return csv;
}

void check_options(const TuneOptions& options) {
  if (options.centre && !(*options.centre > 0 && std::isfinite(*options.centre)))
    throw Error("--from", "is not a step size", "give a number above 0");
  if (!(options.decades > 0 && options.decades <= 8))
    throw Error("--decades", fmt::format("{:g} is out of range", options.decades), "give 0 < decades <= 8");
  if (options.per_decade < 1) throw Error("--per-decade", "is less than 1", "give 2 or 3");
  if (options.chains < 1) throw Error("--chains", "is less than 1", "give 1, or more where runs differ much");
  if (!(options.budget > 0 && options.budget <= 1))
    throw Error("--budget", fmt::format("{:g} is out of range", options.budget), "give 0 < budget <= 1");
}

/// What the search may spend, against the run that it is for.
struct Budget {
  std::uint64_t run_steps;  ///< of a chain of the run
  std::uint64_t length;     ///< of a chain in the first round
  std::uint64_t all_steps;  ///< of all chains of the search
};

Budget budget_of(const SamplerConfig& sampler, const Experiment& e, const TuneOptions& options) {
  const RunLengths lengths = make_run_lengths(sampler, e.observations());
  const std::size_t count = grid_around(1, options).size();
  const std::uint64_t run_steps = lengths.plan.warmup_steps + lengths.plan.sampling_steps;
  const double all_steps = options.budget * double(sampler.n_chains) * double(run_steps);
  const std::uint64_t units = round_units(count, options.refine) * e.chains();
  const auto length = std::uint64_t(all_steps / double(units));
  if (length < kFewestSteps)
    throw Error(
        "--budget",
        fmt::format("{:g} of a run of {} chains and {} steps leaves {} steps for a first look at each "
                    "of {} step sizes",
                    options.budget, sampler.n_chains, run_steps, length, count),
        fmt::format(
            "at least {} are needed: give --budget {:.2g} or more, raise n_samples, or lower --chains, "
            "--decades or --per-decade",
            kFewestSteps, 1.05 * options.budget * double(kFewestSteps) / std::max(1.0, double(length))));
  return {run_steps, length, units * length};
}

/// Three rounds, of which the better half goes on each time; then, where asked for, the steps beside the
/// best.
void go_through_rounds(Search& search, const std::vector<double>& grid, std::uint64_t length,
                       const TuneOptions& options) {
  for (const double step : grid) search.add(step);
  search.round(kRounds[0]);
  search.keep_best(better_half(grid.size()), fmt::format("behind after {} steps", length * kRounds[0]));
  search.round(kRounds[1]);
  search.keep_best(better_half(better_half(grid.size())),
                   fmt::format("behind after {} steps", length * kRounds[1]));
  search.round(kRounds[2]);
  if (options.refine && !search.ranking().empty()) {
    const double best = search.ranking().front()->step_size;
    const double ratio = std::pow(10.0, 0.5 / options.per_decade);
    for (const double step : {best / ratio, best * ratio}) search.add(step);
    search.round(kRounds[2]);
  }
  search.finish();
}

/// The table of the steps and what they cost. Every step of these samplers takes as many gradients as
/// another.
void summarise(Search& search, double run_chain_steps, TuneSummary& summary) {
  std::uint64_t steps = 0;
  for (const Candidate& candidate : search.candidates()) {
    summary.steps.push_back({candidate.step_size, candidate.chains.front()->steps(),
                             candidate.sum(&TuneChain::gradients), candidate.share(&TuneChain::refused),
                             candidate.share(&TuneChain::nonfinite), candidate.lppd, candidate.verdict});
    steps += candidate.sum(&TuneChain::steps);
    summary.gradients += candidate.sum(&TuneChain::gradients);
  }
  std::sort(summary.steps.begin(), summary.steps.end(),
            [](const TunedStep& a, const TunedStep& b) { return a.step_size < b.step_size; });
  summary.run_gradients = std::uint64_t(double(summary.gradients) / double(steps) * run_chain_steps);
}

/// The best step that can be used, for chains of the run's length.
void choose_step(const std::vector<Candidate*>& order, const SamplerConfig& sampler, std::uint64_t run_steps,
                 TuneSummary& summary) {
  const double best = order.front()->step_size;
  const std::uint64_t tuned_steps = order.front()->chains.front()->steps();
  const double factor = to_run_length(sampler, tuned_steps, run_steps);
  // Three digits say all that a search like this can.
  summary.step_size = std::stod(fmt::format("{:.3g}", best * factor));
  summary.reason = reason_of(order);
  if (factor < 1)
    summary.reason +=
        fmt::format("; times √({}/{}), from its chains' length to the run's", tuned_steps, run_steps);
  if (best == summary.steps.front().step_size || best == summary.steps.back().step_size)
    summary.remarks.push_back(
        fmt::format("the best step is at the end of the grid; search on with --from {:.3g}", best));
}

WarmStart train_members(Experiment& e, const RunDirectory& directory, const TuneOptions& options) {
  RunOptions run;
  run.threads = options.threads;
  run.stop = options.stop;
  run.on_progress = options.on_progress;
  run.on_message = options.on_message;
  WarmStart start = experiment::warm_start(e, directory, run);
  if (start.interrupted)
    throw Error(directory.path().string(), "interrupted during the warm start", "give the command again",
                ErrorKind::run);
  return start;
}

}  // namespace

TuneSummary tune_step_size(const Config& given, const TuneOptions& options) {
  check_options(options);
  TuneSummary summary;
  const Config tuned = tunable(given, summary.remarks);
  const SamplerConfig& sampler = tuned.training.sampler;
  Config config = tuned;
  config.training.sampler.n_chains = std::min(sampler.n_chains, options.chains);
  Experiment e = experiment::prepare(config);
  const Budget budget = budget_of(sampler, e, options);

  const fs::path folder =
      options.out.empty() ? fs::path(new_run_path(config).string() + "-tune") : fs::path(options.out);
  const RunDirectory directory = RunDirectory::create(folder, &config);
  directory.log("step-size search");
  const WarmStart start = train_members(e, directory, options);
  find_centre(e, folder, options, summary);

  Search search(e, options, start.members);
  search.plan(budget.length, budget.all_steps);
  go_through_rounds(search, grid_around(summary.centre, options), budget.length, options);

  auto order = search.ranking();
  const bool any = !order.empty();
  std::erase_if(order, [](const Candidate* c) { return c->share(&TuneChain::nonfinite) > kMostNonfinite; });
  for (Candidate& candidate : search.candidates())
    if (candidate.verdict.empty()) candidate.verdict = "kept to the end";
  if (!order.empty()) order.front()->verdict = "chosen";
  summarise(search, double(sampler.n_chains) * double(budget.run_steps), summary);
  summary.warmstart_gradients = warmstart_updates(e, folder);
  summary.directory = folder.string();
  summary.table = RunPaths(folder).tried_steps().string();
  write_file_atomically(summary.table, csv_of(summary));
  if (order.empty())
    throw Error(
        summary.table,
        any ? "every step size had more than 1 % of steps that were not finite" : "no step size survived",
        "look at the table and give a smaller middle of the grid with --from", ErrorKind::run);
  choose_step(order, sampler, budget.run_steps, summary);

  Config result = tuned;
  result.training.sampler.step.step_size = summary.step_size;
  summary.config = RunPaths(folder).tuned().string();
  write_file_atomically(summary.config,
                        "# Written by smile tune: " + summary.reason + ".\n" + to_yaml(result));
  directory.log("chosen: " + summary.reason);
  return summary;
}

std::string tune_table(const TuneSummary& summary) {
  std::string text = fmt::format("{:>10}  {:>7}  {:>9}  {:>8}  {:>10}  {:>10}  {}\n", "step size", "steps",
                                 "gradients", "resets", "non-finite", "valid LPPD", "verdict");
  for (const TunedStep& step : summary.steps)
    text += fmt::format("{:>10.3g}  {:>7}  {:>9}  {:>7.2f}%  {:>9.2f}%  {:>10}  {}\n", step.step_size,
                        step.steps, step.gradients, 100 * step.reset_rate, 100 * step.nonfinite_rate,
                        std::isnan(step.validation_lppd) ? "-" : fmt::format("{:.4f}", step.validation_lppd),
                        step.verdict);
  return text;
}

}  // namespace smile

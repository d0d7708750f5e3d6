// SPDX-License-Identifier: Apache-2.0
#include "experiment/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <thread>

#include "experiment/chain_survey.hpp"
#include "experiment/live_status.hpp"
#include "experiment/run_identity.hpp"
#include "experiment/run_phases.hpp"
#include "smile/ensemble/parallel.hpp"
#include "smile/error.hpp"
#include "smile/files/draws.hpp"
#include "smile/run/inputs.hpp"
#include "smile/run/run_access.hpp"
#include "smile/run/run_paths.hpp"

namespace smile::experiment {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

class LockedChain final : public ChainClaim {
 public:
  explicit LockedChain(std::unique_ptr<LockFile> lock) : lock_(std::move(lock)) {}
  bool lost() override { return lock_->lost(); }
  void tell(const ChainProgress& progress) override { lock_->tell(note_of(progress)); }

 private:
  std::unique_ptr<LockFile> lock_;
};

/// All chains as one progress: this process's from its threads, the others' from their locks.
class ProgressOfAll {
 public:
  explicit ProgressOfAll(ChainSurvey& survey) : survey_(survey) {}

  Progress of(const Progress& own, bool finished) {
    if (Clock::now() - looked_ > 1s) survey_.look(), looked_ = Clock::now();
    Progress all = own;
    all.phase = "sampling";
    all.finished = finished;
    std::vector<ChainProgress> chains(survey_.chains().size());
    for (std::size_t i = 0; i < chains.size(); ++i) chains[i] = survey_.chains()[i].progress;
    for (const ChainProgress& chain : own.chains)
      if (chain.total > 0 && chain.done >= chains[chain.chain].done) chains[chain.chain] = chain;
    all.done = all.refused = all.total = 0;
    double density = 0, step = 0;
    std::size_t with_density = 0, with_step = 0, known = 0;
    for (const ChainProgress& chain : chains) {
      all.done += chain.done, all.refused += chain.refused, all.total += chain.total,
          known += chain.total > 0;
      if (std::isfinite(chain.log_density)) density += chain.log_density, ++with_density;
      if (chain.step_size > 0) step += std::log(chain.step_size), ++with_step;
    }
    if (known > 0) all.total = all.total / known * chains.size();
    all.log_density = with_density > 0 ? density / double(with_density) : StepReport::kNone;
    all.step_size = with_step > 0 ? std::exp(step / double(with_step)) : StepReport::kNone;
    all.seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    if (!earlier_) earlier_ = all.done;
    all.per_second = all.seconds > 0 ? double(all.done - std::min(all.done, *earlier_)) / all.seconds : 0;
    all.chains = std::move(chains);
    return all;
  }

 private:
  ChainSurvey& survey_;
  Clock::time_point begin_ = Clock::now(), looked_{};
  std::optional<std::uint64_t> earlier_;
};

class Part {
 public:
  /// @param evaluation_threads  when the other ranks have ended
  Part(Experiment& e, RunDirectory directory, const RunOptions& options, int evaluation_threads)
      : e_(e),
        directory_(std::move(directory)),
        options_(options),
        evaluation_threads_(evaluation_threads),
        patience_{.takeover_seconds = options.takeover_seconds},
        run_(directory_.path()),
        members_(e.chains()),
        maker_(e, directory_),
        survey_(run_, e.chains(), patience_) {
    summary_.directory = run_.string();
    summary_.samples_directory = RunPaths(run_).samples().string();
    summary_.chains = e.chains();
  }

  RunSummary go() {
    // Of many ranks one tells them.
    for (const auto& warning : e_.warnings)
      if (!options_.launch || options_.launch->rank == 0) remark(options_, directory_, "warning: " + warning);
    if (!e_.prior && !follow_members()) {
      interrupted();
      return std::move(summary_);
    }
    if (options_.chains.empty()) {
      share();
    } else {
      take_chosen();
      move(options_.chains);
      survey_.look();
      say_what_was_done();
    }
    return std::move(summary_);
  }

 private:
  bool stopped() const { return options_.stop && options_.stop->load(); }
  bool ended(std::uint32_t chain) const {
    const auto record = read_chain_record(run_, chain);
    return record && record->status != ChainStatus::running;
  }

  /// All locks of the chains that were asked for, before any of them begins.
  void take_chosen() {
    for (const std::uint32_t chain : options_.chains) {
      if (ended(chain)) {
        remark(options_, directory_, fmt::format("chain {} has ended already", chain));
        continue;
      }
      if (!options_.resume && read_chain_record(run_, chain)) begun(chain, {});
      LockLook other;
      auto lock = LockFile::take(RunPaths(run_).chain_lock(chain), options_.resume, &other, patience_);
      if (!lock && other.state == LockState::stale) begun(chain, other.holder);
      if (!lock)
        throw Error(run_.string(), fmt::format("chain {} is in use by {}", chain, other.holder.name()),
                    "wait for it or stop it, or leave the chain out of --chains", ErrorKind::run);
      chosen_[chain] = std::move(lock);
    }
    let_no_other_have_the_run();
  }

  [[noreturn]] void begun(std::uint32_t chain, const LockHolder& holder) const {
    throw Error(run_.string(),
                holder.pid > 0 ? fmt::format("chain {} was begun by {}, which has gone", chain, holder.name())
                               : fmt::format("chain {} was begun and has not ended", chain),
                "add --resume to go on with it", ErrorKind::run);
  }

  /// Whoever prepares a run or writes a state has its lock for a moment; a run of one process keeps it.
  void let_no_other_have_the_run() const {
    LockLook look;
    for (int i = 0; i < 100; ++i) {
      look = look_at_lock(RunPaths(run_).lock(), patience_);
      if (look.state != LockState::held) return;
      std::this_thread::sleep_for(100ms);
    }
    throw Error(run_.string(), "the run is in use by " + look.holder.name(), "wait for it or stop it",
                ErrorKind::run);
  }

  /// The chain's lock and its member; null where it is another's, or has ended.
  std::shared_ptr<ChainClaim> claim(std::uint32_t chain) {
    std::unique_ptr<LockFile> lock;
    if (!options_.chains.empty()) {
      const std::lock_guard guard(mutex_);
      const auto mine = chosen_.find(chain);
      if (mine == chosen_.end()) return nullptr;
      lock = std::move(mine->second);
      chosen_.erase(mine);
    } else {
      if (ended(chain) || (!options_.resume && read_chain_record(run_, chain))) return nullptr;
      lock = LockFile::take(RunPaths(run_).chain_lock(chain), options_.resume, nullptr, patience_);
      if (!lock) return nullptr;
      let_no_other_have_the_run();
      // It may have been another's between the two looks.
      if (ended(chain) || (!options_.resume && read_chain_record(run_, chain))) return nullptr;
    }
    if (lock->taken_over()) say(fmt::format("chain {} is taken over from a process that has gone", chain));
    if (!make_member(chain)) return nullptr;
    const auto record = read_chain_record(run_, chain);
    directory_.log(fmt::format("chain {} goes on after step {}", chain, record ? record->step : 0));
    return std::make_shared<LockedChain>(std::move(lock));
  }

  /// A prior that follows from the members needs all of them before any chain begins: this process makes
  /// those that nobody has, and waits for the others. @return false where it was stopped meanwhile
  bool follow_members() {
    std::vector<std::string> said;
    const std::size_t own = maker_.own(), first = options_.launch ? options_.launch->rank : 0;
    std::vector<HostVector<float>> members(e_.chains());
    for (std::size_t there = 0; there < own;) {
      there = 0;
      bool made = false;
      for (std::size_t k = 0; k < own; ++k) {
        const std::size_t i = (first + k) % own;
        if (stopped()) return false;
        if (!fs::exists(RunPaths(run_).member(i))) {
          const auto lock = LockFile::take(RunPaths(run_).member_lock(i), true, nullptr, patience_);
          if (!lock) continue;
          if (!maker_.own_member(
                  i, [&] { return !stopped(); }, said))
            return false;
          made = true;
        }
        ++there;
      }
      if (there < own && !made) pause();
    }
    for (std::size_t i = 0; i < own; ++i)
      members[i] = *maker_.own_member(
          i, [] { return true; }, said);
    for (std::size_t i = own; i < members.size(); ++i) members[i] = maker_.copy(i, members[0]);
    for (const std::string& text : said) remark(options_, directory_, text);
    complete_prior(e_, run_, members);
    return true;
  }

  void say(const std::string& text) {
    const std::lock_guard guard(mutex_);
    directory_.log(text);
    messages_.push_back(text);
  }

  /// @return false where it was stopped meanwhile
  bool make_member(std::uint32_t chain) {
    const auto keep_training = [&] { return !stopped(); };
    std::vector<std::string> said;
    if (chain < maker_.own()) {
      auto member = own_member(chain, keep_training, said);
      if (!member) return false;
      members_[chain] = std::move(*member);
    } else {
      auto first = own_member(0, keep_training, said);
      if (!first) return false;
      members_[chain] = maker_.copy(chain, *first);
    }
    for (const std::string& text : said) say(text);
    return true;
  }

  /// Where all chains start from one member, one process makes it and the others wait.
  std::optional<HostVector<float>> own_member(std::size_t i, const std::function<bool()>& keep_training,
                                              std::vector<std::string>& said) {
    if (maker_.own() == e_.chains()) return maker_.own_member(i, keep_training, said);
    const std::lock_guard guard(first_member_);
    while (keep_training()) {
      if (fs::exists(RunPaths(run_).member(i))) return maker_.own_member(i, keep_training, said);
      const auto lock = LockFile::take(RunPaths(run_).member_lock(i), true, nullptr, patience_);
      if (lock) return maker_.own_member(i, keep_training, said);
      std::this_thread::sleep_for(50ms);
    }
    return std::nullopt;
  }

  /// Moves those of the chains that nobody else has. @return whether one of them was moved
  bool move(const std::vector<std::uint32_t>& chains) {
    EnsembleOptions ensemble = ensemble_options(e_, directory_, options_);
    ensemble.chains = chains;
    ensemble.resume = true;  // from what the chain itself has; whether one may is decided with its lock
    ensemble.claim = [this](std::uint32_t chain) { return claim(chain); };
    const auto caller = ensemble.on_progress;
    ensemble.on_progress = [&](const Progress& progress) {
      pass_messages_on();
      if (caller) caller(all_ ? all_->of(progress, false) : progress);
      if (live_) live_->show(all_->of(progress, false));
    };
    bool moved = false;
    const auto records = run_ensemble(ensemble, [&](std::uint32_t chain) {
      auto setup = chain_setup(e_, chain, members_[chain]);
      members_[chain] = HostVector<float>();
      return setup;
    });
    for (const ChainRecord& record : records) {
      moved = moved || record.step > 0;
      if (record.step > 0 && record.status != ChainStatus::running)
        directory_.log(fmt::format("chain {} has ended", record.chain));
      if (record.status == ChainStatus::failed && record.step > 0)
        directory_.log(fmt::format("chain {} failed: {}", record.chain, record.reason));
    }
    pass_messages_on();
    return moved;
  }

  void pass_messages_on() {
    std::vector<std::string> said;
    {
      const std::lock_guard guard(mutex_);
      said.swap(messages_);
    }
    if (options_.on_message)
      for (const std::string& text : said) options_.on_message(text);
  }

  /// The chains that have not ended in the order in which this rank tries them: its own, those with most
  /// steps left first, then the others' from the end.
  std::vector<std::uint32_t> order() const {
    struct Pending {
      std::uint32_t chain;
      std::size_t stored;
    };
    std::vector<Pending> pending;
    for (std::uint32_t i = 0; i < e_.chains(); ++i) {
      const ChainState state = survey_.chains()[i].state;
      if (state == ChainState::complete || state == ChainState::failed || state == ChainState::live) continue;
      std::size_t stored = 0;
      try {
        if (DrawsReader::exist(draws_path(run_, i))) stored = DrawsReader(draws_path(run_, i)).rows();
      } catch (const Error&) {
        // Its checkpoint, if any, will say what is wrong.
      }
      pending.push_back({i, stored});
    }
    std::stable_sort(pending.begin(), pending.end(),
                     [](const Pending& a, const Pending& b) { return a.stored < b.stored; });
    const Launch& launch = *options_.launch;
    std::vector<std::uint32_t> mine, others;
    for (std::size_t i = 0; i < pending.size(); ++i)
      (i % launch.ranks == launch.rank ? mine : others).push_back(pending[i].chain);
    mine.insert(mine.end(), others.rbegin(), others.rend());
    return mine;
  }

  void share() {
    const Launch& launch = *options_.launch;
    // Of ranks that begin and end together the first stays, and has the last word.
    std::unique_ptr<LockFile> stays;
    if (launch.together && launch.rank == 0)
      stays = LockFile::take(RunPaths(run_).first_rank_lock(), true, nullptr, patience_);
    if (launch.rank == 0) {
      all_.emplace(survey_);
      live_.emplace(directory_, options_.snapshot);
    } else {
      options_.on_progress = {};
    }
    say_that_it_runs();
    while (true) {
      survey_.look();
      if (stopped()) return interrupted();
      const bool more =
          survey_.count(ChainState::open) > 0 || (options_.resume && survey_.count(ChainState::left) > 0);
      if (more) {
        if (!move(order())) pause();
        continue;
      }
      if (survey_.all_ended()) {
        if (finish(stays != nullptr)) return;
        if (!stays) return;
      } else if (survey_.count(ChainState::live) == 0) {
        if (!somebody_stays(stays != nullptr)) missing();
        return;
      } else if (!stays) {
        return;
      }
      if (options_.on_progress) options_.on_progress(all_->of({}, false));
      if (live_) live_->show(all_->of({}, false));
      pause();
    }
  }

  static void pause() { std::this_thread::sleep_for(200ms); }

  bool somebody_stays(bool it_is_me) const {
    return !it_is_me && look_at_lock(RunPaths(run_).first_rank_lock(), patience_).state == LockState::held;
  }

  /// Evaluates, unless another does it or has done it. @return whether the run is evaluated
  bool finish(bool stays) {
    if (somebody_stays(stays)) return true;
    // Of several that end at the same moment one has the lock, and writes the state before it lets go of it.
    auto lock = LockFile::take(RunPaths(run_).lock(), true, nullptr, patience_);
    if (!lock) return false;
    const std::size_t failed = survey_.count(ChainState::failed);
    if (const auto state = read_run_state(run_);
        state && state->phase == "evaluation" && fs::exists(RunPaths(run_).metrics()) &&
        (state->status == "complete" ||
         (failed > 0 && state->reason == failed_reason(failed, e_.chains())))) {
      summary_.status = failed == 0 ? RunStatus::complete : RunStatus::failed;
      summary_.failed_chains = failed;
      summary_.part = failed == 0 ? "the run is complete" : state->reason;
      return true;
    }
    if (options_.on_progress) options_.on_progress(all_->of({}, true));
    if (live_) live_->show(all_->of({}, true));
    RunDirectory whole = RunDirectory::held(run_, std::move(lock));
    RunOptions options = options_;
    options.launch.reset();
    options.threads = evaluation_threads_;
    summary_ = run_phases(e_, whole, options, Phases::finishing);
    return true;
  }

  void interrupted() {
    summary_.status = RunStatus::interrupted;
    summary_.reason = "interrupted during sampling";
    summary_.incomplete_chains = e_.chains() - survey_.count(ChainState::complete);
    directory_.log(summary_.reason);
    write_state({"interrupted", "sampling", summary_.reason});
  }

  void missing() {
    std::string who;
    for (const SurveyedChain& chain : survey_.chains())
      if (chain.state == ChainState::left && chain.holder.pid > 0 && who.empty())
        who = fmt::format(" (chain {}: {} has gone)", chain.progress.chain, chain.holder.name());
    summary_.status = RunStatus::interrupted;
    summary_.incomplete_chains = survey_.count(ChainState::left) + survey_.count(ChainState::open);
    summary_.part = fmt::format("{} of {} chains are missing: {}{}", summary_.incomplete_chains, e_.chains(),
                                survey_.numbers({ChainState::left, ChainState::open}), who);
    directory_.log(summary_.part);
    write_state({"interrupted", "sampling", summary_.part});
  }

  void say_what_was_done() {
    const std::size_t complete = survey_.count(ChainState::complete),
                      failed = survey_.count(ChainState::failed);
    std::vector<std::uint32_t> not_done;
    for (const std::uint32_t chain : options_.chains) {
      const ChainState state = survey_.chains()[chain].state;
      if (state == ChainState::failed) ++summary_.failed_chains;
      if (state != ChainState::failed && state != ChainState::complete) not_done.push_back(chain);
    }
    summary_.part = fmt::format("{} of {} chains are complete{}", complete, e_.chains(),
                                failed > 0 ? fmt::format(", {} failed", failed) : "");
    if (!not_done.empty()) {
      summary_.status = RunStatus::interrupted;
      summary_.incomplete_chains = not_done.size();
      summary_.part += "; not these: " + number_list(not_done);
    }
    directory_.log(summary_.part);
    if (survey_.count(ChainState::live) == 0)
      write_state({"interrupted", "sampling", fmt::format("{}, not put together", summary_.part)});
  }

  /// The state of the whole run, as far as no other process is at it.
  void write_state(const RunState& state) const {
    if (LockFile::take(RunPaths(run_).lock(), true, nullptr, patience_)) directory_.write_state(state);
  }
  void say_that_it_runs() const {
    const auto state = read_run_state(run_);
    if (state && (state->status == "complete" || (state->status == "running" && state->phase == "sampling")))
      return;
    write_state({"running", "sampling", ""});
  }

  Experiment& e_;
  RunDirectory directory_;
  RunOptions options_;
  int evaluation_threads_;
  LockPatience patience_;
  fs::path run_;
  std::vector<HostVector<float>> members_;  // of the chains under way
  MemberMaker maker_;
  ChainSurvey survey_;
  std::map<std::uint32_t, std::unique_ptr<LockFile>> chosen_;  // guarded by mutex_ once chains run
  std::optional<ProgressOfAll> all_;                           // of the first rank
  std::optional<LiveStatus> live_;
  std::mutex mutex_, first_member_;
  std::vector<std::string> messages_;  // guarded by mutex_
  RunSummary summary_;
};

void check_chains(const std::vector<std::uint32_t>& chains, std::size_t count) {
  for (const std::uint32_t chain : chains)
    if (chain >= count)
      throw Error("--chains",
                  fmt::format("{} is none of the {} chains (training.sampler.n_chains)", chain, count),
                  fmt::format("give numbers from 0 to {}", count - 1));
}

}  // namespace

RunSummary run_part(const Config& config, const RunOptions& given,
                    const std::shared_ptr<const Table>& table) {
  RunOptions options = given;
  const char* which = options.launch ? "--distributed" : "--chains";
  if (options.out.empty())
    throw Error(which, "several processes work in one folder, and none is named", "name it with --out DIR");
  check_chains(options.chains, std::size_t(config.training.sampler.n_chains));
  if (options.launch && options.threads == 0)
    options.threads = int(threads_of_rank(*options.launch, ensemble::usable_cores(),
                                          std::size_t(std::thread::hardware_concurrency())));
  const fs::path path = options.out;
  const auto located = [&] { return RunPaths(path).is_run() ? config_of_existing(config, options) : config; };
  Experiment e = prepare(located(), table);
  const RunEstimate plan = estimate_of(e, options.threads);
  if (plan.device_bytes && plan.chains_at_once > 0) options.threads = int(plan.chains_at_once);
  AvailableResources available = available_resources(path);
  if (RunPaths(path).is_run()) available.disk_bytes = std::numeric_limits<double>::infinity();
  refuse_what_does_not_fit(plan, available, path);
  if (auto fresh = RunDirectory::create_unless_there(path, &e.config,
                                                     {.takeover_seconds = options.takeover_seconds})) {
    write_new_run(*fresh, e);
  } else {
    require_known_run(path);
    check_same_run(path, e);
  }
  return Part(e, RunDirectory::join(path), options, given.threads).go();
}

}  // namespace smile::experiment

namespace smile {

std::vector<std::uint32_t> parse_chain_list(const std::string& text) {
  const auto wrong = [&](const std::string& what) -> Error {
    return {"--chains", what, "give numbers and ranges such as 3-5,9"};
  };
  std::vector<std::uint32_t> chains;
  std::size_t at = 0;
  const auto number = [&] {
    const std::size_t begin = at;
    std::uint64_t value = 0;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9' && at - begin < 10)
      value = 10 * value + std::uint64_t(text[at++] - '0');
    if (at == begin || value > 9'999'999) throw wrong(fmt::format("`{}` is no list of chains", text));
    return std::uint32_t(value);
  };
  while (true) {
    const std::uint32_t first = number();
    std::uint32_t last = first;
    if (at < text.size() && text[at] == '-') ++at, last = number();
    if (last < first) throw wrong(fmt::format("{}-{} runs backwards", first, last));
    for (std::uint32_t chain = first; chain <= last; ++chain) {
      if (std::find(chains.begin(), chains.end(), chain) != chains.end())
        throw wrong(fmt::format("chain {} is named twice", chain));
      chains.push_back(chain);
    }
    if (at == text.size()) return chains;
    if (text[at++] != ',') throw wrong(fmt::format("`{}` is no list of chains", text));
  }
}

}  // namespace smile

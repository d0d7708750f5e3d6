// SPDX-License-Identifier: Apache-2.0
#include "smile/ensemble/ensemble_runner.hpp"

#include <chrono>
#include <cmath>
#include <mutex>

#include "ensemble/chain_runner.hpp"
#include "smile/ensemble/parallel.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using ensemble::Checkpoint;
using ensemble::LiveChain;

/// The threads' shared state: which chain is next, who is done, what went wrong.
class Pool {
 public:
  Pool(const EnsembleOptions& options, const std::function<ChainSetup(std::uint32_t)>& make_chain)
      : options_(options),
        make_chain_(make_chain),
        live_(options.chains.size()),
        records_(options.chains.size()),
        claims_(options.chains.size()) {}

  std::vector<ChainRecord> run() {
    begin_ = std::chrono::steady_clock::now();
    ensemble::parallel_for(
        options_.chains.size(), options_.threads, [this](std::size_t i) { run_chain(i); },
        [this](bool finished) { show(finished); }, [this] { aborted_ = true; });
    return std::move(records_);
  }

 private:
  bool stopping() const {
    return aborted_.load(std::memory_order_relaxed) ||
           (options_.stop && options_.stop->load(std::memory_order_relaxed));
  }

  void run_chain(std::size_t i) {
    const std::uint32_t chain = options_.chains[i];
    if (stopping() && options_.claim) {
      records_[i].chain = chain;
      return;
    }
    const std::shared_ptr<ChainClaim> claim = options_.claim ? options_.claim(chain) : nullptr;
    if (options_.claim && !claim) {
      records_[i].chain = chain;
      return;
    }
    const Claimed claimed(*this, i, claim);
    const fs::path path = checkpoint_path(options_.directory, chain);
    std::optional<Checkpoint> checkpoint;
    if (options_.resume) {
      std::string remark;
      checkpoint = ensemble::read_checkpoint(path, remark);
      if (!remark.empty()) say(remark);
      if (checkpoint && checkpoint->digest != options_.digest)
        throw Error(path.string(), "the checkpoint belongs to another configuration or other data",
                    "resume with the configuration of the run, or start a new run", ErrorKind::run);
    }
    if (checkpoint && checkpoint->record.status != ChainStatus::running) {
      records_[i] = std::move(checkpoint->record);
      show_ended(records_[i], live_[i]);
      return;
    }
    if (stopping()) {
      if (checkpoint) records_[i] = std::move(checkpoint->record);
      records_[i].chain = chain;
      return;
    }
    ensemble::ChainRunner runner(options_, chain, make_chain_(chain), std::move(checkpoint), live_[i]);
    for (const auto& text : runner.remarks()) say(text);
    records_[i] = runner.run([this] { return stopping(); }, claim.get());
  }

  /// Lets the display know a claim while its chain runs.
  class Claimed {
   public:
    Claimed(Pool& pool, std::size_t i, const std::shared_ptr<ChainClaim>& claim) : pool_(pool), i_(i) {
      const std::lock_guard lock(pool_.mutex_);
      pool_.claims_[i_] = claim;
    }
    ~Claimed() {
      const std::lock_guard lock(pool_.mutex_);
      pool_.claims_[i_].reset();
    }
    Claimed(const Claimed&) = delete;
    Claimed& operator=(const Claimed&) = delete;

   private:
    Pool& pool_;
    std::size_t i_;
  };

  /// A chain that an earlier session ended.
  static void show_ended(const ChainRecord& record, LiveChain& live) {
    live.done = live.total = record.total_steps;
    live.warmup = record.warmup_steps;
    live.refused = record.monitor.warmup.refused() + record.monitor.sampling.refused();
    live.step_size = record.monitor.last_step_size;
    live.log_density = record.monitor.log_density;
  }

  void say(const std::string& text) {
    const std::lock_guard lock(mutex_);
    remarks_.push_back(text);
  }

  /// Passes remarks and progress on, from the calling thread.
  void show(bool finished) {
    std::vector<std::string> remarks;
    {
      const std::lock_guard lock(mutex_);
      remarks.swap(remarks_);
    }
    if (options_.on_message)
      for (const auto& remark : remarks) options_.on_message(remark);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    Progress progress = gather(seconds);
    // What an earlier session did is not this session's speed.
    if (!earlier_) earlier_ = options_.resume ? progress.done : 0;
    progress.per_second =
        seconds > 0 ? double(progress.done - std::min(*earlier_, progress.done)) / seconds : 0;
    progress.finished = finished;
    for (std::size_t i = 0; i < claims_.size(); ++i) {
      std::shared_ptr<ChainClaim> claim;
      {
        const std::lock_guard lock(mutex_);
        claim = claims_[i];
      }
      if (claim) claim->tell(progress.chains[i]);
    }
    if (options_.on_progress) options_.on_progress(progress);
  }

  Progress gather(double seconds) const {
    Progress progress;
    progress.phase = "sampling";
    progress.seconds = seconds;
    double log_density = 0, log_step = 0;
    std::size_t with_density = 0, with_step = 0, known = 0;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < live_.size(); ++i) {
      const LiveChain& chain = live_[i];
      progress.chains.push_back({options_.chains[i], chain.done, chain.total, chain.warmup, chain.refused,
                                 chain.log_density, chain.step_size});
      progress.done += chain.done;
      progress.refused += chain.refused;
      if (chain.total > 0) {
        total += chain.total;
        ++known;
      }
      if (const double value = chain.log_density; std::isfinite(value)) {
        log_density += value;
        ++with_density;
      }
      if (const double step = chain.step_size; step > 0) {
        log_step += std::log(step);
        ++with_step;
      }
    }
    // Chains that have not begun will take as many steps as those that have.
    if (known > 0) progress.total = total / known * live_.size();
    if (with_density > 0) progress.log_density = log_density / double(with_density);
    if (with_step > 0) progress.step_size = std::exp(log_step / double(with_step));
    return progress;
  }

  const EnsembleOptions& options_;
  const std::function<ChainSetup(std::uint32_t)>& make_chain_;
  std::vector<LiveChain> live_;
  std::vector<ChainRecord> records_;
  std::chrono::steady_clock::time_point begin_;
  std::optional<std::uint64_t> earlier_;  // steps of an earlier session
  std::atomic<bool> aborted_{false};
  std::mutex mutex_;
  std::vector<std::string> remarks_;                 // guarded by mutex_, as are
  std::vector<std::shared_ptr<ChainClaim>> claims_;  // of the chains that run now
};

}  // namespace

std::optional<ChainRecord> read_chain_record(const fs::path& directory, std::uint32_t chain) {
  try {
    std::string remark;
    auto checkpoint = ensemble::read_checkpoint(checkpoint_path(directory, chain), remark);
    if (!checkpoint) return std::nullopt;
    return std::move(checkpoint->record);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::vector<ChainRecord> run_ensemble(const EnsembleOptions& options,
                                      const std::function<ChainSetup(std::uint32_t chain)>& make_chain) {
  if (options.chains.empty()) return {};
  for (const char* folder : {kDrawsFolder, kTraceFolder, kCheckpointFolder}) {
    std::error_code failure;
    fs::create_directories(options.directory / folder, failure);
    if (failure)
      throw Error((options.directory / folder).string(), "cannot make the folder (" + failure.message() + ")",
                  "choose a folder you may write to", ErrorKind::run);
  }
  return Pool(options, make_chain).run();
}

}  // namespace smile

#include "smile/ensemble/ensemble_runner.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "ensemble/chain_runner.hpp"

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
        records_(options.chains.size()) {}

  std::vector<ChainRecord> run() {
    const std::size_t count = std::min(std::max<std::size_t>(1, options_.threads), options_.chains.size());
    active_ = count;
    std::vector<std::thread> threads;
    threads.reserve(count);
    for (std::size_t i = 0; i < count; ++i) threads.emplace_back([this] { work(); });
    watch();
    for (auto& thread : threads) thread.join();
    if (error_) std::rethrow_exception(error_);
    return std::move(records_);
  }

 private:
  bool stopping() const {
    return aborted_.load(std::memory_order_relaxed) ||
           (options_.stop && options_.stop->load(std::memory_order_relaxed));
  }

  void work() {
    for (std::size_t i = next_++; i < options_.chains.size(); i = next_++) {
      try {
        run_chain(i);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
        aborted_ = true;
      }
    }
    const std::lock_guard lock(mutex_);
    --active_;
    changed_.notify_all();
  }

  void run_chain(std::size_t i) {
    const std::uint32_t chain = options_.chains[i];
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
      live_[i].done = live_[i].total = records_[i].total_steps;
      return;
    }
    if (stopping()) {
      if (checkpoint) records_[i] = std::move(checkpoint->record);
      records_[i].chain = chain;
      return;
    }
    ensemble::ChainRunner runner(options_, chain, make_chain_(chain), std::move(checkpoint), live_[i]);
    records_[i] = runner.run([this] { return stopping(); });
  }

  void say(const std::string& text) {
    const std::lock_guard lock(mutex_);
    remarks_.push_back(text);
  }

  /// Shows progress and passes remarks on until all threads are done.
  void watch() {
    const auto begin = std::chrono::steady_clock::now();
    std::uint64_t first = 0;
    bool first_known = false;
    std::unique_lock lock(mutex_);
    while (true) {
      const bool finished =
          changed_.wait_for(lock, std::chrono::milliseconds(200), [this] { return active_ == 0; });
      const std::vector<std::string> remarks = std::exchange(remarks_, {});
      lock.unlock();
      if (options_.on_message)
        for (const auto& remark : remarks) options_.on_message(remark);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      Progress progress = gather(seconds);
      // What an earlier session or the first 200 ms did is not this session's speed.
      if (!first_known) {
        first = options_.resume ? progress.done : 0;
        first_known = true;
      }
      progress.per_second =
          seconds > 0 ? double(progress.done - std::min(first, progress.done)) / seconds : 0;
      progress.finished = finished;
      if (options_.on_progress) options_.on_progress(progress);
      if (finished) return;
      lock.lock();
    }
  }

  Progress gather(double seconds) const {
    Progress progress;
    progress.phase = "sampling";
    progress.seconds = seconds;
    double log_density = 0, log_step = 0;
    std::size_t with_density = 0, with_step = 0, known = 0;
    std::uint64_t total = 0;
    for (const LiveChain& chain : live_) {
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
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> aborted_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t active_ = 0;            // guarded by mutex_
  std::exception_ptr error_;          // guarded by mutex_
  std::vector<std::string> remarks_;  // guarded by mutex_
};

}  // namespace

fs::path draws_path(const fs::path& directory, std::uint32_t chain) {
  return directory / "samples" / fmt::format("chain-{:02}.npy", chain);
}
fs::path warmup_draws_path(const fs::path& directory, std::uint32_t chain) {
  return directory / "samples" / fmt::format("warmup-{:02}.npy", chain);
}
fs::path trace_path(const fs::path& directory, std::uint32_t chain) {
  return directory / "trace" / fmt::format("chain-{:02}.csv", chain);
}
fs::path monitor_path(const fs::path& directory, std::uint32_t chain) {
  return directory / "trace" / fmt::format("chain-{:02}-monitor.csv", chain);
}
fs::path checkpoint_path(const fs::path& directory, std::uint32_t chain) {
  return directory / "checkpoint" / fmt::format("chain-{:02}.bin", chain);
}

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
  for (const char* folder : {"samples", "trace", "checkpoint"}) {
    std::error_code failure;
    fs::create_directories(options.directory / folder, failure);
    if (failure)
      throw Error((options.directory / folder).string(), "cannot make the folder (" + failure.message() + ")",
                  "choose a folder you may write to", ErrorKind::run);
  }
  return Pool(options, make_chain).run();
}

}  // namespace smile

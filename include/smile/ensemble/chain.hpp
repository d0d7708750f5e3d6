// SPDX-License-Identifier: Apache-2.0
/// One chain in memory: a sampler over its target, carried on step by step, with what its steps were like.
/// The step-size search runs its chains so; the runner of an ensemble adds files. For programs that embed the
/// library:
///
///     Chain chain(std::move(setup), {.seed = 1});
///     chain.advance(chain.record().total_steps, [&](const StepReport& report, std::uint64_t t) {
///       ...  // chain.position() is the state after step t
///       return true;
///     });
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "smile/ensemble/chain_loop.hpp"
#include "smile/ensemble/chain_monitor.hpp"
#include "smile/ensemble/stream_normals.hpp"
#include "smile/kernels/host_vector.hpp"
#include "smile/samplers/sampler.hpp"
#include "smile/targets/target.hpp"

namespace smile {

using ChainVector = HostVector<float>;

/// What one chain needs; made on the thread that runs it and dropped when it is done.
struct ChainSetup {
  std::unique_ptr<Target<ChainVector>> target;
  std::unique_ptr<Sampler<ChainVector>> sampler;  ///< not started
  ChainVector start;                              ///< @shape [d]
  bool returns_after_warmup = false;              ///< sampling begins where the warm-up began
  /// Log-likelihood of all training rows, for the monitors; may be empty.
  std::function<double(const ChainVector&)> training_log_likelihood;
};

enum class ChainStatus : std::uint8_t { running, complete, failed };

/// A chain as it stands.
struct ChainRecord {
  std::uint32_t chain = 0;
  ChainStatus status = ChainStatus::running;  ///< running: interrupted, can be resumed
  std::string reason;                         ///< of a failure
  std::uint64_t step = 0;                     ///< steps done
  std::uint64_t warmup_steps = 0, total_steps = 0;
  std::uint64_t stored = 0;  ///< draws in samples/chain-KK.npy
  std::uint32_t draws_crc32 =
      0;  ///< CRC-32 of them as float32, as they are read again, in the order of storing
  std::uint64_t dimension = 0;
  double seconds = 0;  ///< time spent in the chain's loop, all sessions together
  ChainMonitor monitor;
  std::vector<std::string> findings;                  ///< of the sampler and the monitors, one sentence each
  std::vector<std::pair<std::string, double>> tuned;  ///< tuned quantities by name
  std::uint32_t start_crc32 = 0;  ///< CRC-32 of the position from which it started; set where files are kept
  std::string build;              ///< the program that has run it, as its keeper calls it
};

struct ChainOptions {
  std::uint64_t seed = 0;   ///< its random numbers are functions of (seed, chain) alone
  std::uint32_t chain = 0;  ///< number
  FailureRule failure = {};
};

class Chain {
 public:
  /// Starts the sampler. @throws Error where the sampler cannot run this target
  Chain(ChainSetup setup, const ChainOptions& options);

  /// Goes on where a record and state() were left. @return false where the state holds more than the
  /// sampler's
  bool restore(ChainRecord record, std::vector<char> state);
  /// The sampler's state, from which a chain goes on bit for bit.
  std::vector<char> state();

  /// Goes on to step `until`, at most the sampler's last, or until the chain fails or `sink` says stop. After
  /// the last step the chain is complete or has failed.
  /// @param sink  called after every step with (const StepReport&, step number); false: stop here
  template <class Sink>
  void advance(std::uint64_t until, const Sink& sink) {
    Watch watch{*this};
    run_steps(*setup_.sampler, *setup_.target, normals_, record_.step, std::min(until, record_.total_steps),
              watch, sink);
    if (record_.step == record_.total_steps && record_.status == ChainStatus::running) conclude();
  }

  const ChainVector& position() const { return setup_.sampler->position(); }
  const ChainSetup& setup() const { return setup_; }
  const ChainRecord& record() const { return record_; }
  /// What its keeper adds: draws stored, seconds, findings.
  ChainRecord& record() { return record_; }
  bool failed() const { return record_.status == ChainStatus::failed; }

 private:
  struct Watch {
    Chain& chain;
    void add(const StepReport& report, std::uint64_t t) { chain.add(report, t); }
    bool failed() const { return chain.record_.status != ChainStatus::running; }
  };
  void add(const StepReport& report, std::uint64_t t);
  void judge();
  void conclude();

  ChainSetup setup_;
  FailureRule failure_;
  StreamNormals<ChainVector> normals_;
  ChainRecord record_;
};

/// A chain from its start to its end, with its draws in memory.
struct ChainInMemory {
  ChainRecord record;
  std::vector<float> draws;  ///< @shape [record.stored, d]
};
/// @param thinning  every how many steps of the sampling phase a draw is kept, ≥ 1
ChainInMemory run_in_memory(ChainSetup setup, const ChainOptions& options, std::uint64_t thinning = 1);

}  // namespace smile

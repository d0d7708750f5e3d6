// SPDX-License-Identifier: Apache-2.0
/// One chain of an ensemble: what is kept of its steps in files.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ensemble/text_appender.hpp"
#include "smile/ensemble/checkpoint.hpp"
#include "smile/ensemble/ensemble_runner.hpp"
#include "smile/files/draws.hpp"

namespace smile::ensemble {

/// A chain's numbers as the progress display reads them while it runs.
struct LiveChain {
  std::atomic<std::uint64_t> done{0}, total{0}, warmup{0}, refused{0};
  std::atomic<double> log_density{StepReport::kNone}, step_size{StepReport::kNone};
};

class ChainRunner {
 public:
  /// @param checkpoint  where the chain goes on; nothing to start it
  ChainRunner(const EnsembleOptions& options, std::uint32_t chain, ChainSetup setup,
              std::optional<Checkpoint> checkpoint, LiveChain& live);

  /// Steps until the chain is complete, fails or `stop` says so; a checkpoint is written at each of these.
  /// @param claim  may be null
  /// @throws Error where the chain has become another process's, without another byte in its files
  ChainRecord run(const std::function<bool()>& stop, ChainClaim* claim = nullptr);
  /// What was found amiss, but not in the way, where the chain goes on.
  const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  void begin(std::optional<Checkpoint> checkpoint);
  void keep(const StepReport& report, std::uint64_t t);
  void store(const StepReport& report, std::uint64_t t);
  void trace(const StepReport& report, std::uint64_t t);
  void close_window(std::uint64_t t);
  void remember_velocity(std::uint64_t t);
  void save();
  void publish(std::uint64_t t);
  void require(ChainClaim* claim) const;

  const EnsembleOptions& options_;
  Chain chain_;
  ChainRecord& record_;  // the chain's
  LiveChain& live_;
  std::vector<std::string> remarks_;
  std::optional<DrawsWriter> draws_, warmup_draws_;
  std::optional<TextAppender> trace_, monitor_, draws_trace_;
  std::uint64_t trace_interval_ = 1;
  VelocityMemory velocity_;
  ChainVector velocity_now_;
  std::vector<float> rounded_;  // a draw in half precision
  std::chrono::steady_clock::time_point clock_;
};

}  // namespace smile::ensemble

// SPDX-License-Identifier: Apache-2.0
/// Moves K chains, each through its own target with its own sampler, and keeps what they leave: draws,
/// traces, checkpoints. Results do not depend on the number of threads, on which chains run, or on where a
/// run was interrupted (spec 5.3). Knows nothing of configuration files.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "smile/ensemble/chain.hpp"
#include "smile/ensemble/chain_files.hpp"
#include "smile/ensemble/progress.hpp"
#include "smile/files/draws.hpp"

namespace smile {

/// A chain that this process alone works on, as long as the object lives.
class ChainClaim {
 public:
  virtual ~ChainClaim() = default;
  /// Whether another process has it by now: then nothing more is written. Asked often.
  virtual bool lost() = 0;
  /// How far the chain is, for other processes to read. Called some five times a second.
  virtual void tell(const ChainProgress& progress) = 0;
};

struct EnsembleOptions {
  std::filesystem::path directory;    ///< chain_files.hpp are made in it
  std::vector<std::uint32_t> chains;  ///< numbers of the chains to run; their files carry these numbers
  std::uint64_t seed = 0;
  std::uint64_t thinning = 1;           ///< every how many steps of the sampling phase a draw is stored
  DrawsWriter::Options draws = {};      ///< type of the stored numbers, size above which a draw has a file
  bool keep_warmup = false;             ///< stores warm-up draws, thinned alike, in samples/warmup-KK.npy
  double max_nonfinite_fraction = 0.5;  ///< a chain fails where more of its last 100 steps were not finite
  std::size_t threads = 1;
  double checkpoint_seconds = 10;
  bool resume = false;  ///< go on from the checkpoints that are there
  std::string digest;   ///< identifies configuration and data; another one is refused on resume
  std::string build;    ///< the program, for the chains' records
  /// Asked for each chain before anything of it is read or made, from its thread; null: it is left to others,
  /// and its record stays as it is made. Empty: all chains are this process's.
  std::function<std::shared_ptr<ChainClaim>(std::uint32_t chain)> claim;
  const std::atomic<bool>* stop = nullptr;           ///< set from outside: finish the step, write checkpoints
  std::function<void(const Progress&)> on_progress;  ///< called from the thread of run_ensemble()
  std::function<void(const std::string&)> on_message;  ///< remarks, from the thread of run_ensemble()
};

/// Runs the chains; chains that fail do not stop the others.
/// @param make_chain  called once for each chain that is not complete, possibly from several threads at once
/// @return one record a chain, in the order of `options.chains`
/// @throws Error where draws, traces or checkpoints cannot be written or read; the chains then stop at their
/// last
///         checkpoint and can be resumed
std::vector<ChainRecord> run_ensemble(const EnsembleOptions& options,
                                      const std::function<ChainSetup(std::uint32_t chain)>& make_chain);

/// The record in a chain's checkpoint, or nothing where there is none (or none that can be read).
std::optional<ChainRecord> read_chain_record(const std::filesystem::path& directory, std::uint32_t chain);

}  // namespace smile

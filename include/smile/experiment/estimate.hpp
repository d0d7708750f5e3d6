/// What a run will need, before it starts.
#pragma once

#include <cstddef>
#include <cstdint>

#include "smile/experiment/config.hpp"

namespace smile {

struct RunEstimate {
  std::size_t dimension = 0;           ///< d, entries of θ
  std::uint64_t steps_per_chain = 0;   ///< warm-up and sampling, epoch_wise_sampling carried out
  std::uint64_t stored_per_chain = 0;  ///< at most; exploration parts of a cycle store nothing
  std::uint64_t gradients_per_chain = 0;
  double draws_bytes = 0;        ///< on disk
  double memory_bytes = 0;       ///< peak, resident; does not depend on the number of draws
  double warmstart_seconds = 0;  ///< at most: max_epochs for every member
  double sampling_seconds = 0;
};

/// Rough: time from the engine's arithmetic rate on one core of a current x86 machine (50 GFLOP/s) and a
/// memory rate of 8 GB/s, chains on `threads` threads; within a factor of about three.
/// @param inputs  features of a row   @param threads ≥ 1
RunEstimate estimate_run(const Config& config, std::size_t training_rows, std::size_t inputs, int threads);

}  // namespace smile

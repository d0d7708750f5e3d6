// SPDX-License-Identifier: Apache-2.0
/// Log prior and log-likelihood of stored draws over training rows.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "experiment/draws.hpp"

namespace smile::experiment {

struct LogDensities {
  std::size_t draws = 0;                          ///< of each chain
  std::vector<double> log_prior, log_likelihood;  ///< @shape [chains, draws]
};

struct DensityPlan {
  std::size_t draws = 0;  ///< the first so many of each chain
  std::size_t every = 1;  ///< and of these each `every`-th
  /// 0: all training rows. Else so many drawn at random, the same for every draw, and the log-likelihood of
  /// all is estimated from them: a good measure of how the chains mix, at a cost that does not grow with N.
  std::size_t rows = 0;
  std::size_t threads = 1;
  std::function<void(std::size_t done)> on_draw;  ///< from the calling thread
  const std::atomic<bool>* stop = nullptr;
};

/// Training rows drawn at random, the same for every use, and N over their number.
struct TrainingSample {
  std::vector<std::uint32_t> rows;  ///< none: all
  double scale = 1;
};
/// @param count  0: all
TrainingSample sample_training_rows(const Experiment& experiment, std::size_t count);

/// @cost one forward pass over the rows a draw
/// @return nothing where it was stopped
std::optional<LogDensities> log_densities(const Experiment& experiment, std::span<const ChainDraws> chains,
                                          const DensityPlan& plan, const CompleteDraw& complete = {});

}  // namespace smile::experiment

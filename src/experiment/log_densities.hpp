/// Log prior and log-likelihood of stored draws over all training rows.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "experiment/draws.hpp"

namespace smile::experiment {

struct LogDensities {
  std::size_t draws = 0;                          ///< of each chain
  std::vector<double> log_prior, log_likelihood;  ///< @shape [chains, draws]
};

/// Of every `every`-th of the first `count` draws of each chain.
/// @cost one forward pass over the training rows a draw
LogDensities log_densities(const Experiment& experiment, std::span<const ChainDraws> chains,
                           std::size_t count, std::size_t every, std::size_t threads,
                           const CompleteDraw& complete = {});

}  // namespace smile::experiment

// SPDX-License-Identifier: Apache-2.0
/// Whether draws are as hot as the posterior, by layer, and whether directions without data have the spread
/// of their prior: from the draws and the gradients of the log-posterior at some of them, after the run.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/log_densities.hpp"

namespace smile::experiment {

/// T̂ = −mean over draws and parameters of (θ − c)·∇L, c the mean of the chain's draws: 1 at the posterior,
/// whatever its form (integration by parts), above 1 where the draws are too hot. Below 1 a layer has not
/// moved through its posterior yet: a direction that a chain has hardly moved in counts little.
/// @source spec 06, 6.5
struct LayerTemperature {
  std::string layer;  ///< tensors of one name up to the last dot
  double value;       ///< mean over chains
  double standard_error = std::numeric_limits<double>::quiet_NaN();  ///< over chains; NaN of one
  std::vector<double> windows{};  ///< of the draws of each tenth, about the centre of all; NaN: none of them
};

struct PosteriorChecks {
  std::vector<LayerTemperature> layers;
  /// Parameters in which the likelihood is flat: its gradient never reaches a thousandth of the root mean
  /// square over all parameters.
  std::size_t prior_only = 0;
  double prior_only_spread = std::numeric_limits<double>::quiet_NaN();  ///< mean square over the prior's
};

/// @param plan  `draws` of each chain, `every`-th of which has its gradient taken
/// @cost one pass over all draws, and a gradient over the plan's rows for some
/// @return nothing where it was stopped
std::optional<PosteriorChecks> check_posterior(const Experiment& experiment,
                                               std::span<const ChainDraws> chains, const DensityPlan& plan,
                                               const std::filesystem::path& run);

}  // namespace smile::experiment

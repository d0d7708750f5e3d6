// SPDX-License-Identifier: Apache-2.0
/// Where the chains went: how well the draws of each tenth of the sampling phase predict the validation rows
/// beside the members they started from, and how far from these they are.
/// @source spec 06, 6.5
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "experiment/log_densities.hpp"

namespace smile::experiment {

struct WalkWindow {
  std::size_t first_draw = 0, last_draw = 0;  ///< of each chain, from 0, inclusive
  double validation_lppd =
      0;  ///< of the window's draws of all chains, as one mixture, over some 4,000 validation rows
  /// LPPD of the window less that of the members, and its standard error over the validation rows.
  double gain = 0, gain_error = std::numeric_limits<double>::quiet_NaN();
  double distance = 0;       ///< ‖θ − θ₀‖/√d from the chain's member, mean over chains and draws
  double norm2_per_dim = 0;  ///< ‖θ‖²/d
};

struct Walk {
  double members_lppd = std::numeric_limits<double>::quiet_NaN();  ///< of the chains' members, as one mixture
  std::vector<WalkWindow> windows;  ///< none: there are no validation rows, or too few draws
};

inline constexpr std::size_t kWalkWindows = 10;

/// @param draws  of each chain; some hundred of them are looked at
/// @return nothing where it was stopped
std::optional<Walk> walk_of(const Experiment& experiment, std::span<const ChainDraws> chains,
                            std::size_t draws, std::size_t most, std::size_t threads,
                            const std::atomic<bool>* stop, const std::filesystem::path& run);

}  // namespace smile::experiment

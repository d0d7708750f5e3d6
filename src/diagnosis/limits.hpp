// SPDX-License-Identifier: Apache-2.0
/// Where a number becomes a finding. They are rules of thumb: generous enough that a sound chain has none.
#pragma once

#include <cstddef>

namespace smile::diagnosis {

/// A chain that is this much (nats) less likely in a training row than the median of the chains is far from
/// where the others are. The same of a test row against its member: the average over a sound chain's draws is
/// hardly ever worse than the one network it began with.
inline constexpr double kDeficit = 0.5;
inline constexpr double kResetFactor = 3;       ///< reset frequency against κ, either way
inline constexpr double kManyRefusals = 0.3;    ///< a chain that refuses more hardly moves
inline constexpr double kManyRejections = 0.7;  ///< the same of hmc, nuts, mams, for which to refuse is usual
inline constexpr double kManyDivergences = 1e-2;  ///< share of steps that were not finite
inline constexpr double kPoorFit = 0.2;           ///< Kolmogorov distance of |ΔE| to its Gamma
inline constexpr double kSettled = 1.1;           ///< R̂ below which a quantity counts as settled
inline constexpr double kMoving = 1.5;            ///< chain-wise R̂ above which it clearly is not
inline constexpr std::size_t kFewestDraws = 20;   ///< five for each part of the chain-wise R̂
inline constexpr double kTurnFactor = 2;          ///< turning angle of sampling against the chosen one
/// A step that turns the velocity by less is far too small unless there are so many that it turns around
/// nevertheless: n steps of δ turn it by about √n δ.
inline constexpr double kHardlyTurns = 1e-3;
/// Test LPPD that sampling may lose against its start without a word: another split moves it by as much.
inline constexpr double kLowered = 0.05;
/// Temperature of a layer, by its draws and gradients, above which the draws are much wider than the
/// posterior. The default sampler leaves up to 1.25 where there are hundreds of batches an epoch (spec
/// 06, 6.3).
inline constexpr double kTooHot = 1.3;
/// Mean square of directions without data over the prior's, either way.
inline constexpr double kPriorOnlyFactor = 2;
/// First step size over the one that warm-up ended with, above which the search began much too high.
inline constexpr double kBeganTooLarge = 1e3;

}  // namespace smile::diagnosis

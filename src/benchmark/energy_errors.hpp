// SPDX-License-Identifier: Apache-2.0
/// |ΔE| of single steps on a density, and how well two laws fit it.
/// @source the paper, Figure 3
#pragma once

#include "smile/benchmark/analytic.hpp"
#include "smile/samplers/microcanonical.hpp"

namespace smile::analytic {

/// One chain from `start`, whose ΔE is measured and moves nothing.
/// @param options  of the sampler with a fixed step size
EnergyErrors energy_errors(const AnalyticalDensity& density, const InjectedNoise& noise,
                           MicrocanonicalOptions options, const std::vector<double>& start,
                           std::uint64_t seed, std::uint64_t steps);

/// The fits to values, which may be in any order.
EnergyErrors fitted(std::vector<double> values);

}  // namespace smile::analytic

// SPDX-License-Identifier: Apache-2.0
/// Sums over the components of a mixture of Normals, with vectors of the machine.
#pragma once

#include <cstddef>
#include <span>

#include "smile/evaluation/mixture.hpp"

namespace smile::evaluation {

/// F, f and f′ of the mixture at one point.
struct MixtureAt {
  double probability = 0, density = 0, slope = 0;
};
/// @accuracy  of the sums over Φ and φ: 1e−14 in absolute terms
MixtureAt mixture_at(const NormalMixture& mixture, double y);

/// The same in single precision, at less than half the cost. @accuracy 3e−8 for many components; y is exact
MixtureAt mixture_near(const NormalMixture& mixture, double y);

/// Where the components' own quantiles m + zσ lie. NaN where a parameter is.
struct ComponentQuantiles {
  double lowest = 0, highest = 0, mean = 0;
  double smallest_sd = 0;
};
ComponentQuantiles component_quantiles(const NormalMixture& mixture, double z);

/// log σ becomes σ, clipped as everywhere (clipped_sigma), in place.
void sigmas_of(std::span<float> log_sigmas);

/// Of the components' means, and the mean of their variances.
struct MixtureMoments {
  double mean = 0, variance = 0, noise = 0;
};
MixtureMoments mixture_moments(const NormalMixture& mixture);

}  // namespace smile::evaluation

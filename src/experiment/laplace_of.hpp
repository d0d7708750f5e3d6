// SPDX-License-Identifier: Apache-2.0
/// The Laplace approximation around a chain's member.
#pragma once

#include "experiment/experiment.hpp"
#include "smile/laplace/laplace.hpp"

namespace smile::experiment {

/// @param member  θ*, whole, @shape [member_dimension()]
LaplacePosterior laplace_around(const Experiment& e, const HostVector<float>& member);
/// @throws Error where the network has none of this form
void require_laplace(const Experiment& e);

}  // namespace smile::experiment

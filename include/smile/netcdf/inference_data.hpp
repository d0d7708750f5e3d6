// SPDX-License-Identifier: Apache-2.0
/// Draws, their statistics and predictions as a NetCDF file that ArviZ opens: arviz.from_netcdf(file). In the
/// library smile::netcdf, which needs libnetcdf; smile::core does not.
#pragma once

namespace smile {

/// Gives the export format `netcdf` (smile/experiment/export.hpp) its writer. It writes the groups of ArviZ's
/// InferenceData, all with the dimensions chain and draw first:
///   posterior             one float32 variable for each tensor of the network, by its name
///   sample_stats          lp (log-density of a mini-batch, scaled to all rows), step_size, energy_error,
///                         diverging (a step since the draw before was not finite), resets (refused steps
///                         since the draw before), gradient_norm
///   predictions                y: one draw of each test row's target in its own unit, or its class
///   predictions_constant_data  y: the targets of the test rows; `row` is their place in the data file
///   predictions_log_density    y: log p(y | x, θ) of each test row, in the target's own unit; where asked
///   for posterior_predictive, observed_data, log_likelihood   the same of the training rows, which the
///   posterior is
///                              conditioned on and which loo and waic are computed from; where asked for
/// Memory does not grow with the number of draws.
/// With predictions it throws an Error where the data file is gone or has changed.
/// @source the InferenceData schema of ArviZ
void use_netcdf_exports();

}  // namespace smile

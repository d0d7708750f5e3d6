// SPDX-License-Identifier: Apache-2.0
/// The figures of a run's report, each as HTML; empty where the run has nothing to show in it.
#pragma once

#include <string>

#include "report/run_files.hpp"

namespace smile::report {

/// Title, tiles, warnings and calibration: what a reader sees first.
std::string first_screen(const RunFiles& run);
/// Whether the model is any good, in sentences: beside its members and a constant, its intervals, its chains,
/// its rows.
std::string verdict(const RunFiles& run);
/// Whether the diagnosis finds that the chains differ in their predictions.
bool chains_differ(const RunFiles& run);
/// The four numbers of the first screen, those of the run's task.
std::string tiles(const RunFiles& run);

/// Observed against nominal coverage, or accuracy against confidence: the one figure of the first screen.
std::string calibration_figure(const RunFiles& run);
/// Share of test targets in their central interval between exact quantiles of the predictive mixture, those
/// of `smile predict`; NaN for classification.
double coverage_of_intervals(const RunFiles& run, double nominal);

/// How good the predictions are, and where they are unsure or wrong.
std::string prediction_figures(const RunFiles& run);
/// Of a classification: test rows by class and predicted class, or the most frequent confusions of many
/// classes.
std::string confusion_section(const RunFiles& run);
/// The test rows that are furthest off.
std::string worst_rows(const RunFiles& run);

/// What the chains did: step sizes, resets, energy errors, likelihood (F9, F10 of the paper).
std::string chain_figures(const RunFiles& run);
/// Validation LPPD and temperature of layers along the sampling phase.
std::string walk_figures(const RunFiles& run);
/// Distributions of R̂ and effective sample sizes.
std::string convergence_figures(const RunFiles& run);

}  // namespace smile::report

// SPDX-License-Identifier: Apache-2.0
/// The results of the analytical benchmark as a table, CSV, JSON and figures.
#pragma once

#include <filesystem>
#include <string>

#include "smile/benchmark/analytic.hpp"

namespace smile {

/// The winners as a table of text.
std::string analytic_table(const AnalyticReport& report);

/// Writes into a folder, which is made: `table.txt`; `points.csv`, a row a grid point; `results.json`, with
/// the configuration and b² of every chain; and figures (SVG): `step-size-<target>-<noise>.svg`, b² against
/// the step size; `lognormal-b2.svg` and `lognormal-step-size.svg`, b² and the best step size against σ where
/// there is more than one; `modes-<method>-{one,all}.svg`, where chains on gmm were, with `record_modes`.
/// @throws Error (run) where the folder or a file cannot be written
void write_analytic_report(const AnalyticReport& report, const std::filesystem::path& folder);

}  // namespace smile

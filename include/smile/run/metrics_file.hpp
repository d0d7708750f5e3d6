// SPDX-License-Identifier: Apache-2.0
/// eval/metrics.json: the short table of a run's metrics. Whoever writes or reads that file does it here.
#pragma once

#include <cstddef>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "smile/evaluation/metrics.hpp"

namespace smile {

/// One metric of the test set, for the phases that have it; NaN where a phase has not.
struct MetricRow {
  std::string name;  ///< "LPPD", "RMSE", "accuracy", …
  /// The warm-started networks alone (phase `ensemble_initialization`).
  double ensemble = std::numeric_limits<double>::quiet_NaN();
  double sampling = std::numeric_limits<double>::quiet_NaN();  ///< all stored draws (phase `sampling`)

  double of(Phase phase) const { return phase == Phase::ensemble ? ensemble : sampling; }
};

struct MetricsFile {
  std::size_t draws = 0, chains = 0, failed_chains = 0;
  std::vector<MetricRow> metrics;
  std::vector<std::string> warnings;

  /// The metric of that label; NaN where there is none.
  double value(const std::string& name, Phase phase) const;
};

/// Writes the file of a run.
/// @throws Error of kind run where it cannot be written
void write_metrics(const std::filesystem::path& run, const MetricsFile& file);
/// Nothing where the run has no such file or it holds no metrics.
std::optional<MetricsFile> read_metrics(const std::filesystem::path& run);

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
/// The files of an evaluated run as its report needs them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "evaluation/json_number.hpp"
#include "report/plot.hpp"
#include "smile/config/config.hpp"
#include "smile/data/dataset.hpp"
#include "smile/diagnosis/chains_file.hpp"
#include "smile/evaluation/metrics.hpp"
#include "smile/files/npy.hpp"
#include "smile/run/metrics_file.hpp"
#include "smile/run/progress_file.hpp"
#include "smile/run/run_directory.hpp"
#include "smile/targets/task_likelihood.hpp"

namespace smile::report {

using nlohmann::ordered_json;
inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct RunFiles {
  std::filesystem::path path;
  Config config;
  std::string config_text;
  RunState state;
  MetricsFile metrics;
  std::vector<PhaseTime> phases;  ///< what they took
  std::vector<ChainReport> chains;
  ordered_json sampling, members, diagnostics;               ///< {} where not there
  std::vector<NamedArray> predictions, out_of_distribution;  ///< arrays of eval/*.npz
  DatasetInfo data;

  bool is_regression() const { return smile::is_regression(config.task()); }
  std::string name() const;  ///< of its folder
  /// One array of eval/predictions.npz; empty where it is not there.
  std::vector<double> array(const std::string& name) const;
  /// A metric of the test set; NaN where there is none.
  double metric(const std::string& label, Phase phase = Phase::sampling) const;
};

/// @throws Error where the run is none, is being written, is of another version or is not evaluated
RunFiles read_run_files(const std::filesystem::path& run);

/// At most some 400 points: more only make the page heavy.
std::vector<Point> thinned(const std::vector<Point>& points);

}  // namespace smile::report

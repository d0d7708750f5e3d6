// SPDX-License-Identifier: Apache-2.0
/// Several runs as rows of one table: groups of equal configurations, means over seeds, who is best.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/run_files.hpp"

namespace smile::report {

struct Column {
  std::string metric;  ///< label
  Phase phase = Phase::sampling;
  /// "LPPD"; "LPPD (ensemble)" of the warm-started networks.
  std::string label() const { return phase == Phase::sampling ? metric : metric + " (ensemble)"; }
  bool operator==(const Column&) const = default;
};

/// One metric of a group: over its runs.
struct Entry {
  double mean = kNone, sd = kNone;  ///< sd: NaN of one run
  std::size_t runs = 0;             ///< that have the metric
  bool best = false;                ///< of the groups on the same data
};

/// Runs whose configurations differ in the seed alone.
struct Group {
  std::string data, name;         ///< file of the data; what distinguishes it from the other groups
  std::vector<std::size_t> runs;  ///< positions in the list of runs
  std::vector<Entry> entries;     ///< @shape [columns]
};

struct ComparisonTable {
  std::vector<Column> columns;
  std::vector<Group> groups;  ///< by data, then in the order of the runs
};

ComparisonTable compare(std::span<const RunFiles> runs);

/// "0.572 ± 0.013"; "0.572" of one run; "–" of none.
std::string text_of(const Entry& entry);
std::string csv_of(const ComparisonTable& table);
/// A tabular with booktabs rules, one for each data set.
std::string latex_of(const ComparisonTable& table);

}  // namespace smile::report

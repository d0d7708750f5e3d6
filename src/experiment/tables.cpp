// SPDX-License-Identifier: Apache-2.0
/// Results as text for a terminal.
#include <fmt/format.h>

#include <algorithm>

#include "smile/evaluation/metrics.hpp"
#include "smile/experiment/pipeline.hpp"
#include "smile/number_text.hpp"

namespace smile {
namespace {

std::string cell(double value) {
  return number_text(value, 4);
}

const MetricRow* find(const RunSummary& summary, const std::string& name) {
  for (const auto& row : summary.metrics)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace

std::string metrics_table(const RunSummary& summary) {
  std::size_t width = 6;
  for (const auto& row : summary.metrics) width = std::max(width, row.name.size());
  std::string text;
  if (!summary.metrics.empty())
    text += fmt::format("{:<{}}  {:>10}  {:>10}\n", "metric", width, "ensemble", "sampling");
  for (const auto& row : summary.metrics)
    text += fmt::format("{:<{}}  {:>10}  {:>10}\n", row.name, width, cell(row.ensemble), cell(row.sampling));
  if (summary.draws > 0)
    text += fmt::format("{} draws of {} chains in {}\n", summary.draws,
                        summary.chains - summary.failed_chains, summary.samples_directory);
  return text;
}

std::string sweep_table(const SweepSummary& sweep) {
  // What a terminal has room for; everything is in the CSV and JSON files.
  std::vector<std::string> names;
  for (const MetricInfo& metric : metrics()) {
    const std::string name(metric.label);
    if ((metric.columns & MetricInfo::sweep) &&
        std::any_of(sweep.entries.begin(), sweep.entries.end(),
                    [&](const SweepEntry& entry) { return find(entry.summary, name) != nullptr; }))
      names.push_back(name);
  }
  std::size_t width = 5;
  for (const auto& entry : sweep.entries) width = std::max(width, entry.name.size());
  std::string text = fmt::format("{:<{}}", "point", width);
  for (const auto& name : names) text += fmt::format("  {:>17}  {:>10}", name + " (ensemble)", name);
  text += "\n";
  for (const auto& [point, summary] : sweep.entries) {
    text += fmt::format("{:<{}}", point, width);
    for (const auto& name : names) {
      const MetricRow* row = find(summary, name);
      text +=
          fmt::format("  {:>17}  {:>10}", row ? cell(row->ensemble) : "-", row ? cell(row->sampling) : "-");
    }
    if (summary.status == RunStatus::failed) text += "  failed: " + summary.reason;
    if (summary.status == RunStatus::interrupted) text += "  interrupted";
    text += "\n";
  }
  if (!sweep.csv.empty()) text += "pooled table: " + sweep.csv + "\n";
  return text;
}

}  // namespace smile

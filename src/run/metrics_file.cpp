// SPDX-License-Identifier: Apache-2.0
#include "smile/run/metrics_file.hpp"

#include "evaluation/json_fields.hpp"
#include "run/json_file.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/run/run_paths.hpp"

namespace smile {

template <>
struct JsonFields<MetricRow> {
  static void visit(auto& field, auto& row) {
    field("name", row.name);
    field(name_of(Phase::ensemble), row.ensemble);
    field(name_of(Phase::sampling), row.sampling);
  }
};

template <>
struct JsonFields<MetricsFile> {
  static constexpr std::string_view kMetrics = "metrics";
  static void visit(auto& field, auto& file) {
    field("draws", file.draws);
    field("chains", file.chains);
    field("failed_chains", file.failed_chains);
    field(kMetrics, file.metrics);
    field("warnings", file.warnings);
  }
};

double MetricsFile::value(const std::string& name, Phase phase) const {
  for (const MetricRow& row : metrics)
    if (row.name == name) return row.of(phase);
  return std::numeric_limits<double>::quiet_NaN();
}

void write_metrics(const std::filesystem::path& run, const MetricsFile& file) {
  write_file_atomically(RunPaths(run).metrics(), json_fields::write(file).dump(2) + "\n");
}

std::optional<MetricsFile> read_metrics(const std::filesystem::path& run) {
  const auto json = run::read_json(RunPaths(run).metrics());
  if (!json.is_object() || !json.contains(JsonFields<MetricsFile>::kMetrics)) return std::nullopt;
  MetricsFile file;
  json_fields::read(json, file);
  return file;
}

}  // namespace smile

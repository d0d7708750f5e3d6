// SPDX-License-Identifier: Apache-2.0
/// The table of export formats. A format that needs nothing beyond smile::core is a row here and a writer.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>

#include "deliver/export_draws.hpp"
#include "run/output_guard.hpp"
#include "smile/deliver/export.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;

std::deque<ExportFormat>& rows() {
  using namespace experiment;
  static std::deque<ExportFormat> table{
      {.name = "npz",
       .ending = "npz",
       .read_by = "numpy.load",
       .doc = "an array [chain, draw, shape…] for each tensor of the network",
       .holds_frozen = true,
       .write = export_npz},
      {.name = "safetensors",
       .ending = "safetensors",
       .read_by = "safetensors.numpy.load_file",
       .doc = "the same; or a file with the network's tensors for each draw",
       .per_draw = true,
       .holds_frozen = true,
       .write = export_safetensors},
      {.name = "torch",
       .ending = "pt",
       .read_by = "torch.load",
       .doc = "a dictionary of tensors [chain, draw, shape…]; or a state dictionary for each draw",
       .per_draw = true,
       .holds_frozen = true,
       .write = export_torch},
      {.name = "netcdf",
       .ending = "nc",
       .read_by = "arviz.from_netcdf",
       .doc = "draws, their statistics and predictions for ArviZ",
       .predictive = true,
       .needs = "-DSMILE_WITH_NETCDF=ON"},
      {.name = "csv",
       .ending = "csv",
       .read_by = "read.csv",
       .doc = "columns chain, draw, and one for each parameter",
       .write = export_csv},
  };
  return table;
}

/// "npz, safetensors or torch" of the rows that `fits` holds for.
std::string names_where(const std::function<bool(const ExportFormat&)>& fits) {
  std::vector<std::string> names;
  for (const ExportFormat& row : rows())
    if (row.write && fits(row)) names.push_back(row.name);
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += (i == 0 ? "" : i + 1 < names.size() ? ", " : " or ") + names[i];
  return text;
}

const ExportFormat& format_of(const std::string& name) {
  const auto any = [](const ExportFormat&) { return true; };
  for (const ExportFormat& row : rows()) {
    if (row.name != name) continue;
    if (row.write) return row;
    throw Error("--format " + name, "not available in this build",
                "build with " + row.needs + ", or choose " + names_where(any));
  }
  throw Error("--format", "'" + name + "' is not a format of an export", "choose " + names_where(any));
}

/// RUN/draws.ENDING, or the folder RUN/draws-FORMAT.
fs::path export_path(const fs::path& run, const ExportFormat& format, const ExportOptions& options) {
  if (!options.out.empty()) return options.out;
  return run / (options.per_draw ? "draws-" + format.name : "draws." + format.ending);
}

}  // namespace

const std::deque<ExportFormat>& export_formats() {
  return rows();
}

void add_export_format(ExportFormat format) {
  for (ExportFormat& row : rows())
    if (row.name == format.name) {
      row = std::move(format);
      return;
    }
  rows().push_back(std::move(format));
}

ExportSummary export_run(const std::string& directory, const ExportOptions& options) {
  const ExportFormat& format = format_of(options.format);
  if (options.per_draw && !format.per_draw)
    throw Error("--per-draw", "a file for each draw is not made as " + format.name,
                "choose " + names_where([](const ExportFormat& row) { return row.per_draw; }));
  if (!format.predictive && (!options.predictive || options.log_likelihood || options.training_rows))
    throw Error("--format " + format.name, "has no predictions and no log-likelihood to choose",
                "leave --no-predictive, --log-likelihood and --training-rows out, or choose " +
                    names_where([](const ExportFormat& row) { return row.predictive; }));
  const auto run = experiment::open_stored_run(directory, options.incomplete, options.data);
  const experiment::ExportDraws draws(run, options);
  const fs::path path = export_path(run.path, format, options);
  ExportSummary summary{path.string(), draws.chains(), draws.draws(), draws.remarks()};
  if (!draws.frozen().groups.empty() && !format.holds_frozen)
    summary.remarks.push_back(
        "frozen parameters are left out: warmstart/ of the run has each chain's, network.json their names");
  OutputGuard().reads_run(run.path).check(options.per_draw ? path / "chain-00" : path);
  format.write(draws, options, path, summary.remarks);
  return summary;
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include "report/run_files.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "files/file_error.hpp"
#include "run/remade.hpp"
#include "smile/error.hpp"
#include "smile/run/run_inspection.hpp"
#include "smile/run/run_paths.hpp"

namespace smile::report {
namespace {

namespace fs = std::filesystem;

/// How a file of eval/ comes back.
std::string anew(const fs::path& file) {
  return "`" + run::evaluate_command(file.parent_path().parent_path()) + "` writes it anew";
}

std::string text_of(const fs::path& path) {
  auto text = data::read_file_if_there(path);
  if (!text) throw Error(path.string(), "cannot be read", anew(path), ErrorKind::run);
  return *std::move(text);
}

/// A JSON file; an empty object where it is not there (a phase that was not asked for).
ordered_json json_of(const fs::path& path) {
  if (!fs::exists(path)) return ordered_json::object();
  ordered_json json = ordered_json::parse(text_of(path), nullptr, false);
  if (json.is_discarded()) throw Error(path.string(), "is not valid JSON", anew(path), ErrorKind::run);
  return json;
}

std::vector<NamedArray> arrays_of(const fs::path& path) {
  return fs::exists(path) ? read_npz(path) : std::vector<NamedArray>{};
}

/// Targets of a classification are numbers of its classes, a probability each.
void check_classes(const RunFiles& run, const fs::path& file) {
  const auto target = run.array("target"), p = run.array("probabilities");
  if (run.is_regression() || p.empty()) return;
  const double classes = target.empty() ? 0 : double(p.size()) / double(target.size());
  const bool sound =
      classes >= 1 && classes == std::floor(classes) &&
      std::all_of(target.begin(), target.end(), [&](double y) { return y >= 0 && y < classes; });
  if (!sound)
    throw Error(file.string(), "the targets are none of the classes that have probabilities", anew(file),
                ErrorKind::run);
}

}  // namespace

RunFiles read_run_files(const fs::path& run) {
  require_part(run, RunPart::evaluated);
  const RunPaths paths(run);
  RunFiles f;
  f.path = run;
  f.config = load_config(paths.config().string());
  f.config_text = text_of(paths.config());
  f.state = read_run_state(run).value_or(RunState{});
  json_of(paths.metrics());  // says where it is no JSON
  auto metrics = read_metrics(run);
  if (!metrics)
    throw Error(paths.metrics().string(), "holds no metrics", anew(paths.metrics()), ErrorKind::run);
  f.metrics = std::move(*metrics);
  f.sampling = json_of(paths.sampling_metrics());
  f.members = json_of(paths.member_metrics());
  f.diagnostics = json_of(paths.diagnostics());
  json_of(paths.chains());
  f.chains = read_chains(run);
  if (auto progress = read_progress(run)) f.phases = std::move(progress->phases);
  f.predictions = arrays_of(paths.predictions());
  check_classes(f, paths.predictions());
  f.out_of_distribution = arrays_of(paths.out_of_distribution());
  f.data = run::read_remade(run, [&] { return load_dataset_info(paths.data()); });
  return f;
}

std::string RunFiles::name() const {
  return path.filename().empty() ? path.parent_path().filename().string() : path.filename().string();
}

std::vector<double> RunFiles::array(const std::string& wanted) const {
  for (const NamedArray& array : predictions)
    if (array.name == wanted) return array.array.as<double>();
  return {};
}

double RunFiles::metric(const std::string& wanted, Phase phase) const {
  return metrics.value(wanted, phase);
}

std::vector<Point> thinned(const std::vector<Point>& points) {
  const std::size_t every = points.size() / 400 + 1;
  std::vector<Point> out;
  for (std::size_t i = 0; i < points.size(); i += every) out.push_back(points[i]);
  if (!points.empty() && (points.size() - 1) % every != 0) out.push_back(points.back());
  return out;
}

}  // namespace smile::report

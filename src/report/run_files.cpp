#include "report/run_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "smile/error.hpp"
#include "smile/experiment/run_inspection.hpp"

namespace smile::report {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in)
    throw Error(path.string(), "cannot be read", "evaluate the run with smile evaluate", ErrorKind::run);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// A JSON file; an empty object where it is not there (a phase that was not asked for).
ordered_json json_of(const fs::path& path) {
  if (!fs::exists(path)) return ordered_json::object();
  ordered_json json = ordered_json::parse(text_of(path), nullptr, false);
  if (json.is_discarded())
    throw Error(path.string(), "is not valid JSON", "evaluate the run anew with smile evaluate",
                ErrorKind::run);
  return json;
}

std::vector<NamedArray> arrays_of(const fs::path& path) {
  return fs::exists(path) ? read_npz(path) : std::vector<NamedArray>{};
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',')
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

double parse(const std::string& cell) {
  char* end = nullptr;
  const double v = std::strtod(cell.c_str(), &end);
  return end == cell.c_str() ? kNone : v;
}

}  // namespace

RunFiles read_run_files(const fs::path& run) {
  require_part(run, RunPart::evaluated);
  const fs::path eval = run / "eval";
  RunFiles f;
  f.path = run;
  f.config = load_config((run / "config.yaml").string());
  f.config_text = text_of(run / "config.yaml");
  f.state = json_of(run / "status.json");
  f.metrics = json_of(eval / "metrics.json");
  if (!f.metrics.is_object() || !f.metrics.contains("metrics"))
    throw Error((eval / "metrics.json").string(), "holds no metrics",
                "evaluate the run anew with smile evaluate", ErrorKind::run);
  f.sampling = json_of(eval / "sampling.json");
  f.members = json_of(eval / "ensemble_initialization.json");
  f.diagnostics = json_of(eval / "diagnostics.json");
  f.chains = json_of(eval / "chains.json");
  f.progress = json_of(run / "progress.json");
  f.predictions = arrays_of(eval / "predictions.npz");
  f.out_of_distribution = arrays_of(eval / "ood.npz");
  f.data = load_dataset_info(run / "dataset_splits.npz");
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

double RunFiles::metric(const std::string& wanted, const char* phase) const {
  for (const auto& row : metrics["metrics"])
    if (row.value("name", "") == wanted) return value(row, phase);
  return kNone;
}

double value(const ordered_json& json, const char* key) {
  if (!json.is_object() || !json.contains(key)) return kNone;
  return element(json[key]);
}

double element(const ordered_json& v) {
  if (v.is_number()) return v.get<double>();
  if (v.is_string() && v == "inf") return std::numeric_limits<double>::infinity();
  if (v.is_string() && v == "-inf") return -std::numeric_limits<double>::infinity();
  return kNone;
}

Trace::Trace(const fs::path& path) {
  std::ifstream in(path);
  std::string line;
  if (std::getline(in, line)) names_ = split(line);
  while (std::getline(in, line)) rows_.push_back(split(line));
}

std::vector<Point> Trace::points(const std::string& x, const std::string& y) const {
  const std::size_t i = column(x), j = column(y);
  std::vector<Point> out;
  for (const auto& row : rows_)
    if (row.size() > std::max(i, j)) out.push_back({parse(row[i]), parse(row[j])});
  return out;
}

std::size_t Trace::column(const std::string& name) const {
  return std::size_t(std::find(names_.begin(), names_.end(), name) - names_.begin());
}

std::vector<Point> thinned(const std::vector<Point>& points) {
  const std::size_t every = points.size() / 400 + 1;
  std::vector<Point> out;
  for (std::size_t i = 0; i < points.size(); i += every) out.push_back(points[i]);
  if (!points.empty() && (points.size() - 1) % every != 0) out.push_back(points.back());
  return out;
}

}  // namespace smile::report

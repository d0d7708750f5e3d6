// SPDX-License-Identifier: Apache-2.0
/// The page of a comparison.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "report/comparison.hpp"
#include "report/page.hpp"
#include "run/output_guard.hpp"
#include "run/remade.hpp"
#include "smile/error.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/report/html_report.hpp"
#include "smile/run/run_paths.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using namespace report;

/// The deepest folder that holds all runs.
fs::path common_folder(const std::vector<std::string>& runs) {
  fs::path common = fs::absolute(runs.front()).lexically_normal().parent_path();
  for (const std::string& run : runs) {
    const fs::path own = fs::absolute(run).lexically_normal();
    while (common != common.root_path()) {
      const auto [in_common, in_own] = std::mismatch(common.begin(), common.end(), own.begin(), own.end());
      if (in_common == common.end()) break;
      common = common.parent_path();
    }
  }
  return common;
}

/// Columns that the page shows at once; all are in the CSV and below.
bool is_main(const report::Column& column) {
  return find_metric(column.metric)
      .is_in(column.phase == Phase::sampling ? MetricInfo::comparison : MetricInfo::comparison_ensemble);
}

std::string cell_of(const Entry& e) {
  const std::string text = escaped(text_of(e));
  return e.best ? "<strong>" + text + "</strong>" : text;
}

std::string table_of(const ComparisonTable& table, const std::string& data, bool main_only) {
  std::vector<std::size_t> shown;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const bool wanted = !main_only || is_main(table.columns[c]);
    if (wanted && std::any_of(table.groups.begin(), table.groups.end(),
                              [&](const Group& g) { return g.data == data && g.entries[c].runs > 0; }))
      shown.push_back(c);
  }
  std::vector<std::string> head{"method", "runs"};
  for (const std::size_t c : shown) head.push_back(table.columns[c].label());
  std::vector<std::vector<Cell>> rows;
  for (const Group& group : table.groups) {
    if (group.data != data) continue;
    std::vector<Cell> row{group.name, std::to_string(group.runs.size())};
    for (const std::size_t c : shown) row.push_back(Cell::html(cell_of(group.entries[c])));
    rows.push_back(std::move(row));
  }
  return report::table(head, rows);
}

/// LPPD against draws, one line a run, one colour a group.
std::string running_lppd(const ComparisonTable& table, const std::string& data,
                         const std::vector<RunFiles>& runs) {
  constexpr std::size_t kColours = 6;
  Plot plot({"draws of each chain", Scale::log}, {"test LPPD"});
  Key key;
  std::size_t colour = 0;
  for (const Group& group : table.groups) {
    if (group.data != data) continue;
    if (++colour > kColours) break;
    const std::string style = fmt::format("series-{} thin", colour);
    key.push_back({style, group.name});
    for (const std::size_t i : group.runs) {
      if (!runs[i].sampling.contains("running_lppd")) continue;
      const auto& running = runs[i].sampling.at("running_lppd");
      if (!running.contains("samples") || !running.contains("lppd") ||
          running.at("samples").size() != running.at("lppd").size())
        throw Error(RunPaths(runs[i].path).sampling_metrics().string(), "is not as it was written",
                    "`" + run::evaluate_command(runs[i].path) + "` writes it anew", ErrorKind::run);
      std::vector<Point> points;
      for (std::size_t s = 0; s < running.at("samples").size(); ++s)
        points.push_back({json_number(running.at("samples").at(s)), json_number(running.at("lppd").at(s))});
      plot.line(thinned(points), style, group.name);
    }
  }
  if (!plot.has_content()) return {};
  return figure("Running LPPD", plot.svg("Test LPPD of all runs against the number of draws"),
                colour > kColours ? "One line a run, of the first six methods." : "One line a run.", key);
}

/// LPPD of every run, one column of dots a group: how much of a difference is the seed's.
std::string lppd_dots(const ComparisonTable& table, const std::string& data,
                      const std::vector<RunFiles>& runs) {
  Plot plot({"method"}, {"test LPPD"});
  std::vector<std::string> names;
  for (const Group& group : table.groups) {
    if (group.data != data) continue;
    names.push_back(group.name);
    const auto x = double(names.size());
    std::vector<Point> sampler, ensemble;
    for (const std::size_t i : group.runs) {
      sampler.push_back({x, runs[i].metric(metric::kLppd)});
      ensemble.push_back({x, runs[i].metric(metric::kLppd, Phase::ensemble)});
    }
    plot.points(ensemble, "series-2", group.name + ": warm-started ensemble", 3);
    plot.points(sampler, "series-1", group.name, 4);
  }
  plot.x_range(0.5, double(names.size()) + 0.5);
  plot.x_names(names);
  if (!plot.has_content()) return {};
  return figure("LPPD of every run", plot.svg("Test LPPD of every run by method"),
                "Methods in the order of the table. The spread of a column is the seed's.",
                {{"dot series-1", "sampler"}, {"dot series-2", "warm-started ensemble"}});
}

std::string list_of_runs(const ComparisonTable& table, const std::vector<RunFiles>& runs,
                         const fs::path& folder) {
  std::vector<std::vector<Cell>> rows;
  for (const Group& group : table.groups)
    for (const std::size_t i : group.runs) {
      std::error_code ignored;
      const fs::path own = fs::relative(runs[i].path, folder, ignored);
      const std::string shown = own.empty() ? runs[i].path.string() : own.string();
      rows.push_back({group.data, group.name, std::to_string(runs[i].config.rng),
                      Cell::html(fmt::format("<a href=\"{0}/report.html\">{0}</a>", escaped(shown))),
                      runs[i].state.status, number(runs[i].metric(metric::kLppd))});
    }
  return "<h2>Runs</h2>\n" + report::table({"data", "method", "seed", "run", "status", "LPPD"}, rows, 5);
}

}  // namespace

ComparisonPaths write_comparison(const std::vector<std::string>& run_directories, const std::string& out) {
  if (run_directories.size() < 2)
    throw Error("comparison", "there is one run", "give two or more run directories");
  std::vector<RunFiles> runs;
  for (const std::string& run : run_directories) runs.push_back(read_run_files(run));
  const fs::path html = out.empty() ? common_folder(run_directories) / "comparison.html" : fs::path(out);
  ComparisonPaths paths{html.string(), fs::path(html).replace_extension(".csv").string(),
                        fs::path(html).replace_extension(".tex").string()};
  if (html.extension() == ".csv" || html.extension() == ".tex")
    throw Error("--out", html.string() + " is not the name of a page", "give a name that ends in .html");
  OutputGuard guard;
  for (const RunFiles& run : runs) guard.reads(run.config);
  for (const std::string& path : {paths.html, paths.csv, paths.latex}) guard.check(path);
  const ComparisonTable table = compare(runs);
  std::vector<std::string> data;
  for (const Group& group : table.groups)
    if (data.empty() || data.back() != group.data) data.push_back(group.data);
  std::string body = fmt::format(
      "<h1>Comparison of {} runs</h1>\n<p class=\"quiet\">{} methods on {} data set{}. Mean ± standard "
      "deviation over "
      "runs that differ in their seed alone; the best in bold. LPPD: more is better.</p>\n",
      runs.size(), table.groups.size(), data.size(), data.size() == 1 ? "" : "s");
  for (const std::string& name : data)
    body += fmt::format("<h2>{}</h2>\n", escaped(name)) + table_of(table, name, true) +
            "<details><summary>All metrics</summary>\n" + table_of(table, name, false) +
            "</details>\n<div class=\"figures\">\n" + lppd_dots(table, name, runs) +
            running_lppd(table, name, runs) + "</div>\n";
  const std::string csv = csv_of(table), latex = latex_of(table);
  body += list_of_runs(table, runs, html.has_parent_path() ? html.parent_path() : fs::path("."));
  body += "<h2>To copy</h2>\n<details><summary>LaTeX</summary><pre>" + escaped(latex) +
          "</pre></details>\n<details><summary>CSV</summary><pre>" + escaped(csv) + "</pre></details>\n";
  write_file_atomically(paths.html, page("smile: comparison", body));
  write_file_atomically(paths.csv, csv);
  write_file_atomically(paths.latex, latex);
  return paths;
}

}  // namespace smile

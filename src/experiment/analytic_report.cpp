/// The results of the analytical benchmark as a table, CSV, JSON and plots.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "experiment/svg_plot.hpp"
#include "smile/data/atomic_file.hpp"
#include "smile/error.hpp"
#include "smile/experiment/analytic.hpp"

namespace smile {
namespace {

std::string noise_text(const AnalyticCell& cell) {
  if (cell.noise == NoiseStructure::none) return "none";
  std::string text = name_of(cell.noise);
  if (cell.distribution != BaseNoise::gaussian) text += " " + name_of(cell.distribution);
  if (cell.distribution == BaseNoise::student_t) text += fmt::format("({:g})", cell.parameter);
  if (cell.distribution == BaseNoise::lognormal) text += fmt::format("(σ={:g})", cell.parameter);
  return text;
}

/// Non-finite numbers as JSON has none: text.
nlohmann::json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

std::string csv_of(const AnalyticReport& report) {
  std::string text =
      "target,noise,distribution,parameter,method,steps,step_size,decoherence_length,b2,standard_error,b2_"
      "authors_normaliser,"
      "least_effective_draws,marked_chains,refused_steps,winner,at_edge,mean_move,all_modes\n";
  for (const AnalyticCell& cell : report.cells) {
    for (std::size_t p = 0; p < cell.points.size(); ++p) {
      const AnalyticPoint& point = cell.points[p];
      const bool wins = cell.winner == p;
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{:.6g},{},{},{},{},{},{}\n", cell.target,
                          name_of(cell.noise), name_of(cell.distribution), cell.parameter,
                          report.config.methods[cell.method].label, cell.steps, point.step_size,
                          point.decoherence_length, point.mean, point.standard_error, point.authors_mean,
                          point.least_effective_draws, point.marked_chains, point.refused_steps, int(wins),
                          int(wins && cell.at_edge), point.mean_move, point.all_modes);
    }
  }
  return text;
}

std::string json_of(const AnalyticReport& report) {
  nlohmann::json json;
  const AnalyticConfig& config = report.config;
  json["config"] = {{"file", config.file},
                    {"experiment_name", config.experiment_name},
                    {"rng", config.seed},
                    {"steps", config.steps},
                    {"chains", config.chains},
                    {"start", config.exact_start ? "exact" : "paper"},
                    {"noise_scale", config.noise_scale},
                    {"equal_gradients", config.equal_gradients}};
  json["seconds"] = report.seconds;
  json["chain_steps"] = report.chain_steps;
  json["cells"] = nlohmann::json::array();
  for (const AnalyticCell& cell : report.cells) {
    nlohmann::json entry{{"target", cell.target},
                         {"noise", name_of(cell.noise)},
                         {"distribution", name_of(cell.distribution)},
                         {"parameter", cell.parameter},
                         {"method", config.methods[cell.method].label},
                         {"steps", cell.steps},
                         {"winner", cell.winner ? nlohmann::json(*cell.winner) : nlohmann::json(nullptr)},
                         {"at_edge", cell.at_edge}};
    for (const AnalyticPoint& point : cell.points) {
      nlohmann::json biases = nlohmann::json::array();
      for (double bias : point.bias) biases.push_back(number(bias));
      entry["points"].push_back({{"step_size", point.step_size},
                                 {"decoherence_length", number(point.decoherence_length)},
                                 {"b2", number(point.mean)},
                                 {"standard_error", number(point.standard_error)},
                                 {"b2_authors_normaliser", number(point.authors_mean)},
                                 {"b2_of_chains", biases},
                                 {"least_effective_draws", number(point.least_effective_draws)},
                                 {"marked_chains", point.marked_chains},
                                 {"refused_steps", point.refused_steps},
                                 {"mean_move", point.mean_move},
                                 {"modes_of_chains", point.modes},
                                 {"all_modes", point.all_modes}});
    }
    json["cells"].push_back(std::move(entry));
  }
  return json.dump(1) + "\n";
}

/// b² against the step size, at the best decoherence length of each method: one plot for a target and noise.
void write_step_plots(const AnalyticReport& report, const std::filesystem::path& folder) {
  std::vector<std::pair<std::string, LinePlot>> plots;
  for (const AnalyticCell& cell : report.cells) {
    if (cell.points.size() < 2) continue;
    const std::string name = cell.target + "-" + noise_text(cell);
    auto plot = std::find_if(plots.begin(), plots.end(), [&](const auto& p) { return p.first == name; });
    if (plot == plots.end()) {
      plots.push_back({name, {cell.target + ", noise " + noise_text(cell), "step size", "b²", {}}});
      plot = plots.end() - 1;
    }
    const double length = cell.points[cell.winner.value_or(0)].decoherence_length;
    PlotLine line{report.config.methods[cell.method].label, {}, {}};
    for (const AnalyticPoint& point : cell.points) {
      if (point.decoherence_length != length) continue;
      line.points.push_back({point.step_size, point.mean});
      line.errors.push_back(point.standard_error);
    }
    plot->second.lines.push_back(std::move(line));
  }
  for (auto& [name, plot] : plots) {
    std::string file = name;
    std::replace_if(
        file.begin(), file.end(),
        [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.'; }, '_');
    write_file_atomically(folder / ("step-size-" + file + ".svg"), svg_of(plot));
  }
}

/// The best b² against σ of lognormal noise.
void write_sigma_plot(const AnalyticReport& report, const std::filesystem::path& folder) {
  if (report.config.lognormal_sigma.size() < 2) return;
  LinePlot plot{"lognormal noise", "σ", "b² at the best step size", {}};
  for (const AnalyticCell& cell : report.cells) {
    if (cell.distribution != BaseNoise::lognormal || !cell.winner) continue;
    const std::string label =
        cell.target + " " + name_of(cell.noise) + " " + report.config.methods[cell.method].label;
    auto line = std::find_if(plot.lines.begin(), plot.lines.end(),
                             [&](const PlotLine& l) { return l.label == label; });
    if (line == plot.lines.end()) line = plot.lines.insert(plot.lines.end(), PlotLine{label, {}, {}});
    line->points.push_back({cell.parameter, cell.points[*cell.winner].mean});
    line->errors.push_back(cell.points[*cell.winner].standard_error);
  }
  if (!plot.lines.empty()) write_file_atomically(folder / "lognormal-sigma.svg", svg_of(plot));
}

/// Where the chains were: of the first chain and of all, at the point with the most modes.
void write_mode_plots(const AnalyticReport& report, const std::filesystem::path& folder) {
  for (const AnalyticCell& cell : report.cells) {
    const auto most =
        std::max_element(cell.points.begin(), cell.points.end(),
                         [](const auto& a, const auto& b) { return a.all_modes < b.all_modes; });
    if (cell.target != "gmm" || most == cell.points.end() || most->recorded.empty()) continue;
    const std::string& label = report.config.methods[cell.method].label;
    const std::size_t chains = most->bias.size(), numbers = most->recorded.size();
    for (const bool all : {false, true}) {
      const std::size_t used = all ? numbers : numbers / chains;
      DensityPlot plot{fmt::format("{}, {} chain{}", label, all ? chains : 1, all && chains > 1 ? "s" : ""),
                       "θ₀",
                       "θ₁",
                       -15,
                       15,
                       {}};
      for (std::size_t i = 0; i + 1 < used; i += 2)
        plot.points.push_back({most->recorded[i], most->recorded[i + 1]});
      write_file_atomically(folder / fmt::format("modes-{}-{}.svg", label, all ? "all" : "one"),
                            svg_of(plot));
    }
  }
}

}  // namespace

std::string analytic_table(const AnalyticReport& report) {
  std::string text =
      fmt::format("{:<11} {:<26} {:<22} {:>10} {:>10} {:>10} {:>9} {:>9}  {}\n", "target", "noise", "method",
                  "b²", "± s.e.", "step size", "length", "draws", "remarks");
  for (const AnalyticCell& cell : report.cells) {
    const std::string& label = report.config.methods[cell.method].label;
    std::string row = fmt::format("{:<11} {:<26} {:<22}", cell.target, noise_text(cell), label);
    if (!cell.winner) {
      text += row +
              "          -          -          -         -         -  no grid point whose chains all have 10 "
              "effective draws\n";
      continue;
    }
    const AnalyticPoint& best = cell.points[*cell.winner];
    std::string remarks = cell.at_edge ? "at the edge of the grid" : "";
    if (cell.target == "funnel")
      remarks += fmt::format("{}{:.3g} with the authors' normaliser", remarks.empty() ? "" : "; ",
                             best.authors_mean);
    if (report.config.record_modes && cell.target == "gmm")
      remarks +=
          fmt::format("{}{} modes by all chains, {:g} by the first; mean move {:.3g}",
                      remarks.empty() ? "" : "; ", best.all_modes, double(best.modes[0]), best.mean_move);
    text += row + fmt::format(" {:>10.4g} {:>10.2g} {:>10.3g} {:>9.3g} {:>9.3g}  {}\n", best.mean,
                              best.standard_error, best.step_size, best.decoherence_length,
                              best.least_effective_draws, remarks);
  }
  text +=
      fmt::format("{:.3g} chain-steps in {:.1f} s, {:.1f} M a second\n", double(report.chain_steps),
                  report.seconds, report.seconds > 0 ? double(report.chain_steps) / report.seconds / 1e6 : 0);
  return text;
}

void write_analytic_report(const AnalyticReport& report, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Error(folder.string(), "the folder cannot be made (" + error.message() + ")",
                "give another `saving_dir` or --out", ErrorKind::run);
  write_file_atomically(folder / "table.txt", analytic_table(report));
  write_file_atomically(folder / "points.csv", csv_of(report));
  write_file_atomically(folder / "results.json", json_of(report));
  write_step_plots(report, folder);
  write_sigma_plot(report, folder);
  write_mode_plots(report, folder);
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include "smile/report/analytic_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/figure.hpp"
#include "smile/error.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/run/run_paths.hpp"

namespace smile {
namespace {

using report::DensityFigure, report::FigureLine, report::LineFigure, report::svg_of;

/// "student-t(5)" and the like.
std::string law_text(const AnalyticCell& cell) {
  std::string text(name_of(cell.distribution));
  if (cell.distribution == BaseNoise::student_t) text += fmt::format("({:g})", cell.parameter);
  if (cell.distribution == BaseNoise::lognormal) text += fmt::format("(σ={:g})", cell.parameter);
  return text;
}

std::string noise_text(const AnalyticCell& cell) {
  if (cell.noise == NoiseStructure::none) return "none";
  if (cell.distribution == BaseNoise::gaussian) return std::string(name_of(cell.noise));
  return fmt::format("{} {}", name_of(cell.noise), law_text(cell));
}

/// A field of a CSV file.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
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
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{:.6g},{},{},{},{},{},{}\n", name_of(cell.target),
                          name_of(cell.noise), name_of(cell.distribution), cell.parameter,
                          quoted(report.config.methods[cell.method].label), cell.steps, point.step_size,
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
  json["config"] = nlohmann::json::parse(analytic_config_json(config));
  json["seconds"] = report.seconds;
  json["chain_steps"] = report.chain_steps;
  json["kept_chain_steps"] = report.kept_chain_steps;
  json["cells"] = nlohmann::json::array();
  for (const AnalyticCell& cell : report.cells) {
    nlohmann::json entry{{"target", name_of(cell.target)},
                         {"noise", name_of(cell.noise)},
                         {"distribution", name_of(cell.distribution)},
                         {"parameter", cell.parameter},
                         {"method", config.methods[cell.method].label},
                         {"steps", cell.steps},
                         {"winner", cell.winner ? nlohmann::json(*cell.winner) : nlohmann::json(nullptr)},
                         {"at_edge", cell.at_edge}};
    for (const AnalyticPoint& point : cell.points) {
      nlohmann::json biases = nlohmann::json::array();
      for (double bias : point.bias) biases.push_back(bias);
      entry["points"].push_back({{"step_size", point.step_size},
                                 {"decoherence_length", point.decoherence_length},
                                 {"b2", point.mean},
                                 {"standard_error", point.standard_error},
                                 {"b2_authors_normaliser", point.authors_mean},
                                 {"b2_of_chains", biases},
                                 {"least_effective_draws", point.least_effective_draws},
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

std::string file_name(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return !std::isalnum(static_cast<unsigned char>(c)) && c != '-' && c != '.'; }, '_');
  return text + ".svg";
}

/// b² along the step sizes, at the best decoherence length.
FigureLine line_of(const AnalyticCell& cell, std::string label) {
  FigureLine line{std::move(label), {}};
  const double length = cell.points[cell.winner.value_or(0)].decoherence_length;
  for (const AnalyticPoint& point : cell.points)
    if (point.decoherence_length == length)
      line.points.push_back({point.step_size, point.mean, point.standard_error, !point.can_win()});
  return line;
}

/// b² against the step size: one figure for a target and a structure of noise, a line for a method and a
/// distribution, and the best of the methods without noise as a level.
void write_step_figures(const AnalyticReport& report, const std::filesystem::path& folder) {
  const AnalyticConfig& config = report.config;
  std::vector<std::pair<std::string, LineFigure>> figures;
  const auto figure_of = [&](const AnalyticCell& cell) -> LineFigure& {
    const std::string name = fmt::format("{}-{}", name_of(cell.target), name_of(cell.noise));
    for (auto& [known, figure] : figures)
      if (known == name) return figure;
    figures.push_back(
        {name,
         {fmt::format("{}, noise {}", name_of(cell.target), name_of(cell.noise)), "step size", "b²", {}}});
    return figures.back().second;
  };
  const bool alone = std::count_if(config.methods.begin(), config.methods.end(),
                                   [](const auto& m) { return m.uses_noise(); }) < 2;
  const bool one_law = config.distributions.size() == 1 && config.lognormal_sigma.size() == 1;
  for (const AnalyticCell& cell : report.cells) {
    if (cell.points.size() < 2) continue;
    std::string label = config.methods[cell.method].label;
    const std::string law = law_text(cell);
    if (!one_law && config.methods[cell.method].uses_noise()) label = alone ? law : label + ", " + law;
    figure_of(cell).lines.push_back(line_of(cell, label));
  }
  for (auto& [name, figure] : figures) {
    for (const AnalyticCell& cell : report.cells)
      if (!config.methods[cell.method].uses_noise() && cell.winner &&
          figure.title.starts_with(fmt::format("{}, ", name_of(cell.target))) &&
          name != fmt::format("{}-{}", name_of(cell.target), name_of(NoiseStructure::none)))
        figure.levels.push_back(
            {"best of " + config.methods[cell.method].label, cell.points[*cell.winner].mean});
    write_file_atomically(folder / file_name("step-size-" + name), svg_of(figure));
  }
}

/// The point of least b² where none can win.
const AnalyticPoint& least_of(const AnalyticCell& cell) {
  return *std::min_element(cell.points.begin(), cell.points.end(),
                           [](const auto& a, const auto& b) { return a.mean < b.mean; });
}

/// The best b², and the step size it comes from, against σ of lognormal noise; hollow where none can win.
void write_sigma_figures(const AnalyticReport& report, const std::filesystem::path& folder) {
  if (report.config.lognormal_sigma.size() < 2) return;
  LineFigure bias{"lognormal noise", "σ", "b² at the best step size", {}},
      step{"lognormal noise", "σ", "best step size", {}};
  const auto line_named = [](LineFigure& figure, const std::string& label) -> FigureLine& {
    for (FigureLine& line : figure.lines)
      if (line.label == label) return line;
    return figure.lines.emplace_back(FigureLine{label, {}});
  };
  for (const AnalyticCell& cell : report.cells) {
    if (cell.distribution != BaseNoise::lognormal) continue;
    const AnalyticPoint& best = cell.winner ? cell.points[*cell.winner] : least_of(cell);
    const std::string label = fmt::format("{} {} {}", name_of(cell.target), name_of(cell.noise),
                                          report.config.methods[cell.method].label);
    line_named(bias, label).points.push_back({cell.parameter, best.mean, best.standard_error, !cell.winner});
    line_named(step, label).points.push_back({cell.parameter, best.step_size, 0, !cell.winner});
  }
  if (bias.lines.empty()) return;
  write_file_atomically(folder / "lognormal-b2.svg", svg_of(bias));
  write_file_atomically(folder / "lognormal-step-size.svg", svg_of(step));
}

/// Where the chains were: the first one and all of them, at the point with the most modes.
void write_mode_figures(const AnalyticReport& report, const std::filesystem::path& folder) {
  for (const AnalyticCell& cell : report.cells) {
    const auto most =
        std::max_element(cell.points.begin(), cell.points.end(),
                         [](const auto& a, const auto& b) { return a.all_modes < b.all_modes; });
    if (cell.target != AnalyticalKind::gmm || most == cell.points.end() || most->recorded.empty()) continue;
    const std::string& label = report.config.methods[cell.method].label;
    const std::size_t chains = most->bias.size(), numbers = most->recorded.size();
    for (const bool all : {false, true}) {
      const std::size_t used = all ? numbers : numbers / chains;
      DensityFigure figure;
      figure.title = fmt::format("{}, {} chain{}", label, all ? chains : 1, all && chains > 1 ? "s" : "");
      figure.x_label = "θ₀";
      figure.y_label = "θ₁";
      figure.low = -15;
      figure.high = 15;
      for (std::size_t i = 0; i + 1 < used; i += 2)
        figure.points.push_back({most->recorded[i], most->recorded[i + 1]});
      write_file_atomically(folder / file_name("modes-" + label + (all ? "-all" : "-one")), svg_of(figure));
    }
  }
}

/// Share of steps whose |ΔE| is above a value, beside those of the two laws: on logarithmic axes the tails
/// are seen.
void write_energy_figures(const AnalyticReport& report, const std::filesystem::path& folder) {
  std::string csv =
      "target,noise,method,step_size,steps,mean,gamma_shape,gamma_scale,gamma_distance,half_normal_scale,"
      "half_normal_distance\n";
  bool any = false;
  for (const AnalyticCell& cell : report.cells) {
    if (!cell.energies || cell.energies->sorted.empty()) continue;
    any = true;
    const EnergyErrors& e = *cell.energies;
    const std::string& label = report.config.methods[cell.method].label;
    const AnalyticPoint& point = cell.winner ? cell.points[*cell.winner] : least_of(cell);
    csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", name_of(cell.target), quoted(noise_text(cell)),
                       quoted(label), point.step_size, e.sorted.size(), e.gamma.shape * e.gamma.scale,
                       e.gamma.shape, e.gamma.scale, e.gamma_distance, e.half_normal_scale,
                       e.half_normal_distance);
    LineFigure figure{fmt::format("{}, {} noise, {}, step size {:.3g}", name_of(cell.target),
                                  noise_text(cell), label, point.step_size),
                      "|ΔE|",
                      "share of steps above",
                      {{"steps", {}}, {"Gamma", {}}, {"half-normal", {}}}};
    const double n = double(e.sorted.size());
    const std::size_t every = e.sorted.size() / 300 + 1;
    for (std::size_t i = 0; i + 1 < e.sorted.size(); i += i + 50 < e.sorted.size() ? every : 1) {
      const double x = e.sorted[i];
      figure.lines[0].points.push_back({x, 1 - double(i + 1) / n});
      const double gamma = 1 - gamma_cdf(e.gamma, x),
                   normal = std::erfc(x / (e.half_normal_scale * std::sqrt(2.0)));
      // Below one step of all there is nothing to compare with.
      if (gamma > 0.1 / n) figure.lines[1].points.push_back({x, gamma});
      if (normal > 0.1 / n) figure.lines[2].points.push_back({x, normal});
    }
    write_file_atomically(
        folder / file_name(fmt::format("energies-{}-{}-{}", name_of(cell.target), noise_text(cell), label)),
        svg_of(figure));
  }
  if (any) write_file_atomically(AnalyticPaths(folder).energies(), csv);
}

std::vector<std::string> remarks_on(const AnalyticReport& report, const AnalyticCell& cell,
                                    const AnalyticPoint& best) {
  std::vector<std::string> remarks;
  if (!cell.winner)
    remarks.push_back(fmt::format("no winner; {} of {} chains here have under 10 effective draws",
                                  best.marked_chains, best.bias.size()));
  if (cell.at_edge) remarks.push_back("at the edge of the grid");
  // A single exact draw scores 1 on average.
  if (best.mean >= 1) remarks.push_back("no better than one exact draw");
  if (cell.target == AnalyticalKind::funnel)
    remarks.push_back(fmt::format("{:.3g} with the authors' normaliser", best.authors_mean));
  if (report.config.record_modes && cell.target == AnalyticalKind::gmm)
    remarks.push_back(fmt::format("{} modes by all chains, {} by the first; mean move {:.3g}", best.all_modes,
                                  best.modes[0], best.mean_move));
  return remarks;
}

}  // namespace

std::string analytic_table(const AnalyticReport& report) {
  std::string text =
      fmt::format("{:<11} {:<26} {:<22} {:>12} {:>9} {:>10} {:>7} {:>9}  {}\n", "target", "noise", "method",
                  "b²", "± s.e.", "step size", "length", "draws", "remarks");
  for (const AnalyticCell& cell : report.cells) {
    const std::string& label = report.config.methods[cell.method].label;
    text += fmt::format("{:<11} {:<26} {:<22}", name_of(cell.target), noise_text(cell), label);
    const AnalyticPoint& best = cell.winner ? cell.points[*cell.winner] : least_of(cell);
    const std::string bias = fmt::format("{:.4g}", best.mean);
    text +=
        fmt::format(" {:>12} {:>9.2g} {:>10.3g} {:>7.3g} {:>9.3g}", cell.winner ? bias : "(" + bias + ")",
                    best.standard_error, best.step_size, best.decoherence_length, best.least_effective_draws);
    const char* before = "  ";
    for (const std::string& remark : remarks_on(report, cell, best)) {
      text += before + remark;
      before = "; ";
    }
    text += "\n";
  }
  const double done = double(report.chain_steps - report.kept_chain_steps);
  text += fmt::format("{:.3g} chain-steps in {:.1f} s, {:.1f} M a second", done, report.seconds,
                      report.seconds > 0 ? done / report.seconds / 1e6 : 0);
  if (report.kept_chain_steps > 0)
    text += fmt::format("; {:.3g} more were kept from an interrupted run", double(report.kept_chain_steps));
  text += "\n";
  return text;
}

void write_analytic_report(const AnalyticReport& report, const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Error(folder.string(), "the folder cannot be made (" + error.message() + ")",
                "give another `saving_dir` or --out", ErrorKind::run);
  const AnalyticPaths paths(folder);
  write_file_atomically(paths.table(), analytic_table(report));
  write_file_atomically(paths.points(), csv_of(report));
  write_file_atomically(paths.results(), json_of(report));
  write_step_figures(report, folder);
  write_sigma_figures(report, folder);
  write_mode_figures(report, folder);
  write_energy_figures(report, folder);
}

}  // namespace smile

#include "smile/report/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/page.hpp"
#include "report/plot.hpp"
#include "smile/data/atomic_file.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using report::escaped;
using report::number;
using report::Plot;
using report::Point;
using report::Scale;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

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

/// Numbers of our JSON files: non-finite ones are strings, what does not apply is null.
double value(const ordered_json& json, const char* key) {
  if (!json.is_object() || !json.contains(key)) return kNone;
  const auto& v = json[key];
  if (v.is_number()) return v.get<double>();
  if (v.is_string() && v == "inf") return std::numeric_limits<double>::infinity();
  if (v.is_string() && v == "-inf") return -std::numeric_limits<double>::infinity();
  return kNone;
}
double element(const ordered_json& v) {
  return v.is_number() ? v.get<double>() : kNone;
}

/// Columns of a trace by name; cells that are empty are NaN.
class Trace {
 public:
  explicit Trace(const fs::path& path) {
    std::ifstream in(path);
    std::string line;
    if (std::getline(in, line)) names_ = split(line);
    while (std::getline(in, line)) rows_.push_back(split(line));
  }
  std::vector<Point> points(const std::string& x, const std::string& y) const {
    const std::size_t i = column(x), j = column(y);
    std::vector<Point> out;
    for (const auto& row : rows_)
      if (row.size() > std::max(i, j)) out.push_back({parse(row[i]), parse(row[j])});
    return out;
  }

 private:
  static std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> cells(1);
    for (const char c : line) {
      if (c == ',')
        cells.emplace_back();
      else
        cells.back() += c;
    }
    return cells;
  }
  static double parse(const std::string& cell) {
    char* end = nullptr;
    const double v = std::strtod(cell.c_str(), &end);
    return end == cell.c_str() ? kNone : v;
  }
  std::size_t column(const std::string& name) const {
    return std::size_t(std::find(names_.begin(), names_.end(), name) - names_.begin());
  }
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> rows_;
};

/// At most some 400 points: more only make the page heavy.
std::vector<Point> thinned(std::vector<Point> points) {
  const std::size_t every = points.size() / 400 + 1;
  std::vector<Point> out;
  for (std::size_t i = 0; i < points.size(); i += every) out.push_back(points[i]);
  if (!points.empty() && (points.size() - 1) % every != 0) out.push_back(points.back());
  return out;
}

struct Files {
  fs::path run;
  ordered_json state, metrics, sampling, members, diagnostics, chains;
  std::string config;
};

Files read_files(const fs::path& run) {
  if (!fs::exists(run / "eval" / "metrics.json"))
    throw Error(run.string(), "the run has not been evaluated",
                "let it finish (smile run … --resume) or use smile evaluate");
  const fs::path eval = run / "eval";
  return {run,
          json_of(run / "status.json"),
          json_of(eval / "metrics.json"),
          json_of(eval / "sampling.json"),
          json_of(eval / "ensemble_initialization.json"),
          json_of(eval / "diagnostics.json"),
          json_of(eval / "chains.json"),
          text_of(run / "config.yaml")};
}

std::string head(const Files& f) {
  const std::string name =
      f.run.filename().empty() ? f.run.parent_path().filename().string() : f.run.filename().string();
  return fmt::format(
      "<h1>{}</h1>\n<p class=\"quiet\">{} · {} draws of {} chains{} · written {} · smile {}</p>\n",
      escaped(name), escaped(f.state.value("status", "")), f.metrics.value("draws", 0),
      f.metrics.value("chains", 0),
      f.metrics.value("failed_chains", 0) > 0
          ? fmt::format(" ({} failed)", f.metrics.value("failed_chains", 0))
          : "",
      escaped(f.state.value("time", "")), escaped(f.state.value("version", "")));
}

std::string warnings(const Files& f) {
  std::string out;
  if (!f.metrics.contains("warnings")) return out;
  for (const auto& w : f.metrics["warnings"])
    out += fmt::format("<p class=\"warning\">{}</p>\n", escaped(w.get<std::string>()));
  return out;
}

std::string metrics_section(const Files& f) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : f.metrics["metrics"])
    rows.push_back({row.value("name", ""), number(value(row, "ensemble_initialization")),
                    number(value(row, "sampling"))});
  return "<h2>Test metrics</h2>\n" + report::table({"metric", "ensemble", "sampling"}, rows) +
         "<p class=\"quiet\">Ensemble: the warm-started networks alone. Sampling: all stored draws of all "
         "chains. LPPD is the "
         "mean log predictive density of a test point; more is better.</p>\n";
}

std::string running_lppd(const Files& f) {
  if (!f.sampling.contains("running_lppd")) return {};
  const auto& running = f.sampling["running_lppd"];
  std::vector<Point> points;
  for (std::size_t i = 0; i < running["samples"].size(); ++i)
    points.push_back({element(running["samples"][i]), element(running["lppd"][i])});
  Plot plot({"draws of each chain", Scale::log}, {"test LPPD"});
  plot.line(thinned(points), "series-1", "running LPPD");
  double ensemble = kNone;
  for (const auto& row : f.metrics["metrics"])
    if (row.value("name", "") == "LPPD") ensemble = value(row, "ensemble_initialization");
  // An ensemble far below would press the curve flat.
  const bool near = std::isfinite(ensemble);
  if (near) plot.level(ensemble, "reference", "warm-started ensemble");
  return report::figure("Running LPPD", plot.svg("Test LPPD against the number of draws of each chain"),
                        near ? "The first draws of every chain; dashed: the warm-started ensemble."
                             : "The first draws of every chain.");
}

std::string chainwise(const Files& f) {
  if (!f.sampling.contains("sequential_lppd")) return {};
  std::vector<Point> together, alone;
  const auto &sequential = f.sampling["sequential_lppd"], &each = f.sampling["chainwise_lppd"];
  for (std::size_t k = 0; k < sequential.size(); ++k)
    together.push_back({double(k + 1), element(sequential[k])});
  for (std::size_t k = 0; k < each.size(); ++k) alone.push_back({double(k + 1), element(each[k])});
  Plot plot({"chains"}, {"test LPPD"});
  plot.x_range(0.5, double(std::max<std::size_t>(1, each.size())) + 0.5);
  plot.line(together, "series-2", "the first k chains together");
  plot.points(alone, "series-1", "one chain alone");
  return report::figure("LPPD by chain", plot.svg("Test LPPD of single chains and of the first k together"),
                        "Dots: one chain alone. Line: the first k chains together.");
}

std::string coverage(const Files& f) {
  if (!f.sampling.contains("intervals") || f.sampling["intervals"].empty()) return {};
  std::vector<Point> points;
  for (const auto& interval : f.sampling["intervals"])
    points.push_back({value(interval, "nominal"), value(interval, "observed")});
  Plot plot({"nominal coverage"}, {"observed coverage"});
  plot.x_range(0, 1);
  plot.y_range(0, 1);
  plot.line({{0, 0}, {1, 1}}, "reference", "perfect calibration");
  plot.points(points, "series-1", "central intervals");
  return report::figure(
      "Coverage", plot.svg("Observed against nominal coverage of central intervals"),
      "Share of test targets inside the central predictive interval. Above the dashed line: intervals "
      "are too wide; below: too narrow.");
}

std::string reliability(const Files& f) {
  if (!f.sampling.contains("reliability")) return {};
  const auto& bins = f.sampling["reliability"];
  std::vector<Point> points;
  for (std::size_t i = 0; i < bins["count"].size(); ++i)
    points.push_back({element(bins["confidence"][i]), element(bins["accuracy"][i])});
  Plot plot({"confidence"}, {"accuracy"});
  plot.x_range(0, 1);
  plot.y_range(0, 1);
  plot.line({{0, 0}, {1, 1}}, "reference", "perfect calibration");
  plot.points(points, "series-1", "bins of confidence");
  return report::figure("Reliability", plot.svg("Accuracy against confidence of the predicted class"),
                        "Share of right predictions among those of equal confidence. Below the dashed line: "
                        "overconfident.");
}

std::string step_sizes(const Files& f) {
  Plot plot({"step"}, {"step size", Scale::log});
  double warmup = kNone;
  for (const auto& chain : f.chains) {
    const auto number = chain.value("chain", 0);
    const Trace trace(f.run / "trace" / fmt::format("chain-{:02}.csv", number));
    plot.line(thinned(trace.points("step", "step_size")), "many", fmt::format("chain {}", number));
    warmup = value(chain, "warmup_steps");
  }
  return report::figure("Step size", plot.svg("Step size of every chain against the step"),
                        std::isfinite(warmup)
                            ? fmt::format("One line a chain; warm-up ends at step {}.", warmup)
                            : std::string("One line a chain."));
}

std::string monitor(const Files& f, const char* column, const char* heading, const char* axis,
                    const char* caption, Scale scale = Scale::linear) {
  Plot plot({"step"}, {axis, scale});
  bool any = false;
  for (const auto& chain : f.chains) {
    const auto number = chain.value("chain", 0);
    const Trace trace(f.run / "trace" / fmt::format("chain-{:02}-monitor.csv", number));
    auto points = thinned(trace.points("step", column));
    any = any || std::any_of(points.begin(), points.end(), [](const Point& p) { return std::isfinite(p.y); });
    plot.line(std::move(points), "many", fmt::format("chain {}", number));
  }
  if (!any) return {};
  return report::figure(heading, plot.svg(heading), caption);
}

/// Density of log10 x where x is Gamma(k, ϑ).
double log_gamma_density(double x, double k, double scale) {
  const double log_density = (k - 1) * std::log(x) - x / scale - std::lgamma(k) - k * std::log(scale);
  return std::exp(log_density) * x * std::log(10.0);
}

/// |ΔE| of all chains, with the mean of their fitted Gammas.
std::string energy_errors(const Files& f) {
  std::vector<std::pair<double, double>> fits;
  double low = std::numeric_limits<double>::infinity(), high = -low, width = 0.1, total = 0;
  for (const auto& chain : f.chains) {
    const auto& energy = chain["energy_error"];
    if (energy["counts"].empty()) continue;
    width = value(energy, "log10_bin_width");
    low = std::min(low, value(energy, "log10_first_edge"));
    high = std::max(high, value(energy, "log10_first_edge") + double(energy["counts"].size()) * width);
    const double k = value(energy, "gamma_shape"), scale = value(energy, "gamma_scale");
    if (k > 0 && scale > 0) fits.emplace_back(k, scale);
  }
  if (!(low < high)) return {};
  std::vector<Point> bars(std::size_t(std::lround((high - low) / width)));
  for (std::size_t i = 0; i < bars.size(); ++i) bars[i].x = low + double(i) * width;
  for (const auto& chain : f.chains) {
    const auto& energy = chain["energy_error"];
    if (energy["counts"].empty()) continue;
    const auto first = std::size_t(std::lround((value(energy, "log10_first_edge") - low) / width));
    for (std::size_t i = 0; i < energy["counts"].size(); ++i) {
      bars[first + i].y += element(energy["counts"][i]);
      total += element(energy["counts"][i]);
    }
  }
  for (auto& bar : bars) bar.y /= total * width;
  Plot plot({"log10 |energy change|"}, {"density"});
  plot.bars(bars, width, "");
  if (!fits.empty()) {
    std::vector<Point> curve;
    for (int i = 0; i <= 200; ++i) {
      const double x = low + (high - low) * i / 200;
      double density = 0;
      for (const auto& [k, scale] : fits)
        density += log_gamma_density(std::pow(10, x), k, scale) / double(fits.size());
      curve.push_back({x, density});
    }
    plot.line(curve, "series-2", "fitted Gamma");
  }
  return report::figure(
      "Energy error", plot.svg("Distribution of the absolute energy change of a step"),
      fits.empty() ? "Sampling steps of all chains."
                   : "Bars: sampling steps of all chains. Line: the Gamma that the guardrail has fitted.");
}

std::string chains_section(const Files& f) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& chain : f.chains) {
    const auto &warm = chain["warmup"], &samp = chain["sampling"];
    rows.push_back({std::to_string(chain.value("chain", 0)), chain.value("status", ""),
                    number(value(chain, "test_lppd")), number(value(chain, "test_rmse")),
                    number(value(chain, "training_log_likelihood")),
                    number(value(chain, "position_norm2_per_dim")), number(value(chain, "step_size_first")),
                    number(value(chain, "step_size_after_warmup")), number(value(chain, "step_size_last")),
                    number(100 * value(warm, "refusal_frequency")),
                    number(100 * value(samp, "refusal_frequency")), number(value(samp, "mean_turn_angle")),
                    number(value(chain["energy_error"], "kolmogorov_distance")),
                    number(value(chain, "steps_per_second")), number(value(chain, "gradients_per_second")),
                    number(value(chain, "seconds"))});
  }
  return "<h2>Chains</h2>\n" +
         report::table({"chain", "status", "LPPD", "RMSE", "train log-lik.", "|θ|²/d", "ε first",
                        "ε warm-up end", "ε last", "resets warm-up %", "resets %", "turn angle",
                        "K-S of |ΔE|", "steps/s", "gradients/s", "seconds"},
                       rows);
}

std::string diagnostics_section(const Files& f) {
  if (!f.diagnostics.contains("parameters")) return {};
  std::vector<std::vector<std::string>> rows;
  for (const char* group : {"parameters", "predictions"})
    for (const auto& [key, name] : {std::pair{"rhat", "R-hat"},
                                    {"chainwise_rhat", "chain-wise R-hat"},
                                    {"ess_bulk", "bulk ESS"},
                                    {"ess_tail", "tail ESS"}}) {
      const auto& spread = f.diagnostics[group][key];
      rows.push_back({fmt::format("{} of {}", name, group), number(value(spread, "min")),
                      number(value(spread, "q05")), number(value(spread, "median")),
                      number(value(spread, "q95")), number(value(spread, "max"))});
    }
  return "<h2>Convergence</h2>\n" + report::table({"", "min", "5 %", "median", "95 %", "max"}, rows) +
         fmt::format(
             "<p class=\"quiet\">{} parameters drawn at random (with log σ where there is one) and {} test "
             "predictions, {} draws a chain. Networks have many equivalent modes: chains need not agree "
             "about "
             "parameters, and the chain-wise R-hat asks only whether each agrees with itself.</p>\n",
             f.diagnostics["parameters"].value("quantities", 0),
             f.diagnostics["predictions"].value("quantities", 0), f.diagnostics.value("draws_per_chain", 0));
}

}  // namespace

std::string write_report(const std::string& run_directory) {
  const Files f = read_files(run_directory);
  std::string body = head(f) + warnings(f) + metrics_section(f);
  const std::string figures =
      running_lppd(f) + chainwise(f) + coverage(f) + reliability(f) + step_sizes(f) + energy_errors(f) +
      monitor(f, "training_log_likelihood", "Training log-likelihood", "log-likelihood",
              "All training rows, every 1,000 steps; one line a chain. A line far below the others is a "
              "chain that has "
              "blown up.") +
      monitor(f, "turn_angle", "Turning angle", "angle of a step", "Mean over 1,000 steps; one line a chain.",
              Scale::log);
  body += "<h2>Pictures</h2>\n<div class=\"figures\">\n" + figures + "</div>\n";
  body += chains_section(f) + diagnostics_section(f);
  body += "<h2>Configuration</h2>\n<details><summary>config.yaml</summary><pre>" + escaped(f.config) +
          "</pre></details>\n";
  const std::string path = (f.run / "report.html").string();
  write_file_atomically(path, report::page("smile: " + f.run.filename().string(), body));
  return path;
}

}  // namespace smile

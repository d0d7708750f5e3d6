// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/figures.hpp"
#include "report/page.hpp"
#include "smile/adaptation/energy_tuner.hpp"
#include "smile/ensemble/chain_files.hpp"

namespace smile::report {
namespace {

constexpr std::size_t kColours = 10;  ///< more chains than these share one

bool is_odd(const RunFiles& run, std::uint32_t chain) {
  if (run.diagnostics.contains("chains"))
    for (const auto& d : run.diagnostics.at("chains"))
      if (d.value("chain", std::int64_t{-1}) == std::int64_t(chain))
        return !d.value("verdict", "").starts_with("sound");
  return false;
}

/// A colour a chain where there are enough. Those that the diagnosis does not call sound stand out.
std::string style_of(const RunFiles& run, std::uint32_t chain) {
  const char* odd = is_odd(run, chain) ? " odd" : "";
  if (run.chains.size() > kColours) return std::string("many") + odd;
  std::size_t place = 0;
  while (place < run.chains.size() && run.chains[place].chain != chain) ++place;
  return fmt::format("many{} one c{}", odd, place);
}

Key key_of_chains(const RunFiles& run) {
  const bool has_odd = std::any_of(run.chains.begin(), run.chains.end(),
                                   [&](const ChainReport& chain) { return is_odd(run, chain.chain); });
  Key key;
  if (run.chains.size() > kColours) {
    key.push_back({"many", has_odd ? "a sound chain" : "a chain"});
    if (has_odd) key.push_back({"many odd", "a chain that is not"});
    return key;
  }
  for (const ChainReport& chain : run.chains)
    key.push_back({style_of(run, chain.chain), fmt::format("{}{}{}", key.empty() ? "chain " : "", chain.chain,
                                                           is_odd(run, chain.chain) ? " (not sound)" : "")});
  return key;
}

double warmup_steps(const RunFiles& run) {
  return run.chains.empty() ? kNone : double(run.chains.front().warmup_steps);
}

void mark_warmup(Plot& plot, Key& key, const RunFiles& run) {
  const double end = warmup_steps(run);
  if (!(end > 0)) return;
  plot.mark(end, "reference", "end of warm-up");
  key.push_back({"reference", "end of warm-up"});
}

/// One line a chain of a column of the monitors.
std::string lines(const RunFiles& run, double WindowRow::*column, const char* heading, AxisOptions axis,
                  const std::string& caption) {
  Plot plot({"step"}, std::move(axis));
  for (const ChainReport& chain : run.chains) {
    const auto number = chain.chain;
    std::vector<Point> points;
    for (const WindowRow& row : read_rows<WindowRow>(monitor_path(run.path, number)))
      points.push_back({double(row.step), row.*column});
    plot.line(thinned(points), style_of(run, number), fmt::format("chain {}", number));
  }
  if (!plot.has_content()) return {};
  Key key = key_of_chains(run);
  mark_warmup(plot, key, run);
  return figure(heading, plot.svg(heading), caption, key);
}

std::string step_sizes(const RunFiles& run) {
  const auto& sampler = run.config.training.sampler;
  const bool energy_rule = sampler.follows_energy();
  Plot plot({"step"}, {"step size", Scale::log});
  for (const ChainReport& chain : run.chains) {
    const auto number = chain.chain;
    std::vector<Point> points;
    for (const StepRow& row : read_rows<StepRow>(trace_path(run.path, number)))
      points.push_back({double(row.step), row.step_size});
    plot.line(thinned(points), style_of(run, number), fmt::format("chain {}", number));
  }
  if (!plot.has_content()) return {};
  Key key = key_of_chains(run);
  std::string caption = "How far a step moves a chain.";
  if (energy_rule) {
    plot.level(StepSizeDrift::low * sampler.step.step_size, "series-2 thin", "lower bound");
    plot.level(StepSizeDrift::high * sampler.step.step_size, "series-2 thin", "upper bound");
    key.push_back({"series-2 thin",
                   fmt::format("{:g} and {:g} times step_size", StepSizeDrift::low, StepSizeDrift::high)});
    caption =
        "The energy rule has no fixed point: the step size drifts. Outside the two bounds the run warns.";
  }
  mark_warmup(plot, key, run);
  return figure("Step size", plot.svg("Step size of every chain against the step"), caption, key);
}

/// Refused steps of all chains in windows of 1,000 steps, against κ.
std::string reset_frequency(const RunFiles& run) {
  std::map<double, std::pair<double, double>> windows;  // end → refused, steps
  for (const ChainReport& chain : run.chains) {
    double before = 0;
    for (const WindowRow& row : read_rows<WindowRow>(monitor_path(run.path, chain.chain))) {
      auto& [refused, steps] = windows[double(row.step)];
      refused += double(row.refused);
      steps += double(row.step) - before;
      before = double(row.step);
    }
  }
  std::vector<Point> points;
  for (const auto& [end, sums] : windows)
    if (sums.second > 0) points.push_back({end, 100 * sums.first / sums.second});
  if (points.empty()) return {};
  Plot plot({"step"}, {"refused steps (%)"});
  plot.line(thinned(points), "series-1", "all chains");
  Key key{{"series-1", "all chains"}};
  const auto& sampler = run.config.training.sampler;
  std::string caption = "Steps that were refused, in windows of 1,000.";
  if (sampler.has_guardrail()) {
    const double kappa = 1 - sampler.microcanonical.tuner.reset_prob;
    plot.level(StepSizeDrift::high * kappa, "series-2 thin", "kappa");
    key.push_back({"series-2 thin", fmt::format("κ = {:g} %", 100 * kappa)});
    caption += " Near κ where |ΔE| follows its Gamma fit; far above it the step size is too large.";
  }
  mark_warmup(plot, key, run);
  return figure("Resets", plot.svg("Share of refused steps against the step"), caption, key);
}

/// Density of log10 x where x is Gamma(k, ϑ).
double log_gamma_density(double x, double k, double scale) {
  const double log_density = (k - 1) * std::log(x) - x / scale - std::lgamma(k) - k * std::log(scale);
  return std::exp(log_density) * x * std::log(10.0);
}

/// |ΔE| of all chains, with the mean of their fitted Gammas.
std::string energy_errors(const RunFiles& run) {
  std::vector<std::pair<double, double>> fits;
  double low = std::numeric_limits<double>::infinity(), high = -low, width = 0.1, total = 0, distance = 0;
  for (const ChainReport& chain : run.chains) {
    const EnergyReport& energy = chain.energy;
    if (energy.counts.empty()) continue;
    width = energy.log10_bin_width;
    low = std::min(low, energy.log10_first_edge);
    high = std::max(high, energy.log10_first_edge + double(energy.counts.size()) * width);
    const double k = energy.gamma_shape, scale = energy.gamma_scale;
    if (k > 0 && scale > 0) fits.emplace_back(k, scale), distance += energy.kolmogorov_distance;
  }
  if (!(low < high)) return {};
  std::vector<Point> bars(std::size_t(std::lround((high - low) / width)));
  for (std::size_t i = 0; i < bars.size(); ++i) bars[i].x = low + double(i) * width;
  for (const ChainReport& chain : run.chains) {
    const EnergyReport& energy = chain.energy;
    if (energy.counts.empty()) continue;
    const auto first = std::size_t(std::lround((energy.log10_first_edge - low) / width));
    for (std::size_t i = 0; i < energy.counts.size(); ++i) {
      bars[first + i].y += double(energy.counts[i]);
      total += double(energy.counts[i]);
    }
  }
  for (auto& bar : bars) bar.y /= total * width;
  Plot plot({"log10 |ΔE|"}, {"density"});
  plot.bars(bars, width, "");
  Key key{{"bar", "sampling steps"}};
  std::string caption = "Energy change of a step, all chains.";
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
    key.push_back({"series-2", "fitted Gamma"});
    caption += fmt::format(
        " Kolmogorov distance to the fit {:.2f} (mean of the chains); above about 0.2 resets need "
        "not come at the chosen rate.",
        distance / double(fits.size()));
  }
  return figure("Energy errors", plot.svg("Distribution of the absolute energy change of a step"), caption,
                key);
}

/// Shares of the values that lie below x.
std::vector<Point> distribution(std::vector<double> values) {
  std::erase_if(values, [](double v) { return !std::isfinite(v); });
  std::sort(values.begin(), values.end());
  std::vector<Point> points;
  if (!values.empty()) points.push_back({values.front(), 0});
  for (std::size_t i = 0; i < values.size(); ++i)
    points.push_back({values[i], double(i + 1) / double(values.size())});
  return thinned(points);
}

struct Quantities {
  std::vector<double> rhat, chainwise, bulk, tail;
};

Quantities quantities_of(const RunFiles& run, const char* prefix) {
  Quantities out;
  for (const auto& q : run.diagnostics.at("quantities")) {
    if (!q.value("name", "").starts_with(prefix)) continue;
    out.rhat.push_back(json_number(q, "rhat"));
    out.bulk.push_back(json_number(q, "ess_bulk"));
    out.tail.push_back(json_number(q, "ess_tail"));
    for (const auto& r : q.at("chainwise_rhat")) out.chainwise.push_back(json_number(r));
  }
  return out;
}

}  // namespace

std::string chain_figures(const RunFiles& run) {
  return step_sizes(run) + reset_frequency(run) + energy_errors(run) +
         lines(run, &WindowRow::gamma_shape, "Shape of the Gamma fit", {"shape k", Scale::log},
               "Of |ΔE|, over time. A level line means that the energy errors keep their form.") +
         lines(run, &WindowRow::gamma_scale, "Scale of the Gamma fit", {"scale ϑ", Scale::log},
               "Of |ΔE|, over time. It follows the step size and the noise of the batches.") +
         lines(run, &WindowRow::kolmogorov_distance, "Distance to the Gamma fit", {"Kolmogorov distance"},
               "Between |ΔE| and the fits of each window of 1,000 steps.") +
         lines(run, &WindowRow::training_log_likelihood, "Training log-likelihood", {"log-likelihood"},
               "All training rows, every 1,000 steps. A line far below the others is a chain that has blown "
               "up.") +
         lines(run, &WindowRow::position_norm2_per_dim, "Size of the parameters", {"|θ|²/d", Scale::log},
               "Level once a chain has settled; a standard normal prior alone would give 1.") +
         lines(run, &WindowRow::turn_angle, "Turning angle", {"angle of a step", Scale::log},
               "How far a step turns the velocity, mean over 1,000 steps.");
}

std::string convergence_figures(const RunFiles& run) {
  if (!run.diagnostics.contains("quantities")) return {};
  const Quantities parameters = quantities_of(run, "theta["), predictions = quantities_of(run, "prediction[");
  std::string out;
  double largest = 1.2;
  for (const auto* values :
       {&predictions.rhat, &parameters.rhat, &predictions.chainwise, &parameters.chainwise})
    for (const double r : *values)
      if (std::isfinite(r)) largest = std::max(largest, r);
  Plot rhat({"R-hat", largest > 4 ? Scale::log : Scale::linear}, {"share of quantities below"});
  rhat.x_range(0.99, largest);
  rhat.y_range(0, 1);
  rhat.line(distribution(predictions.rhat), "series-1", "predictions");
  rhat.line(distribution(parameters.rhat), "series-2", "parameters");
  rhat.line(distribution(predictions.chainwise), "series-1 dashed", "predictions, each chain alone");
  rhat.line(distribution(parameters.chainwise), "series-2 dashed", "parameters, each chain alone");
  if (rhat.has_content())
    out += figure("R-hat", rhat.svg("Distribution of R-hat over parameters and predictions"),
                  "1 where chains agree. Networks have many equivalent modes: chains need not agree about "
                  "parameters. The "
                  "dashed lines ask only whether each chain agrees with itself.",
                  {{"series-1", "predictions"},
                   {"series-2", "parameters"},
                   {"series-1 dashed", "predictions, chain alone"},
                   {"series-2 dashed", "parameters, chain alone"}});
  Plot ess({"effective draws", Scale::log}, {"share of quantities below"});
  ess.y_range(0, 1);
  ess.line(distribution(predictions.bulk), "series-1", "predictions, bulk");
  ess.line(distribution(parameters.bulk), "series-2", "parameters, bulk");
  ess.line(distribution(predictions.tail), "series-1 dashed", "predictions, tail");
  ess.line(distribution(parameters.tail), "series-2 dashed", "parameters, tail");
  if (ess.has_content())
    out += figure(
        "Effective sample size", ess.svg("Distribution of effective sample sizes"),
        fmt::format("Independent draws that the {} stored ones of a chain are worth, all chains together.",
                    grouped(run.diagnostics.value("draws_per_chain", 0.0))),
        {{"series-1", "predictions, bulk"},
         {"series-2", "parameters, bulk"},
         {"series-1 dashed", "predictions, tail"},
         {"series-2 dashed", "parameters, tail"}});
  return out;
}

}  // namespace smile::report

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/figures.hpp"
#include "report/page.hpp"

namespace smile::report {
namespace {

/// Share of u whose central interval of coverage c holds it (u: distribution function at the target).
double covered(const std::vector<double>& pit, double c) {
  if (pit.empty()) return kNone;
  std::size_t inside = 0;
  for (const double u : pit) inside += std::fabs(2 * u - 1) <= c;
  return double(inside) / double(pit.size());
}

/// What chance alone does to the observed coverage of n targets: two standard deviations about the diagonal.
void add_chance_band(Plot& plot, double n) {
  std::vector<Point> low, high;
  for (int i = 0; i <= 50; ++i) {
    const double c = i / 50.0, sd = std::sqrt(c * (1 - c) / n);
    low.push_back({c, std::max(0.0, c - 2 * sd)});
    high.push_back({c, std::min(1.0, c + 2 * sd)});
  }
  plot.band(low, high, "", "two standard deviations of chance");
}

/// The same for bins of confidence, each with rows of its own number.
void add_chance_band_of_bins(Plot& plot, const nlohmann::ordered_json& bins) {
  std::vector<Point> low, high;
  for (std::size_t i = 0; i < bins.at("count").size(); ++i) {
    const double n = json_number(bins.at("count").at(i)), c = json_number(bins.at("confidence").at(i));
    if (!(n > 0)) continue;
    const double sd = std::sqrt(c * (1 - c) / n);
    low.push_back({c, std::max(0.0, c - 2 * sd)});
    high.push_back({c, std::min(1.0, c + 2 * sd)});
  }
  if (low.size() > 1) plot.band(low, high, "", "two standard deviations of chance");
}

std::string coverage_figure(const std::vector<double>& pit) {
  std::vector<Point> curve;
  for (int i = 0; i <= 100; ++i) curve.push_back({i / 100.0, covered(pit, i / 100.0)});
  Plot plot({"nominal coverage"}, {"observed coverage"});
  plot.x_range(0, 1);
  plot.y_range(0, 1);
  add_chance_band(plot, double(pit.size()));
  plot.line({{0, 0}, {1, 1}}, "reference", "perfect calibration");
  plot.line(curve, "series-1", "central intervals");
  plot.points({{0.9, covered(pit, 0.9)}}, "series-1", "90 % intervals");
  return figure(
      "Calibration", plot.svg("Observed against nominal coverage of central predictive intervals"),
      fmt::format("Share of the {} test targets inside their central predictive interval; the dot is the "
                  "90 % interval. Above the diagonal intervals are too wide, below too narrow.",
                  grouped(double(pit.size()))),
      {{"series-1", "this run"}, {"reference", "perfect"}, {"band", "what chance alone does"}});
}

std::string reliability_figure(const RunFiles& run) {
  const auto& bins = run.sampling.at("reliability");
  double total = 0;
  for (const auto& count : bins.at("count")) total += json_number(count);
  Plot plot({"confidence"}, {"accuracy"});
  plot.x_range(0, 1);
  plot.y_range(0, 1);
  add_chance_band_of_bins(plot, bins);
  plot.line({{0, 0}, {1, 1}}, "reference", "perfect calibration");
  std::vector<Point> line;
  for (std::size_t i = 0; i < bins.at("count").size(); ++i) {
    const double count = json_number(bins.at("count").at(i));
    const Point point{json_number(bins.at("confidence").at(i)), json_number(bins.at("accuracy").at(i))};
    if (!(count > 0)) continue;
    line.push_back(point);
    plot.points({point}, "series-1", fmt::format("{:.0f} rows", count), 2.5 + 6 * std::sqrt(count / total));
  }
  plot.line(line, "series-1 thin", "");
  return figure(
      "Calibration", plot.svg("Accuracy against confidence of the predicted class"),
      "Share of right predictions among those of equal confidence; larger dots hold more rows. Below the "
      "diagonal the network is overconfident.",
      {{"dot series-1", "bins of confidence"}, {"reference", "perfect"}, {"band", "what chance alone does"}});
}

std::string running_lppd(const RunFiles& run) {
  if (!run.sampling.contains("running_lppd")) return {};
  const auto& running = run.sampling.at("running_lppd");
  std::vector<Point> points;
  for (std::size_t i = 0; i < running.at("samples").size(); ++i)
    points.push_back({json_number(running.at("samples").at(i)), json_number(running.at("lppd").at(i))});
  Plot plot({"draws of each chain", Scale::log}, {"test LPPD"});
  plot.line(thinned(points), "series-1", "running LPPD");
  const double ensemble = run.metric(metric::kLppd, Phase::ensemble);
  Key key{{"series-1", "first draws of all chains"}};
  if (std::isfinite(ensemble)) {
    plot.level(ensemble, "reference", "warm-started ensemble");
    key.push_back({"reference", "warm-started ensemble"});
  }
  return figure("Running LPPD", plot.svg("Test LPPD against the number of draws of each chain"),
                "If it still rises at its end, more draws would help.", key);
}

std::string lppd_by_chain(const RunFiles& run) {
  if (!run.sampling.contains("sequential_lppd")) return {};
  std::vector<Point> together, alone;
  const auto &sequential = run.sampling.at("sequential_lppd"), &each = run.sampling.at("chainwise_lppd");
  for (std::size_t k = 0; k < sequential.size(); ++k)
    together.push_back({double(k + 1), json_number(sequential.at(k))});
  for (std::size_t k = 0; k < each.size(); ++k) alone.push_back({double(k + 1), json_number(each.at(k))});
  Plot plot({"chains"}, {"test LPPD"});
  plot.x_range(0.5, double(std::max<std::size_t>(1, each.size())) + 0.5);
  plot.line(together, "series-2", "the first k chains together");
  plot.points(alone, "series-1", "one chain alone");
  return figure("LPPD by chain", plot.svg("Test LPPD of single chains and of the first k together"),
                "If the line still rises on the right, more chains would help.",
                {{"dot series-1", "one chain alone"}, {"series-2", "the first k together"}});
}

std::string pit_figure(const std::vector<double>& pit) {
  constexpr std::size_t kBins = 20;
  std::vector<Point> bars(kBins);
  for (std::size_t i = 0; i < kBins; ++i) bars[i].x = double(i) / kBins;
  for (const double u : pit)
    bars[std::min(kBins - 1, std::size_t(std::max(0.0, u) * kBins))].y += kBins / double(pit.size());
  Plot plot({"predictive distribution function at the target"}, {"density"});
  plot.x_range(0, 1);
  plot.bars(bars, 1.0 / kBins, "");
  plot.level(1, "reference", "perfect calibration");
  return figure(
      "Where targets fall", plot.svg("Histogram of the predictive distribution function at the targets"),
      "Flat where calibrated. High at both ends: intervals too narrow; high in the middle: too wide; "
      "slanted: predictions too low or too high.",
      {{"bar", "test rows"}, {"reference", "perfect"}});
}

struct Errors {
  std::vector<double> sd, error, standardised;  ///< own unit, own unit, in predictive sds
};

Errors errors_of(const RunFiles& run) {
  const auto mean = run.array("mean"), target = run.array("target"), aleatoric = run.array("aleatoric_sd"),
             epistemic = run.array("epistemic_sd");
  Errors out;
  if (aleatoric.size() != mean.size()) return out;
  const double unit = run.data.normalisation.target_sd;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    const double sd = std::hypot(aleatoric[i], epistemic[i]);
    out.sd.push_back(unit * sd);
    out.error.push_back(unit * std::abs(target[i] - mean[i]));
    out.standardised.push_back((target[i] - mean[i]) / sd);
  }
  return out;
}

std::string predicted_and_observed(const RunFiles& run) {
  const auto mean = run.array("mean"), target = run.array("target");
  if (mean.empty() || mean.size() != target.size()) return {};
  const ColumnScaling& scale = run.data.normalisation;
  const std::size_t every = mean.size() / 1500 + 1;
  std::vector<Point> points;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (std::size_t i = 0; i < mean.size(); i += every) {
    const Point p{scale.original_target(mean[i]), scale.original_target(target[i])};
    if (!std::isfinite(p.x)) continue;
    points.push_back(p);
    low = std::min({low, p.x, p.y}), high = std::max({high, p.x, p.y});
  }
  if (!(low < high)) return {};
  const std::string name = run.data.target_name.empty() ? "target" : run.data.target_name;
  Plot plot({"predicted " + name}, {"observed " + name});
  plot.points(points, "faint", "", 2.5);
  plot.line({{low, low}, {high, high}}, "reference", "perfect");
  return figure("Predicted and observed", plot.svg("Observed target against predicted mean"),
                "One dot a test row, in the target's own unit.",
                {{"dot faint", "test rows"}, {"reference", "perfect"}});
}

/// Both axes logarithmic: one outlier squashes nothing, and two standard deviations are a straight line.
/// Errors far below the smallest standard deviation are drawn at the bottom.
std::string unsure_and_wrong(const RunFiles& run) {
  const Errors e = errors_of(run);
  if (e.sd.empty()) return {};
  const std::size_t every = e.sd.size() / 1000 + 1;
  std::vector<Point> usual, off;
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (std::size_t i = 0; i < e.sd.size(); ++i) {
    low = std::min(low, e.sd[i]), high = std::max(high, e.sd[i]);
    const double error = std::max(e.error[i], 0.01 * e.sd[i]);
    if (std::abs(e.standardised[i]) > 2)
      off.push_back({e.sd[i], error});
    else if (i % every == 0)
      usual.push_back({e.sd[i], error});
  }
  Plot plot({"predictive standard deviation", Scale::log}, {"absolute error", Scale::log});
  plot.points(usual, "faint", "", 2.5);
  plot.points(off, "series-2", "", 2.8);
  std::vector<Point> two;
  for (int i = 0; i <= 60; ++i) {
    const double sd = low * std::pow(high / low, i / 60.0);
    two.push_back({sd, 2 * sd});
  }
  plot.line(two, "reference", "two standard deviations");
  return figure(
      "Unsure, and wrong", plot.svg("Absolute error against predictive standard deviation"),
      fmt::format(
          "One dot a test row, in the target's own unit. To the right the predictions know that they "
          "are unsure; {:.1f} % of the rows are off by more than two standard deviations (a Normal has "
          "4.6 %). A Normal mixture is wider in its tails.",
          100 * double(off.size()) / double(e.sd.size())),
      {{"dot faint", "within two sd"}, {"dot series-2", "beyond"}, {"reference", "two sd"}});
}

/// Probabilities of one row: predicted class and its confidence.
std::pair<std::size_t, double> predicted(const std::vector<double>& p, std::size_t row, std::size_t classes) {
  const auto begin = p.begin() + std::ptrdiff_t(row * classes);
  const auto best = std::max_element(begin, begin + std::ptrdiff_t(classes));
  return {std::size_t(best - begin), *best};
}

std::string entropy_figure(const RunFiles& run) {
  const auto p = run.array("probabilities"), target = run.array("target");
  if (p.empty() || !run.sampling.contains("entropy")) return {};
  const std::size_t n = target.size(), classes = p.size() / n;
  const double top = std::log(double(classes));
  constexpr std::size_t kBins = 20;
  std::vector<double> right(kBins), wrong(kBins);
  double right_total = 0, wrong_total = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double entropy = json_number(run.sampling.at("entropy").at(i));
    if (!std::isfinite(entropy)) continue;
    const auto bin = std::min(kBins - 1, std::size_t(std::max(0.0, entropy / top) * kBins));
    const bool is_right = predicted(p, i, classes).first == std::size_t(target[i]);
    (is_right ? right : wrong)[bin] += 1;
    (is_right ? right_total : wrong_total) += 1;
  }
  const auto steps = [&](const std::vector<double>& counts, double total) {
    std::vector<Point> line{{0, 0}};
    for (std::size_t b = 0; b < kBins; ++b) {
      const double density = total > 0 ? counts[b] / total : 0;
      line.push_back({top * double(b) / kBins, density});
      line.push_back({top * double(b + 1) / kBins, density});
    }
    return line;
  };
  Plot plot({"entropy of the prediction (nats)"}, {"share of rows"});
  plot.x_range(0, top);
  plot.line(steps(right, right_total), "series-1", "right predictions");
  plot.line(steps(wrong, wrong_total), "series-2", "wrong predictions");
  return figure(
      "Unsure, and wrong", plot.svg("Entropy of right and of wrong predictions"),
      fmt::format("{} right and {} wrong predictions. Wrong ones on the left are those the network was sure "
                  "of.",
                  grouped(right_total), grouped(wrong_total)),
      {{"series-1", "right"}, {"series-2", "wrong"}});
}

/// Test set and out-of-distribution set by one score, as two distribution functions.
std::string out_of_distribution(const RunFiles& run) {
  std::vector<double> inside, outside;
  for (const NamedArray& array : run.out_of_distribution) {
    if (array.name == "test_entropy") inside = array.array.as<double>();
    if (array.name == "ood_entropy") outside = array.array.as<double>();
  }
  if (inside.empty() || outside.empty()) return {};
  const auto curve = [](std::vector<double> values) {
    std::sort(values.begin(), values.end());
    std::vector<Point> points;
    for (std::size_t i = 0; i < values.size(); ++i)
      points.push_back({values[i], double(i + 1) / double(values.size())});
    return thinned(points);
  };
  Plot plot({"entropy of the prediction (nats)"}, {"share of rows below"});
  plot.y_range(0, 1);
  plot.line(curve(inside), "series-1", "test set");
  plot.line(curve(outside), "series-2", "out-of-distribution set");
  return figure(
      "Out of distribution", plot.svg("Entropy on the test set and out of distribution"),
      fmt::format(
          "The further the second curve lies to the right, the better unfamiliar rows are told apart: "
          "AUROC {} by entropy, {} by mutual information, {} by log-density.{}",
          number(run.metric(metric::kOodEntropy)), number(run.metric(metric::kOodInformation)),
          number(run.metric(metric::kOodDensity)),
          run.is_regression() ? " Entropy is that of the Normal with the mixture's moments." : ""),
      {{"series-1", "test set"}, {"series-2", "out-of-distribution set"}});
}

/// Positions of the `count` largest scores, the largest first.
std::vector<std::size_t> largest(const std::vector<double>& score, std::size_t count) {
  std::vector<std::size_t> order(score.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return score[a] > score[b]; });
  order.resize(std::min(count, order.size()));
  return order;
}

constexpr std::size_t kWorst = 8;

std::string row_number(const RunFiles& run, std::size_t i) {
  return i < run.data.test_rows.size() ? std::to_string(run.data.test_rows[i]) : std::string("–");
}

std::string worst_regression(const RunFiles& run) {
  const Errors e = errors_of(run);
  if (e.sd.empty()) return {};
  const auto mean = run.array("mean"), target = run.array("target"), epistemic = run.array("epistemic_sd");
  std::vector<double> score;
  for (const double z : e.standardised) score.push_back(std::abs(z));
  std::vector<std::vector<Cell>> rows;
  const auto& scale = run.data.normalisation;
  for (const std::size_t i : largest(score, kWorst))
    rows.push_back({row_number(run, i), number(scale.original_target(target[i])),
                    number(scale.original_target(mean[i])), number(e.sd[i]),
                    number(scale.target_sd * epistemic[i]), number(e.standardised[i])});
  return "<h3>Rows that surprise most</h3>\n" +
         table({"row of the file", "target", "predicted", "sd", "of it epistemic", "off by (sd)"}, rows) +
         "<p class=\"quiet\">Rows count from 0, in the target's own unit. Epistemic: what more data would "
         "remove.</p>\n";
}

std::string worst_classification(const RunFiles& run) {
  const auto p = run.array("probabilities"), target = run.array("target");
  if (p.empty()) return {};
  const std::size_t n = target.size(), classes = p.size() / n;
  std::vector<double> score(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto [best, confidence] = predicted(p, i, classes);
    score[i] = best == std::size_t(target[i]) ? 0 : confidence;
  }
  const auto label = [&](std::size_t c) {
    return c < run.data.labels.names.size() ? run.data.labels.names[c] : std::to_string(c);
  };
  std::vector<std::vector<Cell>> rows;
  for (const std::size_t i : largest(score, kWorst)) {
    if (score[i] == 0) break;
    const auto truth = std::size_t(target[i]);
    rows.push_back({row_number(run, i), label(truth), label(predicted(p, i, classes).first), number(score[i]),
                    number(p[i * classes + truth]), number(json_number(run.sampling.at("entropy").at(i)))});
  }
  if (rows.empty()) return {};
  return "<h3>Sure, and wrong</h3>\n" +
         table({"row of the file", "label", "predicted", "confidence", "probability of the label", "entropy"},
               rows, 3);
}

}  // namespace

double coverage_of_intervals(const RunFiles& run, double nominal) {
  return covered(run.array("pit"), nominal);
}

std::string calibration_figure(const RunFiles& run) {
  if (const auto pit = run.array("pit"); !pit.empty()) return coverage_figure(pit);
  return run.sampling.contains("reliability") ? reliability_figure(run) : std::string();
}

std::string prediction_figures(const RunFiles& run) {
  const auto pit = run.array("pit");
  return running_lppd(run) + lppd_by_chain(run) +
         (pit.empty() ? "" : predicted_and_observed(run) + pit_figure(pit)) + unsure_and_wrong(run) +
         entropy_figure(run) + out_of_distribution(run);
}

std::string worst_rows(const RunFiles& run) {
  return run.is_regression() ? worst_regression(run) : worst_classification(run);
}

}  // namespace smile::report

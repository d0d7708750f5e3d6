// SPDX-License-Identifier: Apache-2.0
/// The first sentences of a report.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/figures.hpp"
#include "report/page.hpp"
#include "smile/diagnosis/diagnosis.hpp"

namespace smile::report {
namespace {

struct MeanAndError {
  double mean = kNone, error = kNone;
};
MeanAndError mean_of(const std::vector<double>& values) {
  MeanAndError out;
  const double n = double(values.size());
  if (values.size() < 2) return out;
  double sum = 0, square = 0;
  for (const double v : values) sum += v;
  out.mean = sum / n;
  for (const double v : values) square += (v - out.mean) * (v - out.mean);
  out.error = std::sqrt(square / (n - 1) / n);
  return out;
}

/// Two standard errors decide.
std::string against_members(const RunFiles& run) {
  const std::vector<double> own = run.array("lppd"), members = run.array("members_lppd");
  const MeanAndError level = mean_of(own);
  if (!std::isfinite(level.mean)) return {};
  const std::string at = fmt::format("LPPD {} ± {:.2g}", number(level.mean), level.error);
  if (members.size() != own.size()) return "Test " + at + ".";
  std::vector<double> gain(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) gain[i] = own[i] - members[i];
  const MeanAndError difference = mean_of(gain);
  const char* how = difference.mean > 2 * difference.error    ? "better than"
                    : difference.mean < -2 * difference.error ? "worse than"
                                                              : "about as well as";
  return fmt::format(
      "The sampler predicts {} the warm-started ensemble: {}, {}{:.3f} ± {:.2g} (standard errors over {} "
      "test rows).",
      how, at, difference.mean < 0 ? "−" : "+", std::abs(difference.mean), difference.error,
      grouped(double(own.size())));
}

std::string target_of(const RunFiles& run) {
  return run.data.target_name.empty() ? "the target" : run.data.target_name;
}

std::string against_a_constant(const RunFiles& run) {
  const std::vector<double> target = run.array("target");
  if (target.empty()) return {};
  if (run.is_regression()) {
    const std::vector<double> mean = run.array("mean");
    double centre = 0, squares = 0, total = 0;
    for (const double y : target) centre += y / double(target.size());
    for (std::size_t i = 0; i < std::min(mean.size(), target.size()); ++i) {
      squares += (mean[i] - target[i]) * (mean[i] - target[i]);
      total += (target[i] - centre) * (target[i] - centre);
    }
    if (!(total > 0) || mean.size() != target.size()) return {};
    const double scale = run.data.normalisation.target_sd, n = double(target.size());
    return fmt::format(
        "It is off by {} in the unit of {} (RMSE), where the mean of the test rows is off by {}: R² {:.3f}.",
        number(std::sqrt(squares / n) * scale), target_of(run), number(std::sqrt(total / n) * scale),
        1 - squares / total);
  }
  std::map<double, std::size_t> counts;
  for (const double y : target) ++counts[y];
  std::size_t most = 0;
  for (const auto& [label, count] : counts) most = std::max(most, count);
  return fmt::format("It is right for {} of them, where always the commonest class is right for {}.",
                     percent(run.metric(metric::kAccuracy)), percent(double(most) / double(target.size())));
}

/// Against what chance alone does to a share of so many rows.
std::string intervals(const RunFiles& run) {
  if (!run.is_regression()) return {};
  const double observed = coverage_of_intervals(run, 0.9), n = double(run.array("target").size());
  if (!std::isfinite(observed) || n == 0) return {};
  const double chance = 2 * std::sqrt(0.9 * 0.1 / n);
  const char* how = observed < 0.9 - chance   ? "too narrow"
                    : observed > 0.9 + chance ? "too wide"
                                              : "as wide as they should be";
  return fmt::format("Its 90 % intervals hold {}: they are {}.", percent(observed), how);
}

std::string agreement(const RunFiles& run) {
  if (!run.diagnostics.contains("predictions") || run.metrics.chains < 2) return {};
  const double r_hat = json_number(run.diagnostics.at("predictions").at("rhat"), "median");
  if (!std::isfinite(r_hat)) return {};
  return !chains_differ(run)
             ? fmt::format("The chains agree in their predictions (R-hat {:.2f}).", r_hat)
             : fmt::format(
                   "The chains differ in their predictions (R-hat {:.2f}), as is usual where each explores a "
                   "mode of its own.",
                   r_hat);
}

std::string rows(const RunFiles& run) {
  const std::size_t train = run.data.train_rows.size(), valid = run.data.valid_rows.size(),
                    test = run.data.test_rows.size();
  if (train == 0) return {};
  return fmt::format("{} rows trained it, {} chose its members\u2019 epochs, {} test it.",
                     grouped(double(train)), grouped(double(valid)), grouped(double(test)));
}

}  // namespace

bool chains_differ(const RunFiles& run) {
  if (!run.diagnostics.contains("findings")) return false;
  for (const auto& finding : run.diagnostics.at("findings"))
    if (finding.value("code", "") == name_of(Cause::chains_differ)) return true;
  return false;
}

std::string verdict(const RunFiles& run) {
  std::string text;
  for (const std::string& sentence :
       {against_members(run), against_a_constant(run), intervals(run), agreement(run), rows(run)})
    if (!sentence.empty()) text += (text.empty() ? "" : " ") + escaped(sentence);
  return text.empty() ? text : "<p class=\"verdict\">" + text + "</p>\n";
}

}  // namespace smile::report

// SPDX-License-Identifier: Apache-2.0
/// The report in a browser, and its numbers against independent ones.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <regex>
#include <sstream>

#include "browser.hpp"
#include "end_to_end/pipeline/program.hpp"
#include "smile/files/npy.hpp"
#include "smile/random/stream.hpp"

namespace smile::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// No page of ours asks for anything, whatever the browser: nothing that could, stands in it.
void expect_self_contained(const std::string& html) {
  const std::string body = std::regex_replace(html, std::regex("<pre>[^]*?</pre>"), "");
  for (const char* part :
       {"<script", "<link", "<img", "<iframe", "src=", "url(", "@import", "http://", "https://"})
    EXPECT_EQ(body.find(part), std::string::npos) << part;
  EXPECT_NE(body.find("default-src 'none'"), std::string::npos);
}

/// @param figures  headings that must be there
void expect_sound_page(const fs::path& page, const std::vector<std::string>& figures) {
  const std::string html = content_of(page);
  expect_self_contained(html);
  if (!has_browser())
    GTEST_SKIP() << "Chromium is not installed: scripts/install_dependencies.sh --tests installs it";
  const Visit alone = visit(page);
  EXPECT_EQ(alone.status, 0) << alone.said;
  EXPECT_EQ(alone.said.find("CONSOLE"), std::string::npos) << alone.said;
  const json seen = look_at(html, {400, 1400});
  ASSERT_EQ(seen.size(), 2u);
  for (const json& view : seen) {
    const int width = view["width"];
    EXPECT_LE(view["wants"], width) << view["wide"];
    EXPECT_TRUE(view["wide"].empty()) << width << ": " << view["wide"];
    EXPECT_TRUE(view["requests"].empty()) << view["requests"];
    EXPECT_GT(view["text"], 500);
    for (const json& f : view["figures"]) {
      EXPECT_GT(f["marks"], 0) << f;
      EXPECT_GT(f["width"], 200) << f;
      EXPECT_GT(f["height"], 100) << f;
      EXPECT_EQ(f["outside"], 0) << f;
    }
    for (const std::string& wanted : figures) {
      const bool there = std::any_of(view["figures"].begin(), view["figures"].end(),
                                     [&](const json& f) { return f["heading"] == wanted; });
      EXPECT_TRUE(there) << wanted;
    }
  }
}

/// What a newcomer looks for lies on the first two screens of a phone and on the first one of a desk.
void expect_found_at_once(const fs::path& page) {
  if (!has_browser()) return;
  const json seen = look_at(content_of(page), {400, 1400});
  ASSERT_EQ(seen.size(), 2u);
  for (const char* what : {"lppd", "warning", "calibration"}) {
    ASSERT_TRUE(seen[0][what].is_number()) << what;
    EXPECT_LT(seen[0][what], 2 * 800) << what;
    EXPECT_LT(seen[1][what], 800) << what;
  }
  for (const json& view : seen) EXPECT_TRUE(view["cut"].empty()) << view["width"] << view["cut"];
  // Some twenty figures and tables, two figures in a row; one figure a page would be three times as many
  // pages.
  const int pages = printed_pages(page);
  EXPECT_GE(pages, 3);
  EXPECT_LE(pages, 8);
}

const std::vector<std::string> kChainFigures = {"Step size",
                                                "Resets",
                                                "Energy errors",
                                                "Shape of the Gamma fit",
                                                "Scale of the Gamma fit",
                                                "Distance to the Gamma fit",
                                                "Training log-likelihood",
                                                "Running LPPD",
                                                "LPPD by chain",
                                                "R-hat",
                                                "Effective sample size",
                                                "Calibration"};

std::vector<std::string> with(std::vector<std::string> list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

/// Two classes by a rule that a small network learns.
std::string two_classes() {
  std::ostringstream table;
  for (int i = 0; i < 400; ++i) {
    const double x = std::sin(0.7 * i), y = std::cos(1.3 * i);
    table << x << ' ' << y << ' ' << (x * y > 0 ? "3" : "8") << '\n';
  }
  return table.str();
}

std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const auto begin = text.find(before);
  EXPECT_NE(begin, std::string::npos) << before;
  if (begin == std::string::npos) return {};
  const auto from = begin + before.size();
  return text.substr(from, text.find(after, from) - from);
}
std::string tile_of(const std::string& html, const std::string& what) {
  return between(html, "<div class=\"what\">" + what + "</div><div class=\"value\">", "</div>");
}
/// The sampler's column of a row of the table of metrics.
std::string cell_of(const std::string& html, const std::string& metric) {
  const std::string row = between(html, "<td class=\"text\">" + metric + "</td>", "</tr>");
  const std::string open = "<td>";
  const auto last = row.rfind(open);
  return last == std::string::npos ? row : between(row.substr(last), open, "</td>");
}

/// Whoever looks at a tile, at the sentence and at the table sees one number.
TEST(Report, TileSentenceAndTableAgreeToTheDigit) {
  TemporaryFolder folder;
  const Outcome numbers =
      smile({"run", folder.write("config.yaml", small_config()), "--out", folder / "run"});
  ASSERT_EQ(numbers.status, 0) << numbers.error;
  const std::string regression = content_of(folder / "run/report.html");
  EXPECT_EQ(tile_of(regression, "LPPD of the sampler (test rows)"), cell_of(regression, "LPPD"));
  EXPECT_EQ(tile_of(regression, "90 % intervals hold"), cell_of(regression, "coverage of 90 % intervals"));
  EXPECT_EQ(between(regression, "Its 90 % intervals hold ", ":"), tile_of(regression, "90 % intervals hold"));
  const std::string error = cell_of(regression, "RMSE, own unit");
  EXPECT_NE(regression.find("It is off by " + error + " in the unit"), std::string::npos) << error;
  EXPECT_NE(regression.find("<div class=\"value\">" + error + "</div>"), std::string::npos) << error;
}

TEST(Report, OfClassesSaysWhichIsTakenForWhich) {
  TemporaryFolder folder;
  const auto config =
      folder.write("config.yaml", "data: {path: " + folder.write("t.data", two_classes()).string() +
                                      ", task: class}\ntraining: {warmstart: {max_epochs: 30}, "
                                      "sampler: {n_chains: 2, warmup_steps: 300, n_samples: 600, "
                                      "n_thinning: 10}}\n");
  const Outcome outcome = smile({"run", config, "--out", folder / "run"});
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  const std::string html = content_of(folder / "run/report.html");
  EXPECT_EQ(tile_of(html, "Accuracy of the sampler"), cell_of(html, "accuracy"));
  EXPECT_EQ(tile_of(html, "Calibration error (ECE)"), cell_of(html, "ECE"));
  EXPECT_EQ(between(html, "It is right for ", " of them"), tile_of(html, "Accuracy of the sampler"));
  EXPECT_NE(html.find("what chance alone does"), std::string::npos) << "no band in the reliability figure";
  // The counts are those of the file: right ones on the diagonal, all of them the test rows.
  const std::string matrix = between(html, "<div class=\"confusion\">", "</table>");
  const auto sum_of = [&](const std::string& kind) {
    double sum = 0;
    const std::regex count("<span class=\"" + kind + "\"[^>]*>([0-9,]+)</span>");
    for (auto at = std::sregex_iterator(matrix.begin(), matrix.end(), count); at != std::sregex_iterator();
         ++at)
      sum += std::stod(std::regex_replace((*at)[1].str(), std::regex(","), ""));
    return sum;
  };
  const json metrics = json::parse(content_of(folder / "run/eval/sampling.json"));
  const double rows = sum_of("right") + sum_of("wrong");
  EXPECT_EQ(rows, 80);
  EXPECT_NEAR(sum_of("right") / rows, double(metrics["accuracy"]), 1e-9);
  // What only an expert asks for is folded.
  const auto expert = html.find("<details class=\"expert\">");
  ASSERT_NE(expert, std::string::npos);
  for (const char* of_experts : {"<h3>Step size</h3>", "<h2>Convergence</h2>", "<h2>Time</h2>"})
    EXPECT_GT(html.find(of_experts), expert) << of_experts;
}

/// Files of eval/ that are JSON but not what was written (found by fuzzing): told in one line, whose command
/// mends it.
TEST(Report, OfAnEvaluationThatIsNotAsItWasWrittenSaysSo) {
  TemporaryFolder folder;
  const auto config =
      folder.write("config.yaml", "data: {path: " + folder.write("t.data", two_classes()).string() +
                                      ", task: class}\ntraining: {warmstart: {max_epochs: 5}, "
                                      "sampler: {n_chains: 2, warmup_steps: 100, n_samples: 200, "
                                      "n_thinning: 10}}\n");
  const fs::path run = folder / "run";
  ASSERT_EQ(smile({"run", config, "--out", run, "--quiet"}).status, 0);
  const auto expect_refused_and_mended = [&](const std::string& command) {
    const Outcome outcome = smile({command, run});
    EXPECT_EQ(outcome.status, 1) << outcome.out;
    EXPECT_TRUE(outcome.is_one_line_error()) << outcome.error;
    EXPECT_NE(outcome.error.find("smile evaluate"), std::string::npos) << outcome.error;
    EXPECT_EQ(smile({"evaluate", run, "--quiet"}).status, 0);
    EXPECT_EQ(smile({command, run}).status, 0) << "evaluating anew does not mend it";
  };
  const auto change = [&](const char* file, const std::function<void(json&)>& edit) {
    json content = json::parse(content_of(run / "eval" / file));
    edit(content);
    folder.write(std::string("run/eval/") + file, content.dump());
  };
  change("diagnostics.json", [](json& d) { d["parameters"].erase("chain_median_rhat"); });
  expect_refused_and_mended("diagnose");
  change("diagnostics.json", [](json& d) { d["chains_used"] = "max"; });
  change("sampling.json", [](json& d) { d["reliability"]["accuracy"].erase(0); });
  expect_refused_and_mended("report");
  change("sampling.json", [](json& d) { d["running_lppd"] = json::array(); });
  expect_refused_and_mended("report");
  const double nowhere[] = {std::nan(""), -1, 7};
  const double probabilities[] = {0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
  const std::vector<NamedArray> arrays{
      {"target", NpyArray({3}, std::span<const double>(nowhere))},
      {"probabilities", NpyArray({3, 2}, std::span<const double>(probabilities))}};
  write_npz(run / "eval/predictions.npz", arrays);
  expect_refused_and_mended("report");
}

TEST(Report, OfARegressionIsSoundInABrowser) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const Outcome outcome =
      smile({"run", config, "--out", folder / "run", "--set", "training.sampler.n_samples=3000"});
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  expect_found_at_once(folder / "run/report.html");
  expect_sound_page(folder / "run/report.html",
                    with(kChainFigures, {"Where targets fall", "Unsure, and wrong"}));
}

TEST(Report, OfAClassificationWithAnOutOfDistributionSetIsSoundInABrowser) {
  TemporaryFolder folder;
  std::ostringstream outside;
  for (int i = 0; i < 100; ++i) outside << 5 + std::sin(i) << ' ' << -4 + std::cos(i) << " 3\n";
  const auto config =
      folder.write("config.yaml", small_config(folder.write("in.data", two_classes()), "psmile", "class"));
  const Outcome outcome = smile({"run", config, "--out", folder / "run", "--set",
                                 "evaluation_args.ood=" + folder.write("out.data", outside.str()).string()});
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  expect_sound_page(folder / "run/report.html",
                    with(kChainFigures, {"Unsure, and wrong", "Out of distribution"}));
}

TEST(OutOfDistribution, RegressionTellsUnfamiliarRowsByTheirUncertainty) {
  TemporaryFolder folder;
  // Rows of airfoil with their inputs shifted far out, and the test rows themselves.
  std::istringstream rows(content_of(airfoil()));
  std::ostringstream far, bare;
  int number = 0;
  for (std::string line; std::getline(rows, line);) {
    if (++number % 7 != 0) continue;  // the file is sorted
    double x[6];
    std::istringstream cells(line);
    for (double& cell : x) cells >> cell;
    for (int j = 0; j < 5; ++j) far << x[j] + (j == 0 ? 60000 : j == 1 ? 60 : 0) << ' ';
    for (int j = 0; j < 5; ++j) bare << x[j] << (j < 4 ? ' ' : '\n');
    far << x[5] << '\n';
  }
  const auto config = folder.write("config.yaml", small_config());
  const auto auroc = [&](const char* name, const std::string& file, const char* score) {
    if (!fs::exists(folder / name)) {
      const Outcome outcome =
          smile({"run", config, "--out", folder / name, "--quiet", "--set", "evaluation_args.ood=" + file});
      EXPECT_EQ(outcome.status, 0) << outcome.error;
    }
    const json metrics = json::parse(content_of(folder / name / "eval/metrics.json"));
    for (const json& row : metrics["metrics"])
      if (row["name"] == std::string("OOD AUROC of ") + score && row["sampling"].is_number())
        return row["sampling"].get<double>();
    return -1.0;
  };
  const std::string out = folder.write("far.data", far.str()), same = folder.write("bare.data", bare.str());
  for (const char* score : {"entropy", "mutual information", "log-density"})
    EXPECT_GT(auroc("far", out, score), 0.95) << score;
  // Rows of the same distribution, without targets: no better than chance, and no log-density.
  EXPECT_NEAR(auroc("same", same, "entropy"), 0.5, 0.15);
  EXPECT_EQ(auroc("same", same, "log-density"), -1);
  const auto arrays = read_npz(folder / "far/eval/ood.npz");
  EXPECT_EQ(array_named(arrays, "ood_entropy", "").as<double>().size(), 1503u / 7);
  EXPECT_EQ(array_named(arrays, "test_surprise", "").as<double>().size(), 301u);
}

TEST(Report, ComparesRunsAndLeavesCopies) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config());
  const auto other = folder.write("other.yaml", small_config(airfoil(), "adasghmc"));
  std::vector<std::string> command = {"report"};
  for (const char* seed : {"1", "2"})
    for (const auto& [name, file] : {std::pair{"psmile", config}, {"adasghmc", other}}) {
      const fs::path run = folder / (std::string(name) + seed);
      ASSERT_EQ(smile({"run", file, "--out", run, "--no-report", "--set", std::string("rng=") + seed}).status,
                0);
      command.push_back(run);
    }
  const Outcome outcome = smile(command);
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  for (const char* name : {"comparison.html", "comparison.csv", "comparison.tex", "psmile1/report.html"})
    EXPECT_TRUE(fs::exists(folder / name)) << name << outcome.out;
  // As a shell expands `folder/*` the second time: the tables are there now.
  command.push_back(folder / "comparison.csv");
  const Outcome again = smile(command);
  EXPECT_EQ(again.status, 0) << again.error;
  EXPECT_NE(again.error.find("comparison.csv is a file, not a run, and left out"), std::string::npos)
      << again.error;
  // Mean and sd over the two seeds, by hand.
  double lppd[2];
  for (int i = 0; i < 2; ++i) {
    const json metrics =
        json::parse(content_of(folder / ("psmile" + std::to_string(i + 1)) / "eval/metrics.json"));
    for (const json& row : metrics["metrics"])
      if (row["name"] == "LPPD") lppd[i] = row["sampling"];
  }
  std::istringstream csv(content_of(folder / "comparison.csv"));
  std::string line;
  std::getline(csv, line);
  EXPECT_TRUE(line.starts_with(
      "data,method,runs,\"LPPD (ensemble) mean\",\"LPPD (ensemble) sd\",\"LPPD mean\",\"LPPD sd\""))
      << line;
  std::getline(csv, line);
  double values[4];
  ASSERT_EQ(std::sscanf(line.c_str(), "\"airfoil\",\"psmile-auto\",2,%lf,%lf,%lf,%lf", values, values + 1,
                        values + 2, values + 3),
            4)
      << line;
  EXPECT_NEAR(values[2], (lppd[0] + lppd[1]) / 2, 1e-8);
  EXPECT_NEAR(values[3], std::abs(lppd[0] - lppd[1]) / std::numbers::sqrt2, 1e-8);
  EXPECT_NE(content_of(folder / "comparison.html").find("<strong>"), std::string::npos);
  expect_sound_page(folder / "comparison.html", {"LPPD of every run", "Running LPPD"});
}

/// Issue 5 d: the share that the report names, from the draws' own outputs.
TEST(Report, CoverageOfNinetyPercentIntervalsAgreesWithAnIndependentComputation) {
  TemporaryFolder folder;
  const auto config = folder.write("config.yaml", small_config() + "evaluations: [Lppd, PredSaver]\n");
  const fs::path run = folder / "run";
  ASSERT_EQ(smile({"run", config, "--out", run}).status, 0);
  const auto target = array_named(read_npz(run / "eval/predictions.npz"), "target", run).as<double>();
  // Distribution function of the mixture of all draws, by bisection for its 5 % and 95 % quantiles.
  std::vector<std::pair<std::vector<double>, double>> draws;  // means of the test rows, σ
  for (int c = 0; c < 3; ++c) {
    const NpyRows outputs(run / ("eval/outputs-0" + std::to_string(c) + ".npy")),
        positions(run / ("samples/chain-0" + std::to_string(c) + ".npy"));
    for (std::size_t s = 0; s < outputs.rows(); ++s)
      draws.push_back(
          {{outputs.row(s).begin(), outputs.row(s).end()}, std::exp(double(positions.row(s).back()))});
  }
  const auto quantile = [&](std::size_t row, double p) {
    double low = -20, high = 20;
    for (int i = 0; i < 60; ++i) {
      const double x = (low + high) / 2;
      double below = 0;
      for (const auto& [mean, sigma] : draws)
        below += 0.5 * std::erfc((mean[row] - x) / sigma / std::numbers::sqrt2) / double(draws.size());
      (below < p ? low : high) = x;
    }
    return low;
  };
  std::size_t inside = 0;
  for (std::size_t i = 0; i < target.size(); ++i)
    inside += target[i] >= quantile(i, 0.05) && target[i] <= quantile(i, 0.95);
  const std::string html = content_of(run / "report.html");
  std::smatch found;
  ASSERT_TRUE(std::regex_search(html, found,
                                std::regex("90 % intervals hold</div><div class=\"value\">([0-9.]+) %")));
  EXPECT_NEAR(std::stod(found[1]), 100 * double(inside) / double(target.size()), 0.051);
}

/// Images that training never saw the like of: noise beside photographs of clothes; and photographs of
/// clothes beside themselves, which nobody can tell apart.
TEST(OutOfDistribution, OfImagesIsToldApart) {
  TemporaryFolder folder;
  const std::string fashion = std::string(SMILE_SOURCE_DIR) + "/data/fashion-mnist-small";
  std::string noise("\0\0\x08\x03\0\0\0\x64\0\0\0\x1c\0\0\0\x1c", 16);  // 100 images of 28 by 28
  Stream stream({.seed = 4, .purpose = Purpose::split});
  for (int i = 0; i < 100 * 28 * 28; ++i) noise += char(stream.below(256));
  const auto config = folder.write(
      "config.yaml", "data: {path: " + fashion +
                         ", data_type: image, task: class, flatten: true}\nmodel: {hidden_structure: [16, "
                         "10]}\ntraining: {warmstart: {max_epochs: 10}, sampler: {n_chains: 2, "
                         "warmup_steps: 200, n_samples: 400, n_thinning: 20}}\n");
  const auto auroc = [&](const std::string& name, const fs::path& set) {
    const Outcome outcome = smile(
        {"run", config, "--out", folder / name, "--quiet", "--set", "evaluation_args.ood=" + set.string()});
    EXPECT_EQ(outcome.status, 0) << outcome.error;
    const json file = json::parse(content_of(folder / name / "eval/metrics.json"));
    for (const json& row : file["metrics"])
      if (row["name"] == "OOD AUROC of entropy") return double(row["sampling"]);
    return std::nan("");
  };
  EXPECT_NEAR(auroc("same", fashion + "/t10k-images-idx3-ubyte.gz"), 0.5, 0.1);
  const double told_apart = auroc("noise", folder.write("noise-idx3-ubyte", noise));
  EXPECT_GT(told_apart, 0.8) << "the network is as sure of noise as of clothes";
}

/// The first sentences say whether the model is any good, with the numbers of the run's files.
TEST(FirstScreen, AVerdictInSentences) {
  TemporaryFolder folder;
  std::istringstream rows(content_of(airfoil()));
  std::string table = "frequency,angle,chord,speed,thickness,noise\n";
  for (std::string line; std::getline(rows, line);) {
    std::istringstream cells(line);
    std::string row;
    for (std::string cell; cells >> cell;) row += (row.empty() ? "" : ",") + cell;
    if (!row.empty()) table += row + "\n";
  }
  const auto config = folder.write("config.yaml", small_config(folder.write("airfoil.csv", table).string()));
  const fs::path run = folder / "run";
  ASSERT_EQ(smile({"run", config, "--out", run}).status, 0);
  const auto arrays = read_npz(run / "eval/predictions.npz");
  const auto own = array_named(arrays, "lppd", run).as<double>(),
             members = array_named(arrays, "members_lppd", run).as<double>();
  const auto target = array_named(arrays, "target", run).as<double>(),
             mean = array_named(arrays, "mean", run).as<double>();
  ASSERT_EQ(own.size(), members.size());
  double gain = 0, square = 0, centre = 0, off = 0, total = 0;
  const double n = double(own.size());
  for (std::size_t i = 0; i < own.size(); ++i) gain += (own[i] - members[i]) / n, centre += target[i] / n;
  for (std::size_t i = 0; i < own.size(); ++i) {
    square += std::pow(own[i] - members[i] - gain, 2);
    off += std::pow(mean[i] - target[i], 2), total += std::pow(target[i] - centre, 2);
  }
  char said[200];
  std::snprintf(said, sizeof said, "%s%.3f ± %.2g", gain < 0 ? "−" : "+", std::abs(gain),
                std::sqrt(square / (n - 1) / n));
  const std::string html = content_of(run / "report.html");
  const std::string verdict = html.substr(html.find("class=\"verdict\""), 1200);
  EXPECT_NE(verdict.find(said), std::string::npos) << said << " in " << verdict;
  std::snprintf(said, sizeof said, "R² %.3f", 1 - off / total);
  EXPECT_NE(verdict.find(said), std::string::npos) << said << " in " << verdict;
  for (const char* part : {"The sampler predicts", "in the unit of noise (RMSE)", "90 % intervals hold",
                           "The chains ", "rows trained it"})
    EXPECT_NE(verdict.find(part), std::string::npos) << part << " in " << verdict;
  // The members' rows are those of the table's LPPD.
  double level = 0;
  for (const double v : members) level += v / n;
  for (const json& row : json::parse(content_of(run / "eval/metrics.json"))["metrics"])
    if (row["name"] == "LPPD") {
      EXPECT_NEAR(level, row["ensemble_initialization"].get<double>(), 1e-9);
    }
}

}  // namespace
}  // namespace smile::test

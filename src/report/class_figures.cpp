// SPDX-License-Identifier: Apache-2.0
/// Which classes are taken for which.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/figures.hpp"
#include "report/page.hpp"

namespace smile::report {
namespace {

constexpr std::size_t kMostClasses = 20;  ///< of a whole matrix
constexpr std::size_t kPairs = 10;        ///< of the list in its place

/// Test rows by class and predicted class.
struct Confusion {
  std::size_t classes = 0;
  std::vector<std::size_t> counts;  ///< @shape [classes, classes]: true class, predicted class

  std::size_t of(std::size_t truth, std::size_t predicted) const {
    return counts[truth * classes + predicted];
  }
  std::size_t rows_of(std::size_t truth) const {
    const auto begin = counts.begin() + std::ptrdiff_t(truth * classes);
    return std::accumulate(begin, begin + std::ptrdiff_t(classes), std::size_t{0});
  }
};

Confusion confusion_of(const RunFiles& run) {
  const auto p = run.array("probabilities"), target = run.array("target");
  Confusion out;
  if (target.empty() || p.empty()) return out;
  out.classes = p.size() / target.size();
  out.counts.assign(out.classes * out.classes, 0);
  for (std::size_t i = 0; i < target.size(); ++i) {
    const auto begin = p.begin() + std::ptrdiff_t(i * out.classes);
    const auto best = std::max_element(begin, begin + std::ptrdiff_t(out.classes)) - begin;
    ++out.counts[std::size_t(target[i]) * out.classes + std::size_t(best)];
  }
  return out;
}

std::string class_name(const RunFiles& run, std::size_t c) {
  return c < run.data.labels.names.size() ? run.data.labels.names[c] : std::to_string(c);
}

/// The count, on a ground whose strength is the share of the class.
Cell shaded(std::size_t count, double share, bool right) {
  if (count == 0) return Cell::html("<span class=\"quiet\">·</span>");
  return Cell::html(fmt::format("<span class=\"{}\" style=\"--share:{:.0f}%\" title=\"{}\">{}</span>",
                                right ? "right" : "wrong", 100 * share, percent(share),
                                grouped(double(count))));
}

std::string matrix(const RunFiles& run, const Confusion& confusion) {
  std::vector<std::string> head{"class"};
  for (std::size_t c = 0; c < confusion.classes; ++c) head.push_back(class_name(run, c));
  head.push_back("right");
  std::vector<std::vector<Cell>> rows;
  for (std::size_t truth = 0; truth < confusion.classes; ++truth) {
    const double n = double(confusion.rows_of(truth));
    std::vector<Cell> row{class_name(run, truth)};
    for (std::size_t c = 0; c < confusion.classes; ++c)
      row.push_back(shaded(confusion.of(truth, c), double(confusion.of(truth, c)) / n, c == truth));
    row.push_back(n > 0 ? percent(double(confusion.of(truth, truth)) / n) : "–");
    rows.push_back(std::move(row));
  }
  return "<div class=\"confusion\">" + table(head, rows) +
         "</div><p class=\"quiet\">Test rows of each class (down) by predicted class (across); the last "
         "column "
         "is the share of a class that is predicted right.</p>\n";
}

std::string confused_pairs(const RunFiles& run, const Confusion& confusion) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < confusion.counts.size(); ++i)
    if (confusion.counts[i] > 0 && i / confusion.classes != i % confusion.classes) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return confusion.counts[a] > confusion.counts[b]; });
  order.resize(std::min(order.size(), kPairs));
  std::vector<std::vector<Cell>> rows;
  for (const std::size_t i : order) {
    const std::size_t truth = i / confusion.classes;
    rows.push_back({class_name(run, truth), class_name(run, i % confusion.classes),
                    grouped(double(confusion.counts[i])),
                    percent(double(confusion.counts[i]) / double(confusion.rows_of(truth)))});
  }
  if (rows.empty()) return "<p>Every test row is predicted right.</p>\n";
  return table({"class", "taken for", "rows", "of its class"}, rows, 2) +
         fmt::format("<p class=\"quiet\">The most frequent confusions of {} classes.</p>\n",
                     confusion.classes);
}

}  // namespace

std::string confusion_section(const RunFiles& run) {
  const Confusion confusion = confusion_of(run);
  if (confusion.classes == 0) return {};
  return "<h3>Which class is taken for which</h3>\n" +
         (confusion.classes <= kMostClasses ? matrix(run, confusion) : confused_pairs(run, confusion));
}

}  // namespace smile::report

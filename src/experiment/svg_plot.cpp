#include "experiment/svg_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace smile {
namespace {

constexpr double kWidth = 640, kHeight = 420, kLeft = 70, kRight = 150, kTop = 40, kBottom = 55;
constexpr const char* kColours[] = {"#1b6ca8", "#c8553d", "#3a7d44", "#7b4b94",
                                    "#b8860b", "#444444", "#00897b", "#ad1457"};

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else
      out += c;
  }
  return out;
}

std::string text_at(double x, double y, const std::string& text, const char* anchor, int size = 12) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y,
                     size, anchor, escaped(text));
}

std::string opening(double width, double height) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\">\n<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n",
      width, height);
}

/// A logarithmic axis that covers whole decades.
struct LogAxis {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  void see(double value) {
    low = std::min(low, std::floor(std::log10(value)));
    high = std::max(high, std::ceil(std::log10(value)));
  }
  void finish() {
    if (!(low <= high)) low = 0, high = 1;
    if (low == high) high = low + 1;
  }
  double share(double value) const { return (std::log10(value) - low) / (high - low); }
};

bool drawable(const std::pair<double, double>& point) {
  return point.first > 0 && point.second > 0 && std::isfinite(point.first) && std::isfinite(point.second);
}

}  // namespace

std::string svg_of(const LinePlot& plot) {
  LogAxis x, y;
  for (const PlotLine& line : plot.lines)
    for (const auto& point : line.points)
      if (drawable(point)) x.see(point.first), y.see(point.second);
  x.finish(), y.finish();
  const double right = kWidth - kRight, bottom = kHeight - kBottom;
  const auto at_x = [&](double value) { return kLeft + x.share(value) * (right - kLeft); };
  const auto at_y = [&](double value) { return bottom - y.share(value) * (bottom - kTop); };

  std::string svg = opening(kWidth, kHeight) + text_at((kLeft + right) / 2, 22, plot.title, "middle", 14);
  const int every = int(std::ceil((y.high - y.low) / 8));
  for (double decade = x.low; decade <= x.high; ++decade) {
    const double at = at_x(std::pow(10, decade));
    svg += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#ddd\"/>\n", at,
                       kTop, bottom);
    svg += text_at(at, bottom + 18, fmt::format("1e{}", int(decade)), "middle");
  }
  for (double decade = y.low; decade <= y.high; decade += every) {
    const double at = at_y(std::pow(10, decade));
    svg += fmt::format("<line x1=\"{0}\" y1=\"{1:.1f}\" x2=\"{2}\" y2=\"{1:.1f}\" stroke=\"#ddd\"/>\n", kLeft,
                       at, right);
    svg += text_at(kLeft - 6, at + 4, fmt::format("1e{}", int(decade)), "end");
  }
  svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"black\"/>\n",
                     kLeft, kTop, right - kLeft, bottom - kTop);
  svg += text_at((kLeft + right) / 2, kHeight - 12, plot.x_label, "middle");
  svg += fmt::format(
      "<text transform=\"translate(16 {:.0f}) rotate(-90)\" font-size=\"12\" "
      "text-anchor=\"middle\">{}</text>\n",
      (kTop + bottom) / 2, escaped(plot.y_label));
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    const PlotLine& line = plot.lines[i];
    const char* colour = kColours[i % std::size(kColours)];
    std::string path;
    for (std::size_t p = 0; p < line.points.size(); ++p) {
      if (!drawable(line.points[p])) continue;
      const double px = at_x(line.points[p].first), py = at_y(line.points[p].second);
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", px, py);
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.5\" fill=\"{}\"/>\n", px, py, colour);
      if (p < line.errors.size() && line.errors[p] > 0 && std::isfinite(line.errors[p])) {
        const double value = line.points[p].second;
        const double low = at_y(std::max(value - line.errors[p], std::pow(10, y.low))),
                     high = std::max(kTop, at_y(value + line.errors[p]));
        svg += fmt::format(
            "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\"/>\n", px, low,
            high, colour);
      }
    }
    svg += fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>\n", path, colour);
    const double key = kTop + 12 + 18 * double(i);
    svg +=
        fmt::format("<line x1=\"{0}\" y1=\"{1}\" x2=\"{2}\" y2=\"{1}\" stroke=\"{3}\" stroke-width=\"3\"/>\n",
                    right + 10, key, right + 28, colour);
    svg += text_at(right + 33, key + 4, line.label, "start", 11);
  }
  return svg + "</svg>\n";
}

std::string svg_of(const DensityPlot& plot) {
  constexpr int kCells = 80;
  constexpr double kSide = 400, kMargin = 50;
  std::vector<double> counts(std::size_t(kCells) * kCells, 0.0);
  for (const auto& [x, y] : plot.points) {
    const double a = (double(x) - plot.low) / (plot.high - plot.low) * kCells,
                 b = (double(y) - plot.low) / (plot.high - plot.low) * kCells;
    if (a >= 0 && a < kCells && b >= 0 && b < kCells) counts[std::size_t(b) * kCells + std::size_t(a)] += 1;
  }
  const double most = std::max(1.0, *std::max_element(counts.begin(), counts.end()));
  std::string svg = opening(kSide + 2 * kMargin, kSide + 2 * kMargin) +
                    text_at(kMargin + kSide / 2, 28, plot.title, "middle", 14);
  const double cell = kSide / kCells;
  for (int b = 0; b < kCells; ++b) {
    for (int a = 0; a < kCells; ++a) {
      const double share = std::sqrt(counts[std::size_t(b) * kCells + std::size_t(a)] / most);
      if (share <= 0) continue;
      svg += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#1b6ca8\" "
          "fill-opacity=\"{:.2f}\"/>\n",
          kMargin + a * cell, kMargin + kSide - (b + 1) * cell, cell, cell, share);
    }
  }
  svg +=
      fmt::format("<rect x=\"{0}\" y=\"{0}\" width=\"{1}\" height=\"{1}\" fill=\"none\" stroke=\"black\"/>\n",
                  kMargin, kSide);
  for (double share : {0.0, 0.5, 1.0}) {
    const std::string value = fmt::format("{:g}", plot.low + share * (plot.high - plot.low));
    svg += text_at(kMargin + share * kSide, kMargin + kSide + 16, value, "middle");
    svg += text_at(kMargin - 5, kMargin + kSide * (1 - share) + 4, value, "end");
  }
  svg += text_at(kMargin + kSide / 2, 2 * kMargin + kSide - 14, plot.x_label, "middle");
  svg += text_at(14, kMargin + kSide / 4, plot.y_label, "middle");
  return svg + "</svg>\n";
}

}  // namespace smile

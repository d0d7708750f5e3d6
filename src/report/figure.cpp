// SPDX-License-Identifier: Apache-2.0
#include "report/figure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/plot.hpp"

namespace smile::report {
namespace {

constexpr double kWidth = 480, kHeight = 340, kLeft = 64, kTop = 36, kBottom = 48;
constexpr double kKeyLine = 17, kLetter = 6.2;  // of the key, in the figure's units
constexpr const char* kColours[] = {"#1b6ca8", "#c8553d", "#3a7d44", "#7b4b94", "#b8860b",
                                    "#00897b", "#ad1457", "#5d4037", "#607d8b", "#9e9d24"};
/// For lines beyond the number of colours.
constexpr const char* kDashes[] = {"", " stroke-dasharray=\"7 2\"", " stroke-dasharray=\"2 2\""};

std::string text_at(double x, double y, const std::string& text, const char* anchor, int size = 12) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y,
                     size, anchor, escaped(text));
}

std::string opening(double width, double height) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" font-family=\"sans-serif\">\n<rect width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "fill=\"white\"/>\n",
      width, height);
}

std::string tick_text(double value) {
  return value < 1e-3 || value >= 1e4 ? fmt::format("{:.0e}", value) : fmt::format("{:g}", value);
}

bool shown(double value) {
  return value > 0 && std::isfinite(value);
}
bool shown(const FigurePoint& point) {
  return shown(point.x) && shown(point.y);
}

/// A logarithmic axis, with a little room on both sides, from `start` to `end` of the drawing.
class LogAxis {
 public:
  LogAxis(double start, double end) : start_(start), end_(end) {}
  void see(double value) {
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  void finish() {
    if (!(low_ <= high_)) low_ = 0.1, high_ = 1;
    const double room = std::max(1.05, std::pow(high_ / low_, 0.04));
    low_ /= room;
    high_ *= room;
  }
  double at(double value) const {
    const double inside = std::clamp(value, low_, high_);
    return start_ + std::log(inside / low_) / std::log(high_ / low_) * (end_ - start_);
  }
  std::vector<double> marks() const { return ticks(low_, high_, Scale::log); }

 private:
  double start_, end_;
  double low_ = std::numeric_limits<double>::infinity(), high_ = -low_;
};

std::size_t letters(const std::string& text) {
  return std::size_t(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string line_svg(const FigureLine& line, const LogAxis& x, const LogAxis& y, const char* colour,
                     const char* dashes) {
  std::string path, marks;
  bool pen_down = false;
  for (const FigurePoint& point : line.points) {
    if (!shown(point)) {
      pen_down = false;
      continue;
    }
    const double px = x.at(point.x), py = y.at(point.y);
    path += fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", px, py);
    pen_down = true;
    if (point.error > 0 && std::isfinite(point.error))
      marks +=
          fmt::format("<path d=\"M{:.1f} {:.1f}V{:.1f}\" stroke=\"{}\"/>\n", px,
                      y.at(std::max(point.y - point.error, 1e-300)), y.at(point.y + point.error), colour);
    marks += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.8\" stroke=\"{}\" fill=\"{}\"/>\n", px,
                         py, colour, point.hollow ? "white" : colour);
  }
  if (path.empty()) return marks;
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"{}/>\n", path, colour,
                     dashes) +
         marks;
}

}  // namespace

std::string svg_of(const LineFigure& figure) {
  const double right = kWidth - 14, bottom = kHeight - kBottom;
  LogAxis x(kLeft, right), y(bottom, kTop);
  for (const FigureLine& line : figure.lines)
    for (const FigurePoint& point : line.points)
      if (shown(point)) x.see(point.x), y.see(point.y);
  std::size_t longest = 0;
  for (const FigureLine& line : figure.lines) longest = std::max(longest, letters(line.label));
  for (const FigureLevel& level : figure.levels) {
    if (shown(level.y)) y.see(level.y);
    longest = std::max(longest, letters(level.label));
  }
  x.finish(), y.finish();
  const double rows = double(figure.lines.size() + figure.levels.size());

  std::string svg =
      opening(kWidth + 42 + kLetter * double(longest), std::max(kHeight, kTop + kKeyLine * rows + 20)) +
      text_at((kLeft + right) / 2, 22, figure.title, "middle", 14);
  for (const double value : x.marks()) {
    svg += fmt::format("<path d=\"M{:.1f} {}V{}\" stroke=\"#ddd\"/>\n", x.at(value), kTop, bottom);
    svg += text_at(x.at(value), bottom + 16, tick_text(value), "middle", 11);
  }
  for (const double value : y.marks()) {
    svg += fmt::format("<path d=\"M{} {:.1f}H{}\" stroke=\"#ddd\"/>\n", kLeft, y.at(value), right);
    svg += text_at(kLeft - 5, y.at(value) + 4, tick_text(value), "end", 11);
  }
  svg += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#444\"/>\n",
                     kLeft, kTop, right - kLeft, bottom - kTop);
  svg += text_at((kLeft + right) / 2, kHeight - 12, figure.x_label, "middle");
  svg += fmt::format(
      "<text transform=\"translate(15 {:.0f}) rotate(-90)\" font-size=\"12\" text-anchor=\"middle\">{}"
      "</text>\n",
      (kTop + bottom) / 2, escaped(figure.y_label));
  double key = kTop + 8;
  const auto add_key = [&](const std::string& label, const char* colour, const char* dashes) {
    svg += fmt::format("<path d=\"M{} {}h18\" stroke=\"{}\" stroke-width=\"2.5\"{}/>\n", right + 10, key,
                       colour, dashes);
    svg += text_at(right + 33, key + 4, label, "start", 11);
    key += kKeyLine;
  };
  for (std::size_t i = 0; i < figure.lines.size(); ++i) {
    const char* colour = kColours[i % std::size(kColours)];
    const char* dashes = kDashes[i / std::size(kColours) % std::size(kDashes)];
    svg += line_svg(figure.lines[i], x, y, colour, dashes);
    add_key(figure.lines[i].label, colour, dashes);
  }
  for (const FigureLevel& level : figure.levels) {
    if (!shown(level.y)) continue;
    svg += fmt::format("<path d=\"M{} {:.1f}H{}\" stroke=\"#444\" stroke-dasharray=\"5 4\"/>\n", kLeft,
                       y.at(level.y), right);
    add_key(level.label, "#444", " stroke-dasharray=\"5 4\"");
  }
  return svg + "</svg>\n";
}

std::string svg_of(const DensityFigure& figure) {
  constexpr int kCells = 75, kShades = 12;
  constexpr double kSide = 300, kMargin = 44;
  std::vector<double> counts(std::size_t(kCells) * kCells, 0.0);
  for (const auto& [x, y] : figure.points) {
    const double a = (double(x) - figure.low) / (figure.high - figure.low) * kCells,
                 b = (double(y) - figure.low) / (figure.high - figure.low) * kCells;
    if (a >= 0 && a < kCells && b >= 0 && b < kCells) counts[std::size_t(b) * kCells + std::size_t(a)] += 1;
  }
  const double most = std::max(1.0, *std::max_element(counts.begin(), counts.end()));
  // One path for each shade, in units of cells; neighbours of a row join.
  std::string paths[kShades + 1];
  for (int b = 0; b < kCells; ++b) {
    const auto shade = [&](int a) {
      return int(std::ceil(kShades * std::sqrt(counts[std::size_t(b) * kCells + std::size_t(a)] / most)));
    };
    for (int a = 0; a < kCells;) {
      int end = a + 1;
      while (end < kCells && shade(end) == shade(a)) ++end;
      if (shade(a) > 0)
        paths[shade(a)] += fmt::format("M{} {}h{}v1h-{}z", a, kCells - 1 - b, end - a, end - a);
      a = end;
    }
  }
  std::string svg = opening(kSide + 2 * kMargin, kSide + 2 * kMargin) +
                    text_at(kMargin + kSide / 2, 26, figure.title, "middle", 14);
  svg += fmt::format("<g transform=\"translate({0} {0}) scale({1})\" fill=\"#1b6ca8\">\n", kMargin,
                     kSide / kCells);
  for (int s = 1; s <= kShades; ++s)
    if (!paths[s].empty())
      svg += fmt::format("<path fill-opacity=\"{:.2f}\" d=\"{}\"/>\n", double(s) / kShades, paths[s]);
  svg += fmt::format(
      "</g>\n<rect x=\"{0}\" y=\"{0}\" width=\"{1}\" height=\"{1}\" fill=\"none\" stroke=\"#444\"/>\n",
      kMargin, kSide);
  for (double share : {0.0, 0.5, 1.0}) {
    const std::string value = fmt::format("{:g}", figure.low + share * (figure.high - figure.low));
    svg += text_at(kMargin + share * kSide, kMargin + kSide + 15, value, "middle", 11);
    svg += text_at(kMargin - 5, kMargin + kSide * (1 - share) + 4, value, "end", 11);
  }
  svg += text_at(kMargin + kSide / 2, 2 * kMargin + kSide - 12, figure.x_label, "middle");
  svg += text_at(14, kMargin + kSide / 4, figure.y_label, "middle");
  return svg + "</svg>\n";
}

}  // namespace smile::report

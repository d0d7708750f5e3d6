// SPDX-License-Identifier: Apache-2.0
#include "report/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace smile::report {
namespace {

// The drawing's own units; the page scales it to the column's width. Small enough that text stays readable at
// 400 pixels.
constexpr double kWidth = 380, kHeight = 240;
constexpr double kLeft = 58, kRight = 360, kTop = 10, kBottom = 200;

double position(double value, double low, double high, Scale scale) {
  if (scale == Scale::log)
    return (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low));
  return (value - low) / (high - low);
}

std::string tick_text(double value) {
  if (value == 0) return "0";
  const double size = std::abs(value);
  const std::string digits =
      size < 1e-3 || size >= 1e5 ? fmt::format("{:.3g}", size) : fmt::format("{:.6g}", size);
  return value < 0 ? "−" + digits : digits;
}

/// The first `most` bytes, not cutting a character, with "…" where something was cut.
std::string shortened(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = std::max<std::size_t>(1, most) - 1;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

}  // namespace

std::vector<double> ticks(double low, double high, Scale scale) {
  std::vector<double> values;
  if (scale == Scale::log) {
    const int first = int(std::floor(std::log10(low))), last = int(std::ceil(std::log10(high)));
    const bool few = std::log10(high / low) < 2;  // too few powers of ten to read a value by
    const int every = std::max(1, (last - first + 4) / 6);
    for (int e = first; e <= last; ++e)
      for (const double multiple : {1.0, 2.0, 5.0}) {
        if (multiple > 1 ? !few : (e - first) % every != 0) continue;
        const double value = multiple * std::pow(10.0, e);
        if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) values.push_back(value);
      }
    return values;
  }
  const double rough = (high - low) / 5;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double unit = rough / power;
  const double step = power * (unit < 1.5 ? 1 : unit < 3.5 ? 2 : unit < 7.5 ? 5 : 10);
  for (double i = std::ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; ++i)
    values.push_back(i * step);
  return values;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

void Plot::line(std::vector<Point> points, std::string_view style, std::string_view name) {
  layers_.push_back({Kind::line, std::move(points), 0, std::string(style), std::string(name)});
}
void Plot::points(std::vector<Point> points, std::string_view style, std::string_view name, double radius) {
  layers_.push_back({Kind::points, std::move(points), radius, std::string(style), std::string(name)});
}
void Plot::bars(std::vector<Point> bars, double width, std::string_view style) {
  layers_.push_back({Kind::bars, std::move(bars), width, std::string(style), {}});
}
void Plot::band(const std::vector<Point>& low, const std::vector<Point>& high, std::string_view style,
                std::string_view name) {
  std::vector<Point> outline = low;
  outline.insert(outline.end(), high.rbegin(), high.rend());
  layers_.push_back({Kind::band, std::move(outline), 0, std::string(style), std::string(name)});
}
void Plot::mark(double x, std::string_view style, std::string_view name) {
  layers_.push_back({Kind::mark, {{x, 0}}, 0, std::string(style), std::string(name)});
}
void Plot::level(double y, std::string_view style, std::string_view name) {
  layers_.push_back({Kind::level, {{0, y}}, 0, std::string(style), std::string(name)});
}
void Plot::x_range(double low, double high) {
  fixed_x_ = {low, high, true};
}
void Plot::y_range(double low, double high) {
  fixed_y_ = {low, high, true};
}

bool Plot::shown(const Point& p) const {
  return std::isfinite(p.x) && std::isfinite(p.y) && (x_.scale == Scale::linear || p.x > 0) &&
         (y_.scale == Scale::linear || p.y > 0);
}

bool Plot::has_content() const {
  return std::any_of(layers_.begin(), layers_.end(), [&](const Layer& layer) {
    return layer.kind != Kind::level && layer.kind != Kind::mark &&
           std::any_of(layer.points.begin(), layer.points.end(), [&](const Point& p) { return shown(p); });
  });
}

Plot::Range Plot::range(bool of_x) const {
  if (of_x ? fixed_x_.fixed : fixed_y_.fixed) return of_x ? fixed_x_ : fixed_y_;
  const Scale scale = of_x ? x_.scale : y_.scale;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const auto take = [&](double value) { low = std::min(low, value), high = std::max(high, value); };
  for (const Layer& layer : layers_) {
    for (const Point& p : layer.points) {
      if (layer.kind == Kind::level) {
        if (!of_x && std::isfinite(p.y) && (scale == Scale::linear || p.y > 0)) take(p.y);
        continue;
      }
      if (layer.kind == Kind::mark || !shown(p)) continue;
      take(of_x ? p.x : p.y);
      if (layer.kind == Kind::bars) take(of_x ? p.x + layer.size : 0);
    }
  }
  if (!(low <= high)) return scale == Scale::log ? Range{0.1, 10, false} : Range{0, 1, false};
  if (scale == Scale::log) {
    const double margin = of_x ? 1 : 1.3;
    return {low == high ? low / 3 : low / margin, low == high ? high * 3 : high * margin, false};
  }
  const double margin = low == high ? std::max(1e-9, 0.1 * std::abs(low)) : of_x ? 0 : 0.05 * (high - low);
  return {low == 0 && !of_x ? 0 : low - margin, high + margin, false};
}

std::string Plot::layer_svg(const Layer& layer, const Range& x, const Range& y) const {
  const auto at_x = [&](double v) { return kLeft + (kRight - kLeft) * position(v, x.low, x.high, x_.scale); };
  const auto at_y = [&](double v) {
    return kBottom - (kBottom - kTop) * position(v, y.low, y.high, y_.scale);
  };
  const std::string title =
      layer.name.empty() ? std::string() : fmt::format("<title>{}</title>", escaped(layer.name));
  std::string out;
  switch (layer.kind) {
    case Kind::line: {
      std::string path;
      bool pen_down = false;
      for (const Point& p : layer.points) {
        if (!shown(p)) {
          pen_down = false;
          continue;
        }
        path += fmt::format("{}{:.1f} {:.1f}", pen_down ? "L" : "M", at_x(p.x), at_y(p.y));
        pen_down = true;
      }
      if (!path.empty())
        out = fmt::format("<path class=\"line {}\" d=\"{}\">{}</path>", layer.style, path, title);
      break;
    }
    case Kind::points:
      for (const Point& p : layer.points)
        if (shown(p))
          out += fmt::format("<circle class=\"dot {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\">{}</circle>",
                             layer.style, at_x(p.x), at_y(p.y), layer.size, title);
      break;
    case Kind::bars:
      for (const Point& p : layer.points) {
        if (!shown(p) || p.y == 0) continue;
        const double left = at_x(p.x), right = at_x(p.x + layer.size), top = at_y(p.y);
        out += fmt::format(
            "<rect class=\"bar {}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"/>",
            layer.style, left, top, std::max(0.5, right - left - 0.6), std::max(0.0, kBottom - top));
      }
      break;
    case Kind::band: {
      std::string path;
      for (const Point& p : layer.points)
        if (shown(p)) path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", at_x(p.x), at_y(p.y));
      if (!path.empty())
        out = fmt::format("<path class=\"band {}\" d=\"{}Z\">{}</path>", layer.style, path, title);
      break;
    }
    case Kind::mark: {
      const double at = at_x(layer.points[0].x);
      if (std::isfinite(at) && at >= kLeft && at <= kRight)
        out = fmt::format("<path class=\"line {}\" d=\"M{:.1f} {}V{}\">{}</path>", layer.style, at, kTop,
                          kBottom, title);
      break;
    }
    case Kind::level: {
      const double height = at_y(layer.points[0].y);
      if (std::isfinite(height))
        out = fmt::format("<path class=\"line {}\" d=\"M{} {:.1f}H{}\">{}</path>", layer.style, kLeft, height,
                          kRight, title);
      break;
    }
  }
  return out;
}

std::string Plot::svg(std::string_view title) const {
  const Range x = range(true), y = range(false);
  std::string out = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">", kWidth, kHeight,
                                escaped(title));
  for (const double v : ticks(y.low, y.high, y_.scale)) {
    const double at = kBottom - (kBottom - kTop) * position(v, y.low, y.high, y_.scale);
    out += fmt::format(
        "<path class=\"grid\" d=\"M{} {:.1f}H{}\"/><text class=\"tick\" x=\"{}\" y=\"{:.1f}\" "
        "text-anchor=\"end\">{}</text>",
        kLeft, at, kRight, kLeft - 5, at + 3.5, tick_text(v));
  }
  const auto tick = [&](double v, const std::string& text) {
    const double at = kLeft + (kRight - kLeft) * position(v, x.low, x.high, x_.scale);
    out += fmt::format("<text class=\"tick\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>", at,
                       kBottom + 14, escaped(text));
  };
  if (x_names_.empty())
    for (const double v : ticks(x.low, x.high, x_.scale)) tick(v, tick_text(v));
  for (std::size_t i = 0; i < x_names_.size(); ++i)
    tick(double(i + 1),
         shortened(x_names_[i], std::size_t((kRight - kLeft) / double(x_names_.size()) / 6.5)));
  out += fmt::format("<path class=\"axis\" d=\"M{} {}H{}\"/>", kLeft, kBottom, kRight);
  for (const Layer& layer : layers_) out += layer_svg(layer, x, y);
  out += fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                     (kLeft + kRight) / 2, kHeight - 6, escaped(x_.label));
  out += fmt::format(
      "<text class=\"label\" transform=\"translate(11 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
      (kTop + kBottom) / 2, escaped(y_.label));
  return out + "</svg>";
}

}  // namespace smile::report

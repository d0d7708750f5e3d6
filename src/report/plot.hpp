// SPDX-License-Identifier: Apache-2.0
/// Small pictures as SVG text: two axes, lines, bars, points. Colours come from the page's style sheet.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace smile::report {

struct Point {
  double x = 0, y = 0;
};

enum class Scale { linear, log };

struct AxisOptions {
  std::string label;
  Scale scale = Scale::linear;
};

class Plot {
 public:
  Plot(AxisOptions x, AxisOptions y) : x_(std::move(x)), y_(std::move(y)) {}

  /// Points that are not finite (or not positive on a logarithmic axis) are left out and break the line.
  /// @param style  class names of the style sheet: "series-1", "many", "reference", …
  /// @param name   said by assistive technology and as a tooltip; may be empty
  void line(std::vector<Point> points, std::string_view style, std::string_view name = {});
  void points(std::vector<Point> points, std::string_view style, std::string_view name = {},
              double radius = 3.5);
  /// Bars from 0 (the axis then begins there): left edges x, one width for all.
  void bars(std::vector<Point> left_and_height, double width, std::string_view style);
  /// The area between two curves over the same x.
  void band(const std::vector<Point>& low, const std::vector<Point>& high, std::string_view style,
            std::string_view name = {});
  /// A horizontal line over the whole width; a vertical one over the whole height.
  void level(double y, std::string_view style, std::string_view name);
  void mark(double x, std::string_view style, std::string_view name);
  /// Names at x = 1, 2, … in place of numbers, cut to the room there is.
  void x_names(std::vector<std::string> names) { x_names_ = std::move(names); }
  void x_range(double low, double high);
  void y_range(double low, double high);

  /// Whether there is a point to be seen.
  bool has_content() const;
  /// @param title  for assistive technology
  std::string svg(std::string_view title) const;

 private:
  enum class Kind { line, points, bars, band, level, mark };
  struct Layer {
    Kind kind;
    std::vector<Point> points;
    double size;  ///< width of bars, radius of points
    std::string style, name;
  };
  struct Range {
    double low = 0, high = 1;
    bool fixed = false;
  };
  bool shown(const Point& p) const;
  Range range(bool of_x) const;
  std::string layer_svg(const Layer& layer, const Range& x, const Range& y) const;

  AxisOptions x_, y_;
  std::vector<Layer> layers_;
  std::vector<std::string> x_names_;
  Range fixed_x_, fixed_y_;
};

/// Values at which an axis is marked: multiples of 1, 2 or 5 times a power of ten, or powers of ten.
std::vector<double> ticks(double low, double high, Scale scale);

/// Text for HTML and SVG: &, <, > and quotes escaped.
std::string escaped(std::string_view text);

}  // namespace smile::report

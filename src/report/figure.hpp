// SPDX-License-Identifier: Apache-2.0
/// Pictures that stand alone: SVG files with a title, a key and their own colours (those of plot.hpp are
/// parts of a page). Lines over logarithmic axes, and densities of points in the plane.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace smile::report {

struct FigurePoint {
  double x = 0, y = 0;
  double error = 0;     ///< standard error of y; 0: no bar
  bool hollow = false;  ///< drawn as a ring: shown, but not to be relied on
};

/// Points that are not finite or not positive are left out and break the line.
struct FigureLine {
  std::string label;
  std::vector<FigurePoint> points;
};

/// A dashed horizontal line.
struct FigureLevel {
  std::string label;
  double y = 0;
};

struct LineFigure {
  std::string title, x_label, y_label;
  std::vector<FigureLine> lines;
  std::vector<FigureLevel> levels{};
};

/// Both axes logarithmic.
std::string svg_of(const LineFigure& figure);

struct DensityFigure {
  std::string title, x_label, y_label;
  double low = 0, high = 1;                     ///< of both axes
  std::vector<std::pair<float, float>> points;  ///< those outside are left out
};

/// Counts of points in square cells, darker where there are more.
std::string svg_of(const DensityFigure& figure);

}  // namespace smile::report

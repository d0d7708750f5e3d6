/// Small plots as SVG text: lines over logarithmic axes, and densities of points in the plane.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace smile {

struct PlotLine {
  std::string label;
  std::vector<std::pair<double, double>> points;  ///< both > 0; others are left out
  std::vector<double> errors;                     ///< standard errors of y, or empty
};

struct LinePlot {
  std::string title, x_label, y_label;
  std::vector<PlotLine> lines;
};

/// Both axes logarithmic.
std::string svg_of(const LinePlot& plot);

struct DensityPlot {
  std::string title, x_label, y_label;
  double low = 0, high = 1;                     ///< of both axes
  std::vector<std::pair<float, float>> points;  ///< those outside are left out
};

/// Counts of points in square cells, darker where there are more.
std::string svg_of(const DensityPlot& plot);

}  // namespace smile

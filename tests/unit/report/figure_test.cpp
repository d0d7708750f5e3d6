// SPDX-License-Identifier: Apache-2.0
// Figures that stand alone hold what they are given, and only that.
#include "report/figure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace smile::report {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(LineFigure, draws_points_errors_levels_and_a_key) {
  const LineFigure figure{
      "a < b",
      "x",
      "y",
      {{"first & best", {{1e-3, 0.5, 0.1, false}, {1e-2, 0.05, 0, true}}}, {"second", {{1e-3, 2, 0, false}}}},
      {{"base", 0.01}}};
  const std::string svg = svg_of(figure);
  EXPECT_TRUE(svg.starts_with("<svg "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
  EXPECT_NE(svg.find("first &amp; best"), std::string::npos);
  EXPECT_EQ(count(svg, "<circle"), 3u);
  EXPECT_EQ(count(svg, "fill=\"white\"/>"), 2u) << "the background and one ring";
  EXPECT_NE(svg.find(">base</text>"), std::string::npos);
  EXPECT_EQ(count(svg, "stroke-dasharray"), 2u) << "the level and its key";
  EXPECT_EQ(count(svg, "<text"), count(svg, "</text>"));
}

TEST(LineFigure, leaves_out_what_a_logarithm_cannot_show) {
  const double inf = INFINITY;
  const LineFigure figure{"", "x", "y", {{"l", {{1, 1}, {2, inf}, {3, 1}, {4, 0}, {5, NAN}, {-1, 1}}}}};
  const std::string svg = svg_of(figure);
  EXPECT_EQ(count(svg, "<circle"), 2u);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  // The gap breaks the line: two moves of the pen in its path, and no stroke.
  const auto path = svg.find("stroke-width=\"1.5\"");
  ASSERT_NE(path, std::string::npos);
  const std::string d = svg.substr(svg.rfind("d=\"", path), path - svg.rfind("d=\"", path));
  EXPECT_EQ(count(d, "M"), 2u) << d;
  EXPECT_EQ(count(d, "L"), 0u) << d;
}

TEST(LineFigure, without_points_is_still_a_picture) {
  EXPECT_TRUE(svg_of(LineFigure{"", "x", "y", {{"l", {{-1, -1}}}}}).ends_with("</svg>\n"));
}

TEST(DensityFigure, counts_by_cells) {
  DensityFigure figure{"t", "a", "b", 0, 75, {}};
  EXPECT_EQ(count(svg_of(figure), "fill-opacity"), 0u);
  // One point in cell (3, 0), at the bottom; four in (10, 74), at the top: half as dark by the square root.
  figure.points = {{3.5f, 0.5f}, {10.5f, 74.5f}, {10.5f, 74.5f}, {10.5f, 74.5f}, {10.5f, 74.5f}, {80.f, 1.f}};
  const std::string svg = svg_of(figure);
  EXPECT_NE(svg.find("<path fill-opacity=\"0.50\" d=\"M3 74h1v1h-1z\"/>"), std::string::npos) << svg;
  EXPECT_NE(svg.find("<path fill-opacity=\"1.00\" d=\"M10 0h1v1h-1z\"/>"), std::string::npos) << svg;
  EXPECT_EQ(count(svg, "fill-opacity"), 2u);
}

}  // namespace
}  // namespace smile::report

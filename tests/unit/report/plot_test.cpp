// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/page.hpp"
#include "report/plot.hpp"

namespace smile::report {
namespace {

TEST(Ticks, AreRoundNumbersInsideTheRange) {
  EXPECT_EQ(ticks(0, 1, Scale::linear).size(), 6u);
  EXPECT_DOUBLE_EQ(ticks(0, 1, Scale::linear)[1], 0.2);
  EXPECT_EQ(ticks(-3, 17, Scale::linear), (std::vector<double>{0, 5, 10, 15}));
  for (const double high : {1e-12, 0.3, 7.0, 1234.5, 9e8}) {
    const auto values = ticks(-high / 3, high, Scale::linear);
    EXPECT_GE(values.size(), 3u) << high;
    EXPECT_LE(values.size(), 9u) << high;
    for (const double v : values) EXPECT_TRUE(v >= -high / 3 * 1.0001 && v <= high * 1.0001) << v;
  }
}

TEST(Ticks, OfALogarithmicAxisCanBeReadWhateverItsLength) {
  EXPECT_EQ(ticks(0.002, 0.03, Scale::log), (std::vector<double>{0.002, 0.005, 0.01, 0.02}));
  for (const double high : {3.0, 50.0, 1e4, 1e12}) {
    const auto values = ticks(0.9, high, Scale::log);
    EXPECT_GE(values.size(), 2u) << high;
    EXPECT_LE(values.size(), 8u) << high;
  }
}

TEST(Plot, PlacesPointsByTheirScale) {
  Plot plot({"x", Scale::log}, {"y"});
  plot.x_range(1, 100);
  plot.y_range(0, 1);
  plot.points({{10, 0.5}}, "series-1");
  // The middle of both axes: 58…360 and 200…10.
  EXPECT_NE(plot.svg("t").find("cx=\"209.0\" cy=\"105.0\""), std::string::npos) << plot.svg("t");
}

TEST(Plot, BreaksALineWhereAValueIsMissing) {
  Plot plot({"x"}, {"y"});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  plot.line({{0, 1}, {1, 2}, {2, nan}, {3, 2}, {4, 1}}, "many");
  const std::string svg = plot.svg("t");
  const auto path = svg.substr(svg.find("class=\"line many\" d=\""));
  EXPECT_EQ(std::count(path.begin(), path.begin() + std::ptrdiff_t(path.find("\">")), 'M'), 2) << path;
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(Plot, OfNothingIsStillAPicture) {
  for (const Scale scale : {Scale::linear, Scale::log}) {
    Plot plot({"x", scale}, {"y", scale});
    plot.line({}, "many");
    plot.line({{-1, std::numeric_limits<double>::infinity()}}, "many");
    plot.level(std::numeric_limits<double>::quiet_NaN(), "reference", "none");
    const std::string svg = plot.svg("t");
    EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
    EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
  }
}

TEST(Page, EscapesWhatComesFromOutside) {
  EXPECT_EQ(escaped("<a href='x'>&\"</a>"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;&lt;/a&gt;");
  const std::string html = page("<t>", table({"<h>"}, {{"<c>"}}));
  for (const char* raw : {"<t>", "<h>", "<c>"}) EXPECT_EQ(html.find(raw), std::string::npos) << raw;
}

}  // namespace
}  // namespace smile::report

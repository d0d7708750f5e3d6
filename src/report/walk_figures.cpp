// SPDX-License-Identifier: Apache-2.0
/// Where the chains went in the sampling phase, and how hot their layers were, tenth by tenth.
#include <fmt/format.h>

#include <cmath>

#include "evaluation/json_number.hpp"
#include "report/figures.hpp"
#include "report/page.hpp"

namespace smile::report {
namespace {

using nlohmann::json;

std::string validation_lppd(const json& walk) {
  Plot plot({"draw of each chain"}, {"validation LPPD"});
  std::vector<Point> points;
  for (const json& w : walk.at("windows"))
    points.push_back({0.5 * (json_number(w, "first_draw") + json_number(w, "last_draw")),
                      json_number(w, "validation_lppd")});
  plot.line(points, "series-1", "draws of a tenth of the sampling phase, all chains");
  if (!plot.has_content()) return {};
  Key key{{"series-1", "draws of a tenth"}};
  if (const double members = json_number(walk, "members_validation_lppd"); std::isfinite(members)) {
    plot.level(members, "reference", "members");
    key.push_back({"reference", "members the chains started from"});
  }
  const json& last = walk.at("windows").back();
  return figure(
      "Validation LPPD along the way", plot.svg("Validation LPPD of each tenth of the sampling phase"),
      fmt::format(
          "Below the members: the chains have left the neighbourhood of networks that fit. At the end "
          "they are {:.2f} from their members (‖θ − θ₀‖/√d), ‖θ‖²/d is {:.2f}.",
          json_number(last, "distance"), json_number(last, "norm2_per_dim")),
      key);
}

std::string temperatures(const json& layers) {
  constexpr std::size_t kColours = 6;
  Plot plot({"tenth of the sampling phase"}, {"temperature"});
  Key key;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (!layers.at(l).contains("windows")) return {};
    std::vector<Point> points;
    for (std::size_t w = 0; w < layers.at(l).at("windows").size(); ++w)
      if (const json& value = layers.at(l).at("windows").at(w); value.is_number())
        points.push_back({double(w + 1), value.get<double>()});
    const std::string name = layers.at(l).value("layer", "");
    const std::string style = layers.size() <= kColours ? fmt::format("series-{}", l + 1) : "many";
    plot.line(points, style, name);
    if (layers.size() <= kColours) key.push_back({style, name});
  }
  if (!plot.has_content()) return {};
  plot.level(1, "reference", "the posterior's");
  key.push_back({"reference", "the posterior's"});
  return figure(
      "Temperature of layers", plot.svg("Temperature of each layer in each tenth of the sampling phase"),
      "Near 1 where draws are as wide as the posterior; below 1 where a layer has not moved through it yet.",
      key);
}

}  // namespace

std::string walk_figures(const RunFiles& run) {
  std::string out;
  const json& d = run.diagnostics;
  if (!d.is_object()) return out;
  if (d.contains("walk") && !d.at("walk").at("windows").empty()) out += validation_lppd(d.at("walk"));
  if (d.contains("temperature") && d.at("temperature").is_array() && !d.at("temperature").empty())
    out += temperatures(d.at("temperature"));
  return out;
}

}  // namespace smile::report

// SPDX-License-Identifier: Apache-2.0
// The priors of spec 2.2, a row each, which says what a weight and what any other parameter gets.
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "smile/error.hpp"
#include "smile/targets/priors.hpp"

namespace smile {

namespace {

const std::string kPlace = "sampler.prior_config";
constexpr double kElementSpread = 0.1;
constexpr std::string_view kLogSigma = "log_sigma";
/// Fixed draws come from a chain of their own, so that they collide with no chain's draws from the prior.
constexpr std::uint32_t kSharedChain = (1U << 24) - 1;

/// fan_in and fan_out of a weight, whose needed ones are positive.
struct Fans {
  double in, out;
};
Fans fans_of(const ParameterGroup& group, std::string_view prior, bool needs_out) {
  if (group.fan_in == 0 || (needs_out && group.fan_out == 0))
    throw Error(kPlace + ".name",
                std::string(prior) + " needs the fans of '" + group.name + "', which are not known",
                "set fan_in and fan_out in the layout or choose StandardNormal");
  return {static_cast<double>(group.fan_in), static_cast<double>(group.fan_out)};
}

bool is_weight(const ParameterGroup& group) {
  return group.kind == ParameterKind::weight;
}

PriorSection located(PriorFamily family, const PriorValues& p) {
  return {.family = family, .loc = p.at("loc"), .scale = p.at("scale")};
}
PriorSection glorot(const PriorValues& p, const ParameterGroup& group) {
  if (!is_weight(group)) return {};
  const Fans fans = fans_of(group, "Glorot", true);
  return {.scale = p.at("factor") * std::sqrt(2 / (fans.in + fans.out))};
}
PriorSection he(const PriorValues&, const ParameterGroup& group) {
  if (!is_weight(group)) return {};
  return {.scale = std::sqrt(2 / fans_of(group, "He", false).in)};
}
PriorSection glorot_laplace(const PriorValues&, const ParameterGroup& group) {
  PriorSection s{.family = PriorFamily::laplace, .scale = 1 / std::numbers::sqrt2};  // variance 1
  if (!is_weight(group)) return s;
  const Fans fans = fans_of(group, "GloLap", true);
  s.scale = 1 / std::sqrt(fans.in + fans.out);
  return s;
}
PriorSection glorot_uniform(const PriorValues&, const ParameterGroup& group) {
  // A uniform density on [−a, a] has standard deviation a/√3.
  PriorSection s{.family = PriorFamily::uniform, .scale = std::numbers::sqrt3};
  if (!is_weight(group)) return s;
  const Fans fans = fans_of(group, "GloUnif", true);
  s.scale = std::sqrt(6 / (fans.in + fans.out));
  return s;
}
PriorSection shifted(const PriorValues& p, const ParameterGroup& group) {
  return {.loc = is_weight(group) ? p.at("loc") : p.at("loc_bias"), .scale = p.at("scale")};
}

constexpr PriorParameter loc(double fallback = 0) {
  return {"loc", "centre", fallback};
}
constexpr PriorParameter scale(double fallback = 1) {
  return {"scale", "scale", fallback, 0, true};
}

std::deque<PriorRow>& rows() {
  static std::deque<PriorRow> table{
      {.name = "StandardNormal",
       .doc = "N(0, 1) for every parameter",
       .section = [](const PriorValues&, const ParameterGroup&) { return PriorSection{}; },
       .is_standard = true},
      {"Normal",
       "N(loc, scale²)",
       {loc(), scale()},
       [](const PriorValues& p, const ParameterGroup&) { return located(PriorFamily::normal, p); }},
      {"Laplace",
       "Laplace(loc, scale)",
       {loc(), scale()},
       [](const PriorValues& p, const ParameterGroup&) { return located(PriorFamily::laplace, p); }},
      {"ShiftedNormal",
       "weights N(loc, scale²), all else N(loc_bias, scale²)",
       {loc(), scale(), {"loc_bias", "centre of all but the weights", -1}},
       shifted},
      {"Glorot",
       "weights N(0, factor²·2/(fan_in + fan_out)), all else N(0, 1)",
       {{"factor", "factor of the standard deviation", 1, 0, true}},
       glorot},
      {"He", "weights N(0, 2/fan_in), all else N(0, 1)", {}, he},
      {"GloLap", "Laplace of scale 1/√(fan_in + fan_out) for weights, 1/√2 else", {}, glorot_laplace},
      {"GloUnif", "uniform with Glorot's standard deviation", {}, glorot_uniform},
      {"TruncNormal",
       "flat within limit of loc, normal tails outside",
       {loc(), scale(), {"limit", "half width of the flat part", 0.5, 0}},
       [](const PriorValues& p, const ParameterGroup&) {
         PriorSection s = located(PriorFamily::flat_normal, p);
         s.limit = p.at("limit");
         return s;
       }},
      {"BiMixtureNormal",
       "½ N(loc, scale²) + ½ N(−loc, scale²)",
       {loc(0.5), scale(0.25)},
       [](const PriorValues& p, const ParameterGroup&) { return located(PriorFamily::two_normals, p); }},
      {.name = "WarmStart",
       .doc = "N(0, s²), s the factor times the root mean square of a layer's parameters over all trained "
              "members; log σ N(0, 1)",
       .parameters = {{"factor", "factor of the standard deviation", 2, 0, true}},
       .section =
           [](const PriorValues& p, const ParameterGroup&) {
             return PriorSection{.scale = p.at("factor") * p.at("layer_rms")};
           },
       .from_members = true},
      {.name = "EpsStandardNormal",
       .doc = "N(a_i, exp(b_i)²) with fixed random a_i, b_i near 0",
       .section = [](const PriorValues&,
                     const ParameterGroup&) { return PriorSection{.family = PriorFamily::element_normal}; },
       .has_seed = true},
  };
  return table;
}

std::string names_of(const std::vector<PriorParameter>& parameters) {
  std::string text;
  for (const PriorParameter& p : parameters) text += (text.empty() ? "" : ", ") + std::string(p.name);
  return text;
}

void check_parameters(const PriorRow& prior, const PriorValues& given) {
  const std::string place = kPlace + ".parameters", name(prior.name);
  const std::string mend = prior.parameters.empty() ? name + " has no parameters; remove them"
                                                    : name + " has exactly " + names_of(prior.parameters);
  for (const PriorParameter& p : prior.parameters)
    if (!given.contains(p.name)) throw Error(place, "'" + std::string(p.name) + "' is missing", mend);
  for (const auto& [key, value] : given) {
    const PriorParameter* known = prior.parameter(key);
    if (known == nullptr) throw Error(place, "'" + key + "' is not a parameter of " + name, mend);
    if (!std::isfinite(value))
      throw Error(place + "." + key, "the value is not finite", "give a finite number");
    if (value > known->low || (value == known->low && !known->without_low)) continue;
    throw Error(
        place + "." + key,
        std::to_string(value) + (known->low != 0      ? " is too small"
                                 : known->without_low ? " is not positive"
                                                      : " is negative"),
        fmt::format("give {:g} or more", known->low) + (known->without_low ? ", not the bound itself" : ""));
  }
}

bool same_density(const PriorSection& a, const PriorSection& b) {
  return a.family == b.family && a.loc == b.loc && a.scale == b.scale && a.limit == b.limit;
}

std::vector<double> fixed_draws(std::size_t size, std::uint64_t seed, std::uint64_t step) {
  std::vector<double> draws(size);
  Stream stream({seed, kSharedChain, Purpose::prior}, step);
  for (double& draw : draws) draw = kElementSpread * stream.normal();
  return draws;
}

}  // namespace

const PriorParameter* PriorRow::parameter(std::string_view wanted) const {
  for (const PriorParameter& p : parameters)
    if (p.name == wanted) return &p;
  return nullptr;
}

LayerScales layer_scales(const ParameterLayout& layout, std::span<const HostVector<float>> members) {
  struct Sum {
    double squares = 0, count = 0;
  };
  std::map<std::string, Sum, std::less<>> sums;
  for (const ParameterGroup& group : layout.groups) {
    if (group.name == kLogSigma) continue;
    Sum& sum = sums[std::string(layer_of(group))];
    for (const HostVector<float>& member : members)
      for (std::size_t i = group.offset; i < group.offset + group.size(); ++i)
        sum.squares += double(member[i]) * double(member[i]);
    sum.count += double(group.size() * members.size());
  }
  LayerScales scales;
  for (const auto& [layer, sum] : sums)
    if (sum.squares > 0) scales[layer] = std::sqrt(sum.squares / sum.count);
  return scales;
}

const std::deque<PriorRow>& prior_rows() {
  return rows();
}

const PriorRow& prior_row(std::string_view name) {
  std::string known;
  for (const PriorRow& row : rows()) {
    if (row.name == name) return row;
    known += (known.empty() ? "" : ", ") + std::string(row.name);
  }
  throw Error(kPlace + ".name", "there is no prior '" + std::string(name) + "'", "choose one of " + known);
}

void add_prior(PriorRow row) {
  for (const PriorRow& known : rows())
    if (known.name == row.name)
      throw Error("prior", "there is a prior `" + std::string(row.name) + "` already",
                  "give it another name");
  rows().push_back(std::move(row));
}

std::shared_ptr<const Prior> make_prior(std::string_view name, const PriorValues& parameters,
                                        const ParameterLayout& layout, std::uint64_t seed,
                                        const LayerScales& scales) {
  const PriorRow& prior = prior_row(name);
  check_parameters(prior, parameters);
  std::vector<PriorSection> sections;
  for (const ParameterGroup& group : layout.groups) {
    PriorSection s;
    if (!prior.from_members) {
      s = prior.section(parameters, group);
    } else if (const auto scale = scales.find(layer_of(group)); scale != scales.end()) {
      PriorValues values = parameters;
      values["layer_rms"] = scale->second;
      s = prior.section(values, group);
    }
    s.offset = group.offset;
    s.size = group.size();
    // Neighbours of one density are one section: long loops, and results that do not depend on the cutting.
    if (!sections.empty() && same_density(sections.back(), s))
      sections.back().size += s.size;
    else
      sections.push_back(s);
  }
  if (!prior.has_seed) return std::make_shared<Prior>(std::move(sections));
  return std::make_shared<Prior>(std::move(sections), fixed_draws(layout.size(), seed, 0),
                                 fixed_draws(layout.size(), seed, 1));
}

}  // namespace smile

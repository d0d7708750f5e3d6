// The priors of spec 2.2 by name: each says what a weight and what any other parameter gets.
#include <cmath>
#include <numbers>

#include "smile/error.hpp"
#include "smile/targets/priors.hpp"

namespace smile {

namespace {

const std::string kPlace = "sampler.prior_config";
constexpr double kElementSpread = 0.1;
/// Fixed draws come from a chain of their own, so that they collide with no chain's draws from the prior.
constexpr std::uint32_t kSharedChain = (1U << 24) - 1;

struct Definition {
  std::string name;
  std::vector<std::string> parameters;
};

const std::vector<Definition>& definitions() {
  static const std::vector<Definition> all{{"StandardNormal", {}},
                                           {"Normal", {"loc", "scale"}},
                                           {"Laplace", {"loc", "scale"}},
                                           {"ShiftedNormal", {"loc", "scale", "loc_bias"}},
                                           {"Glorot", {"factor"}},
                                           {"He", {}},
                                           {"GloLap", {}},
                                           {"GloUnif", {}},
                                           {"TruncNormal", {"loc", "scale", "limit"}},
                                           {"BiMixtureNormal", {"loc", "scale"}},
                                           {"EpsStandardNormal", {}}};
  return all;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

const Definition& definition(const std::string& name) {
  for (const Definition& d : definitions())
    if (d.name == name) return d;
  throw Error(kPlace + ".name", "there is no prior '" + name + "'", "choose one of " + joined(prior_names()));
}

void check_parameters(const Definition& prior, const std::map<std::string, double>& given) {
  const std::string place = kPlace + ".parameters";
  const std::string mend = prior.parameters.empty() ? prior.name + " has no parameters; remove them"
                                                    : prior.name + " has exactly " + joined(prior.parameters);
  for (const std::string& name : prior.parameters)
    if (!given.contains(name)) throw Error(place, "'" + name + "' is missing", mend);
  for (const auto& [name, value] : given) {
    bool known = false;
    for (const std::string& parameter : prior.parameters) known = known || parameter == name;
    if (!known) throw Error(place, "'" + name + "' is not a parameter of " + prior.name, mend);
    if (!std::isfinite(value))
      throw Error(place + "." + name, "the value is not finite", "give a finite number");
    if ((name == "scale" || name == "factor") && value <= 0)
      throw Error(place + "." + name, std::to_string(value) + " is not positive", "give a number above 0");
    if (name == "limit" && value < 0)
      throw Error(place + "." + name, std::to_string(value) + " is negative", "give 0 or more");
  }
}

/// fan_in and fan_out of a weight, whose needed ones are positive.
struct Fans {
  double in, out;
};
Fans fans_of(const ParameterGroup& group, const std::string& prior, bool needs_out) {
  if (group.fan_in == 0 || (needs_out && group.fan_out == 0))
    throw Error(kPlace + ".name", prior + " needs the fans of '" + group.name + "', which are not known",
                "set fan_in and fan_out in the layout or choose StandardNormal");
  return {static_cast<double>(group.fan_in), static_cast<double>(group.fan_out)};
}

/// The density of one tensor under the named prior; offset and size are filled in by the caller.
PriorSection section_for(const std::string& name, const std::map<std::string, double>& p,
                         const ParameterGroup& group) {
  const bool weight = group.kind == ParameterKind::weight;
  PriorSection s;
  if (name == "StandardNormal") return s;
  if (name == "Normal") {
    s.loc = p.at("loc"), s.scale = p.at("scale");
  } else if (name == "Laplace") {
    s.family = PriorFamily::laplace;
    s.loc = p.at("loc"), s.scale = p.at("scale");
  } else if (name == "ShiftedNormal") {
    s.loc = weight ? p.at("loc") : p.at("loc_bias"), s.scale = p.at("scale");
  } else if (name == "Glorot") {
    if (weight) {
      const Fans fans = fans_of(group, name, true);
      s.scale = p.at("factor") * std::sqrt(2 / (fans.in + fans.out));
    }
  } else if (name == "He") {
    if (weight) s.scale = std::sqrt(2 / fans_of(group, name, false).in);
  } else if (name == "GloLap") {
    s.family = PriorFamily::laplace;
    s.scale = 1 / std::numbers::sqrt2;  // variance 1
    if (weight) {
      const Fans fans = fans_of(group, name, true);
      s.scale = 1 / std::sqrt(fans.in + fans.out);
    }
  } else if (name == "GloUnif") {
    // A uniform density on [−a, a] has standard deviation a/√3.
    s.family = PriorFamily::uniform;
    s.scale = std::numbers::sqrt3;
    if (weight) {
      const Fans fans = fans_of(group, name, true);
      s.scale = std::sqrt(6 / (fans.in + fans.out));
    }
  } else if (name == "TruncNormal") {
    s.family = PriorFamily::flat_normal;
    s.loc = p.at("loc"), s.scale = p.at("scale"), s.limit = p.at("limit");
  } else if (name == "BiMixtureNormal") {
    s.family = PriorFamily::two_normals;
    s.loc = p.at("loc"), s.scale = p.at("scale");
  } else {
    s.family = PriorFamily::element_normal;
  }
  return s;
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

const std::vector<std::string>& prior_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> out;
    for (const Definition& d : definitions()) out.push_back(d.name);
    return out;
  }();
  return names;
}

const std::vector<std::string>& prior_parameter_names(const std::string& name) {
  return definition(name).parameters;
}

std::shared_ptr<const Prior> make_prior(const std::string& name,
                                        const std::map<std::string, double>& parameters,
                                        const ParameterLayout& layout, std::uint64_t seed) {
  check_parameters(definition(name), parameters);
  std::vector<PriorSection> sections;
  for (const ParameterGroup& group : layout.groups) {
    PriorSection s = section_for(name, parameters, group);
    s.offset = group.offset;
    s.size = group.size();
    // Neighbours of one density are one section: long loops, and results that do not depend on the cutting.
    if (!sections.empty() && same_density(sections.back(), s))
      sections.back().size += s.size;
    else
      sections.push_back(s);
  }
  if (name != "EpsStandardNormal") return std::make_shared<Prior>(std::move(sections));
  return std::make_shared<Prior>(std::move(sections), fixed_draws(layout.size(), seed, 0),
                                 fixed_draws(layout.size(), seed, 1));
}

}  // namespace smile

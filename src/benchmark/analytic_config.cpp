// SPDX-License-Identifier: Apache-2.0
/// The configuration of `smile analytic`: a small schema of its own, read with the same manners as that of
/// `smile run`.
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "config/read.hpp"
#include "smile/benchmark/analytic.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

using Names = std::vector<std::pair<std::string_view, int>>;

/// All alternatives of an enumeration with names.
template <class E>
Names names_of() {
  Names names;
  for (const Alternative<E>& one : Named<E>::all) {
    names.emplace_back(one.name, int(one.value));
    if (!one.alias.empty()) names.emplace_back(one.alias, int(one.value));
  }
  return names;
}

/// The samplers that run many chains in the lanes of a core.
Names bundled_samplers() {
  Names names;
  for (const SamplerRow& row : sampler_rows())
    if (row.bundled) names.emplace_back(row.name, 0);
  return names;
}

/// One mapping of the file: reads its keys and complains about those that nobody asked for.
class Section {
 public:
  Section(const YAML::Node& node, std::string file, std::string prefix,
          std::initializer_list<std::string_view> known)
      : node_(node), file_(std::move(file)), prefix_(std::move(prefix)) {
    if (!node.IsMap())
      throw Error(place(node), "`" + shown(node) + "` is not a mapping of keys", "write `key: value` lines");
    std::vector<std::string> seen;
    for (const auto& entry : node) {
      const std::string key = entry.first.Scalar();
      if (std::find(seen.begin(), seen.end(), key) != seen.end())
        throw Error(place(entry.first) + ": " + prefix_ + key, "the key stands here twice",
                    "keep one of the two");
      seen.push_back(key);
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      std::string nearest(*known.begin());
      for (std::string_view name : known)
        if (schema::edit_distance(name, key) < schema::edit_distance(nearest, key)) nearest = name;
      throw Error(place(entry.first) + ": " + prefix_ + schema::shown(key), "there is no such key",
                  "did you mean `" + nearest + "`?");
    }
  }

  bool has(const char* key) const { return bool(node_[key]); }
  YAML::Node at(const char* key, const std::string& mend) const {
    if (!node_[key]) throw Error(place(node_) + ": " + prefix_ + key, "the key is missing", mend);
    return node_[key];
  }

  template <class T>
  void number(const char* key, T& value, double low, bool with_low, double high = 1e15) const {
    if (has(key)) value = T(parsed(key, node_[key], low, with_low, high, std::is_integral_v<T>));
  }
  /// A number, or a list of ascending numbers.
  void numbers(const char* key, std::vector<double>& values, double low) const {
    if (!has(key)) return;
    const YAML::Node node = node_[key];
    values.clear();
    if (!node.IsSequence()) values.push_back(parsed(key, node, low, false, 1e15, false));
    for (const YAML::Node& element : node)
      values.push_back(parsed(key, element, low, false, std::numeric_limits<double>::infinity(), false));
    if (values.empty()) throw Error(where(key), "the list is empty", "give at least one number");
    for (std::size_t i = 1; i < values.size(); ++i)
      if (!(values[i] > values[i - 1]))
        throw Error(where(key), "the numbers do not ascend", "write them in ascending order");
  }
  void truth(const char* key, bool& value) const {
    if (!has(key)) return;
    const std::string text = node_[key].IsScalar() ? node_[key].Scalar() : "";
    if (text != "true" && text != "false")
      throw Error(where(key), "`" + shown(node_[key]) + "` is neither true nor false", "write true or false");
    value = text == "true";
  }
  void text(const char* key, std::string& value) const {
    if (!has(key)) return;
    if (!node_[key].IsScalar() || node_[key].Scalar().empty())
      throw Error(where(key), "`" + shown(node_[key]) + "` is no text", "write a name or a path");
    value = node_[key].Scalar();
  }
  int choice(const char* key, const Names& names) const { return chosen(key, node_[key], names); }
  /// A list of names.
  template <class T>
  void choices(const char* key, const Names& names, std::vector<T>& values) const {
    if (!has(key)) return;
    const YAML::Node node = node_[key];
    if (!node.IsSequence() || node.size() == 0)
      throw Error(where(key), "`" + shown(node) + "` is not a list of names",
                  "write, for example, [" + std::string(names[0].first) + "]");
    values.clear();
    for (const YAML::Node& element : node) {
      [[maybe_unused]] const int value = chosen(key, element, names);
      if constexpr (std::is_same_v<T, std::string>)
        values.push_back(element.Scalar());
      else
        values.push_back(T(value));
    }
    for (std::size_t i = 0; i < values.size(); ++i)
      if (std::find(values.begin() + std::ptrdiff_t(i) + 1, values.end(), values[i]) != values.end())
        throw Error(where(key), "a name stands twice in the list", "keep one of the two");
  }

  std::string where(const char* key) const {
    return place(node_[key] ? node_[key] : node_) + ": " + prefix_ + key;
  }
  std::string place(const YAML::Node& node) const {
    return file_ + ":" + std::to_string(node.Mark().line + 1);
  }
  static std::string shown(const YAML::Node& node) { return schema::shown(schema::flow_text(node)); }

 private:
  double parsed(const char* key, const YAML::Node& node, double low, bool with_low, double high,
                bool whole) const {
    const std::string line = place(node) + ": " + prefix_ + key;
    std::string allowed = std::string(whole ? "an integer " : "a number ") + (with_low ? "≥ " : "> ") +
                          std::to_string(std::int64_t(low));
    if (high < 1e6) allowed += " and ≤ " + std::to_string(std::int64_t(high));
    double value = 0;
    std::size_t used = 0;
    const std::string text = node.IsScalar() && node.Tag() != "!" ? node.Scalar() : "";
    try {
      value = text == ".inf" ? std::numeric_limits<double>::infinity() : std::stod(text, &used);
    } catch (const std::exception&) {
      throw Error(line, "`" + shown(node) + "` is not a number", "expected " + allowed);
    }
    if (text != ".inf" && used != text.size())
      throw Error(line, "`" + shown(node) + "` is not a number", "expected " + allowed);
    const bool fits =
        (with_low ? value >= low : value > low) && value <= high && (!whole || std::trunc(value) == value);
    if (!fits || std::isnan(value))
      throw Error(line, "`" + shown(node) + "` is out of range", "expected " + allowed);
    return value;
  }
  int chosen(const char* key, const YAML::Node& node, const Names& names) const {
    const std::string text = node.IsScalar() ? node.Scalar() : "";
    std::string list, nearest;
    for (const auto& [name, value] : names) {
      if (name == text) return value;
      list += (list.empty() ? "`" : ", `") + std::string(name) + "`";
      if (nearest.empty() || schema::edit_distance(name, text) < schema::edit_distance(nearest, text))
        nearest = name;
    }
    throw Error(place(node) + ": " + prefix_ + key, "`" + shown(node) + "` is unknown",
                "did you mean `" + nearest + "`? The names are " + list);
  }

  YAML::Node node_;
  std::string file_, prefix_;
};

/// {from, to, points}, spaced evenly in the logarithm; or a number, or a list.
std::vector<double> step_grid(const Section& method, const YAML::Node& node, const std::string& file,
                              const std::string& prefix) {
  std::vector<double> grid;
  if (!node.IsMap()) {
    method.numbers("step_size", grid, 0);
    return grid;
  }
  const Section range(node, file, prefix + "step_size.", {"from", "to", "points"});
  double from = 0, to = 0;
  std::uint64_t points = 15;
  range.at("from", "give the smallest step size");
  range.at("to", "give the largest step size");
  range.number("from", from, 0, false);
  range.number("to", to, 0, false);
  range.number("points", points, 1, true, 1000);
  if (from > to || (from == to && points > 1))
    throw Error(range.where("from"), "the grid of step sizes is reversed",
                "`from` has to be smaller than `to`");
  for (std::uint64_t i = 0; i < points; ++i) {
    const double share = points > 1 ? double(i) / double(points - 1) : 0;
    grid.push_back(from * std::pow(to / from, share));
  }
  return grid;
}

AnalyticMethod read_method(const YAML::Node& node, const std::string& file, std::size_t number) {
  const std::string prefix = "methods[" + std::to_string(number) + "].";
  const Section section(
      node, file, prefix,
      {"name", "label", "step_size", "decoherence_length", "integrator", "energy", "friction",
       "preconditioner_scale", "preconditioner_centre", "preconditioner_rate", "cycle_steps"});
  AnalyticMethod method;
  section.at("name", "name a sampler, such as psmile-naive");
  section.choice("name", bundled_samplers());
  section.text("name", method.name);
  method.label = method.name;
  section.text("label", method.label);
  method.step_sizes = step_grid(
      section, section.at("step_size", "give a step size, a list, or {from, to, points}"), file, prefix);
  method.decoherence_lengths = {std::numeric_limits<double>::infinity()};
  const SamplerRow& row = method.row();
  for (const char* key : {"decoherence_length", "integrator", "energy"})
    if (section.has(key) && !row.isokinetic())
      throw Error(section.where(key), method.name + " has no such option", "leave the key out");
  for (const char* key : {"preconditioner_scale", "preconditioner_centre", "preconditioner_rate"})
    if (section.has(key) && !row.preconditioned)
      throw Error(section.where(key), method.name + " has no preconditioner", "leave the key out");
  if (section.has("friction") && !row.has_key("mdecay"))
    throw Error(section.where("friction"), method.name + " has no friction", "leave the key out");
  for (const char* key : {"cycle_steps"})
    if (section.has(key) && !row.cyclic)
      throw Error(section.where(key), method.name + " has no cycles", "leave the key out");
  section.numbers("decoherence_length", method.decoherence_lengths, 0);
  if (!row.stochastic && !section.has("decoherence_length"))
    throw Error(section.place(node) + ": " + prefix + "decoherence_length", "the key is missing",
                "give " + method.name + " a number or a list");
  if (section.has("integrator"))
    method.integrator = Integrator(section.choice("integrator", names_of<Integrator>()));
  if (section.has("energy")) method.energy = EnergyMode(section.choice("energy", names_of<EnergyMode>()));
  // The benchmark normalises the inverse of ŝ (spec 1.7).
  method.preconditioner.normalisation = Normalisation::inverse_rms;
  if (section.has("preconditioner_scale"))
    method.preconditioner.normalisation = Normalisation(section.choice(
        "preconditioner_scale",
        {{"rms", int(Normalisation::rms_floor)}, {"inverse-rms", int(Normalisation::inverse_rms)}}));
  if (section.has("preconditioner_centre"))
    method.preconditioner.centre = Centre(
        section.choice("preconditioner_centre", {{"mean", int(Centre::mean)}, {"none", int(Centre::none)}}));
  section.number("preconditioner_rate", method.preconditioner.rate, 0, false, 1);
  section.number("friction", method.friction, 0, false, 1);
  section.number("cycle_steps", method.cycle_steps, 1, true);
  return method;
}

}  // namespace

AnalyticConfig load_analytic_config(const std::filesystem::path& path) {
  const std::string file = path.string();
  const YAML::Node document = schema::parse_document(schema::read_text_file(file), file);
  const Section root(document, file, "",
                     {"experiment_name",
                      "saving_dir",
                      "rng",
                      "steps",
                      "chains",
                      "equal_gradients",
                      "start",
                      "targets",
                      "covariance",
                      "noises",
                      "distributions",
                      "noise_scale",
                      "condition_number",
                      "student_t_df",
                      "noise_rotation",
                      "lognormal_sigma",
                      "lognormal_unit_variance",
                      "record_modes",
                      "record_energies",
                      "methods"});
  AnalyticConfig config;
  config.file = file;
  root.text("experiment_name", config.experiment_name);
  root.text("saving_dir", config.saving_dir);
  root.number("rng", config.seed, 0, true);
  root.number("steps", config.steps, 100, true, 1e12);
  root.number("chains", config.chains, 1, true, 100000);
  root.truth("equal_gradients", config.equal_gradients);
  if (root.has("start")) config.exact_start = root.choice("start", {{"exact", 1}, {"paper", 0}}) == 1;
  root.at("targets", "name at least one, such as [icg]");
  root.choices("targets", names_of<AnalyticalKind>(), config.targets);
  root.at("noises", "name at least one, such as [isotropic], or [none]");
  root.choices("noises", names_of<NoiseStructure>(), config.noises);
  root.choices("distributions", names_of<BaseNoise>(), config.distributions);
  if (root.has("noise_rotation"))
    config.noise_rotation = NoiseRotation(root.choice("noise_rotation", names_of<NoiseRotation>()));
  root.number("noise_scale", config.noise_scale, 0, false);
  root.number("condition_number", config.condition_number, 1, true, 1e6);
  root.number("student_t_df", config.student_t_df, 2, false);
  root.numbers("lognormal_sigma", config.lognormal_sigma, 0);
  root.truth("lognormal_unit_variance", config.lognormal_unit_variance);
  root.truth("record_modes", config.record_modes);
  root.truth("record_energies", config.record_energies);
  const bool gaussian = std::find(config.targets.begin(), config.targets.end(), AnalyticalKind::gaussian) !=
                        config.targets.end();
  if (root.has("covariance") != gaussian)
    throw Error(root.where("covariance"), gaussian ? "the key is missing" : "no target uses the key",
                "target gaussian takes its covariance from this .npy file");
  if (gaussian) {
    std::string name;
    root.text("covariance", name);
    config.covariance =
        std::filesystem::path(name).is_absolute() ? std::filesystem::path(name) : path.parent_path() / name;
  }
  const YAML::Node methods = root.at("methods", "list at least one sampler");
  if (!methods.IsSequence() || methods.size() == 0)
    throw Error(root.where("methods"), "`" + Section::shown(methods) + "` is not a list of samplers",
                "write `- {name: psmile-naive, step_size: 0.01}`");
  for (std::size_t i = 0; i < methods.size(); ++i) config.methods.push_back(read_method(methods[i], file, i));
  for (std::size_t i = 0; i < config.methods.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (config.methods[i].label == config.methods[j].label)
        throw Error(root.place(methods[i]) + ": methods",
                    "two methods are labelled `" + config.methods[i].label + "`",
                    "give one of them a `label` of its own");
  return config;
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include "smile/experiment/sweep.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>

#include "config/read.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

using schema::Key;

constexpr std::size_t kMostPoints = 100'000;

/// One value of one axis of the product.
struct Option {
  std::vector<Setting> settings;
  std::string label;
};

/// One key (or one section given as a list of mappings) with its alternatives.
struct Axis {
  std::string path;
  std::vector<Option> alternatives;
};

std::string last_step(const std::string& path) {
  return path.substr(path.rfind('.') + 1);
}

/// Text fit for a part of a file name.
std::string name_part(std::string text) {
  // A path is recognised by its file.
  if (text.find('/') != std::string::npos) text = std::filesystem::path(text).stem().string();
  for (char& c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (!std::isalnum(code) && c != '.' && c != '-' && c != '_' && c != '+') c = '-';
  }
  while (text.starts_with('-') && text.size() > 1 && !std::isdigit(static_cast<unsigned char>(text[1])))
    text.erase(0, 1);
  while (text.ends_with('-')) text.pop_back();
  return text.empty() ? "x" : text;
}

std::string label_of(const YAML::Node& value) {
  if (!value.IsSequence()) return name_part(value.IsScalar() ? value.Scalar() : schema::flow_text(value));
  std::string text;
  for (const YAML::Node& element : value) text += (text.empty() ? "" : "-") + label_of(element);
  return text;
}

void collect(const YAML::Node& mapping, const std::string& prefix, const std::string& where,
             std::vector<Setting>& settings) {
  for (const auto& pair : mapping) {
    const std::string path = prefix + "." + pair.first.Scalar();
    if (pair.second.IsMap()) {
      collect(pair.second, path, where, settings);
    } else {
      settings.push_back({path, schema::flow_text(pair.second), where});
    }
  }
}

class SweepReader final : public schema::Walker {
 public:
  using Walker::Walker;
  std::vector<Axis> axes;

 private:
  void leaf(const Key& key, const YAML::Node& value, const std::string& place) override {
    const std::string path(key.path);
    const std::string where = place + ": " + path;
    const bool flat_list = schema::is_list(key) && value.IsSequence() && value.size() > 0 &&
                           std::none_of(value.begin(), value.end(),
                                        [](const YAML::Node& e) { return e.IsSequence() || e.IsNull(); });
    if (flat_list) {
      throw Error(where,
                  "the key takes a list, so `" + schema::shown(schema::flow_text(value)) +
                      "` is one value, not several",
                  "write a list of lists: `[" + schema::shown(schema::flow_text(value)) + "]`");
    }
    if (!value.IsSequence()) {
      axes.push_back({path, {one(path, value, place)}});
      return;
    }
    Axis axis{path, {}};
    for (const YAML::Node& element : value) axis.alternatives.push_back(one(path, element, place));
    add(std::move(axis), where);
  }

  /// A section as a list of mappings: each mapping is one alternative.
  bool section(const std::string& path, const YAML::Node& value, const std::string& place) override {
    const bool mappings = value.IsSequence() && std::all_of(value.begin(), value.end(),
                                                            [](const YAML::Node& e) { return e.IsMap(); });
    if (!mappings) return Walker::section(path, value, place);
    Axis axis{path, {}};
    for (const YAML::Node& element : value) {
      check(element, path);
      Option alternative;
      collect(element, path, place, alternative.settings);
      axis.alternatives.push_back(std::move(alternative));
    }
    // Named by the keys in which the alternatives differ.
    std::map<std::string, std::set<std::string>> values;
    for (const Option& alternative : axis.alternatives) {
      for (const Setting& setting : alternative.settings) values[setting.key].insert(setting.value);
    }
    for (Option& alternative : axis.alternatives) {
      for (const Setting& setting : alternative.settings) {
        if (values[setting.key].size() < 2) continue;
        if (!alternative.label.empty()) alternative.label += ',';
        alternative.label += last_step(setting.key) + "=" + name_part(setting.value);
      }
      if (alternative.label.empty()) alternative.label = last_step(path) + "=base";
    }
    add(std::move(axis), place + ": " + path);
    return true;
  }

  bool takes(const Key& key, const YAML::Node& value) const override {
    if (value.IsSequence() && !schema::is_list(key)) {
      return value.size() > 0 &&
             std::all_of(value.begin(), value.end(), [&](const YAML::Node& e) { return takes_one(key, e); });
    }
    return takes_one(key, value);
  }
  static bool takes_one(const Key& key, const YAML::Node& value) {
    Config scratch;
    try {
      schema::assign(key, value, "", scratch);
    } catch (const Error&) {
      return false;
    }
    return true;
  }

  /// Finds unknown keys in an alternative, with their own lines.
  void check(const YAML::Node& mapping, const std::string& path) {
    const std::size_t before = axes.size();
    walk(mapping, path);
    axes.resize(before);
  }

  static Option one(const std::string& path, const YAML::Node& value, const std::string& place) {
    return {{{path, schema::flow_text(value), place}}, label_of(value)};
  }

  void add(Axis axis, const std::string& where) {
    if (axis.alternatives.empty()) throw Error(where, "the list is empty", "write at least one value");
    std::set<std::string> texts;
    for (const Option& alternative : axis.alternatives) {
      std::string text;
      for (const Setting& setting : alternative.settings) text += setting.key + "=" + setting.value + "\n";
      if (!texts.insert(text).second) {
        throw Error(
            where,
            "`" + schema::shown(alternative.settings.empty() ? "{}" : alternative.settings.front().value) +
                "` appears twice",
            "remove one of them");
      }
    }
    axes.push_back(std::move(axis));
  }
};

/// The last steps of the path that tell it from every other axis.
std::string short_name(const std::string& path, const std::vector<Axis>& axes) {
  std::string name = last_step(path);
  const auto clashes = [&] {
    return std::any_of(axes.begin(), axes.end(), [&](const Axis& other) {
      return other.path != path && (other.path == name || other.path.ends_with("." + name));
    });
  };
  while (clashes() && name.size() < path.size()) {
    const std::size_t dot = path.rfind('.', path.size() - name.size() - 2);
    name = dot == std::string::npos ? path : path.substr(dot + 1);
  }
  return name;
}

}  // namespace

std::vector<SweepPoint> parse_sweep(const std::string& text, const std::string& name) {
  SweepReader reader(name);
  reader.walk(schema::parse_document(text, name), "");
  const std::vector<Axis>& axes = reader.axes;
  std::size_t count = 1;
  for (const Axis& axis : axes) {
    count *= axis.alternatives.size();
    if (count > kMostPoints)
      throw Error(name, "the product has more than 100000 points", "split the search file");
  }
  std::vector<SweepPoint> points(count);
  std::set<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    SweepPoint& point = points[i];
    std::size_t block = count;
    for (const Axis& axis : axes) {
      // The last axis varies fastest.
      block /= axis.alternatives.size();
      const Option& alternative = axis.alternatives[i / block % axis.alternatives.size()];
      point.settings.insert(point.settings.end(), alternative.settings.begin(), alternative.settings.end());
      if (axis.alternatives.size() == 1) continue;
      if (!point.name.empty()) point.name += ',';
      const bool labelled = schema::is_section(axis.path);
      point.name += labelled ? alternative.label : short_name(axis.path, axes) + "=" + alternative.label;
    }
    if (point.name.empty()) point.name = "point";
    // Long names are cut, and files of one name in two folders look alike: the number tells them apart.
    constexpr std::size_t kLongest = 150;
    if (point.name.size() > kLongest) point.name.resize(kLongest);
    if (!names.insert(point.name).second) {
      point.name += "-" + std::to_string(i + 1);
      names.insert(point.name);
    }
  }
  return points;
}

std::vector<SweepPoint> load_sweep(const std::string& file) {
  return parse_sweep(schema::read_text_file(file), file);
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include "smile/config/config.hpp"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "config/read.hpp"
#include "smile/config/sampler_factory.hpp"
#include "smile/error.hpp"

namespace smile {
namespace {

using schema::Key;

/// Fills a Config from a file and from settings; the last value of a key wins.
class ConfigReader final : public schema::Walker {
 public:
  ConfigReader(const std::string& name, Config& config) : Walker(name), config_(config) {}

  void read_setting(const Setting& setting) {
    YAML::Node value;
    try {
      value = YAML::Load(setting.value);
    } catch (const YAML::Exception& exception) {
      throw Error(
          setting.where,
          "`" + schema::shown(setting.value) + "` is not valid YAML (" + schema::shown(exception.msg) + ")",
          "write a value such as 0.01 or [16, 16, 1]");
    }
    // A setting is a mapping of one key: unknown keys get the same answer as in a file.
    const std::size_t dot = setting.key.rfind('.');
    const std::string section = dot == std::string::npos ? "" : setting.key.substr(0, dot);
    std::string known = section;
    while (!known.empty() && !schema::is_section(known)) {
      const std::size_t cut = known.rfind('.');
      known = cut == std::string::npos ? "" : known.substr(0, cut);
    }
    // The first unknown step of the path, seen from the last known section.
    std::string rest = setting.key.substr(known.empty() ? 0 : known.size() + 1);
    YAML::Node mapping(YAML::NodeType::Map);
    if (known == section) {
      mapping[rest] = value;
    } else {
      YAML::Node below(YAML::NodeType::Map);
      below[rest.substr(rest.find('.') + 1)] = value;
      mapping[rest.substr(0, rest.find('.'))] = below;
    }
    walk(mapping, known, setting.where);
  }

 private:
  void leaf(const Key& key, const YAML::Node& value, const std::string& place) override {
    schema::assign(key, value, place, config_);
    config_.given[std::string(key.path)] = place;
  }
  bool takes(const Key& key, const YAML::Node& value) const override {
    Config scratch;
    try {
      schema::assign(key, value, "", scratch);
    } catch (const Error&) {
      return false;
    }
    return true;
  }
  Config& config_;
};

}  // namespace

Config parse_config(const std::string& text, const std::string& name, const std::vector<Setting>& settings) {
  Config config;
  config.file = name;
  const std::string stem = std::filesystem::path(name).stem().string();
  if (!stem.empty()) config.experiment_name = stem;
  ConfigReader reader(name, config);
  reader.walk(schema::parse_document(text, name), "");
  for (const Setting& setting : settings) reader.read_setting(setting);
  for (const Key& key : schema::keys()) {
    if (!key.required || config.given.contains(std::string(key.path))) continue;
    throw Error(name + ": " + std::string(key.path), "the key is missing",
                "add it: " + schema::allowed_text(key));
  }
  schema::complete(config);
  return config;
}

Config load_config(const std::string& file, const std::vector<Setting>& settings) {
  return parse_config(schema::read_text_file(file), file, settings);
}

Setting parse_setting(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw Error("--set " + schema::shown(text), "not of the form key=value",
                "write for instance training.sampler.step_size=0.01");
  }
  const std::string key = text.substr(0, equals);
  return {key, text.substr(equals + 1), "--set"};
}

namespace {
std::string yaml_of(const Config& config, bool with_places) {
  std::string text;
  std::vector<std::string> open;  // sections whose headings are written
  for (const Key& key : schema::keys()) {
    if (!key.when.holds(config) && !config.given.contains(std::string(key.path))) continue;
    if (!with_places && key.place != schema::NamesPlace::no) continue;
    // Not known before the data are read (classification without hidden_structure).
    if (key.path == "model.hidden_structure" && config.model.hidden_structure.empty()) continue;
    std::vector<std::string> parts;
    std::string_view rest = key.path;
    for (std::size_t dot; (dot = rest.find('.')) != std::string_view::npos; rest.remove_prefix(dot + 1)) {
      parts.emplace_back(rest.substr(0, dot));
    }
    const auto common = static_cast<std::size_t>(
        std::mismatch(parts.begin(), parts.end(), open.begin(), open.end()).first - parts.begin());
    for (std::size_t depth = common; depth < parts.size(); ++depth) {
      text += std::string(2 * depth, ' ') + parts[depth] + ":\n";
    }
    open = parts;
    text += std::string(2 * parts.size(), ' ') + std::string(rest) + ": " + schema::value_text(key, config) +
            "\n";
  }
  return text;
}
}  // namespace

std::string to_yaml(const Config& config) {
  return yaml_of(config, true);
}

std::string to_yaml_without_places(const Config& config) {
  return yaml_of(config, false);
}

bool operator==(const Config& a, const Config& b) {
  return std::all_of(schema::keys().begin(), schema::keys().end(), [&](const Key& key) {
    return schema::value_text(key, a) == schema::value_text(key, b);
  });
}

std::string Config::place(const std::string& key) const {
  const auto found = given.find(key);
  return (found == given.end() ? file : found->second) + ": " + key;
}

PriorConfig::PriorConfig() {
  for (const PriorRow& row : prior_rows())
    for (const PriorParameter& parameter : row.parameters) parameters[std::string(parameter.name)];
}

PriorValues PriorConfig::values() const {
  PriorValues values;
  for (const auto& [key, value] : parameters)
    if (value && row().parameter(key) != nullptr) values[key] = *value;
  return values;
}

SamplerConfig::SamplerConfig() {
  microcanonical.rule = row().rule.value_or(microcanonical.rule);
}

namespace {
/// In an epoch, where the size of a batch is not given.
constexpr std::int64_t kFewestBatches = 4;
}  // namespace

void fit_to_data(Config& config, std::size_t training_rows, std::size_t classes) {
  SamplerConfig& sampler = config.training.sampler;
  const auto fit = [&](const std::string& key, auto& batch_size) {
    if (!batch_size || static_cast<std::size_t>(*batch_size) <= training_rows) return;
    if (config.given.contains(key)) {
      throw Error(config.place(key),
                  std::to_string(*batch_size) + " is more than the " + std::to_string(training_rows) +
                      " training rows",
                  "write at most " + std::to_string(training_rows) + ", or null for all rows");
    }
    batch_size.reset();
  };
  if (sampler.is_stochastic()) {
    // Mini-batch samplers want some batches an epoch: nobody has to know that who gives no size.
    if (!config.given.contains("training.sampler.batch_size") && sampler.batch_size)
      sampler.batch_size = std::min<std::int64_t>(
          *sampler.batch_size, std::max<std::int64_t>(1, std::int64_t(training_rows) / kFewestBatches));
    fit("training.sampler.batch_size", sampler.batch_size);
  }
  if (config.training.warmstart.trains())
    fit("training.warmstart.batch_size", config.training.warmstart.member.batch_size);

  check_batches(sampler, training_rows, config.place("training.sampler.batch_size"));
  // A network that is made for the data has an output for each class or character.
  const auto size_output = [&](const std::string& key, std::int64_t& width, const std::string& what) {
    if (config.given.contains(key) && static_cast<std::size_t>(width) != classes) {
      throw Error(config.place(key),
                  std::to_string(width) + ", but the data have " + std::to_string(classes) + " " + what,
                  "write " + std::to_string(classes) + ", or leave the key out");
    }
    width = static_cast<std::int64_t>(classes);
  };
  if (config.model.row().has_key("vocab_size"))
    size_output("model.vocab_size", config.model.vocab_size, "characters");
  if (config.model.row().has_key("out_dim") && config.task() == Task::classification)
    size_output("model.out_dim", config.model.out_dim, "classes");
  std::vector<std::int64_t>& widths = config.model.hidden_structure;
  if (config.task() != Task::classification || !config.model.row().has_key("hidden_structure")) return;
  if (widths.empty()) widths = {16, 16, 16, static_cast<std::int64_t>(classes)};
  if (static_cast<std::size_t>(widths.back()) != classes) {
    throw Error(config.place("model.hidden_structure"),
                "the last width is " + std::to_string(widths.back()) + ", but the data have " +
                    std::to_string(classes) + " classes",
                "let the list end with " + std::to_string(classes));
  }
}

}  // namespace smile

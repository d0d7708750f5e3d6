// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "config/schema.hpp"
#include "smile/config/catalogue.hpp"

namespace smile {
namespace {

std::vector<CatalogueEntry> entries(const schema::Choices& choices) {
  std::vector<CatalogueEntry> list;
  for (const schema::Choice& choice : choices) {
    list.push_back({std::string(choice.name), std::string(choice.doc),
                    std::vector<std::string>(choice.aliases.begin(), choice.aliases.end()),
                    schema::is_available(choice), choice.torch});
  }
  return list;
}

/// '|' ends a cell of a Markdown table.
std::string cell(std::string text) {
  for (std::size_t bar = 0; (bar = text.find('|', bar)) != std::string::npos; bar += 2)
    text.insert(bar, "\\");
  return text;
}

std::string code(const std::string& text) {
  return text.empty() ? "" : "`" + text + "`";
}

}  // namespace

std::vector<CatalogueEntry> list_samplers() {
  return entries(schema::sampler_choices());
}
std::vector<CatalogueEntry> list_models() {
  return entries(schema::model_choices());
}
std::vector<CatalogueEntry> list_priors() {
  return entries(schema::prior_choices());
}
std::vector<CatalogueEntry> list_metrics() {
  return entries(schema::find_key("evaluations")->alternatives());
}

std::vector<KeyEntry> list_keys() {
  const Config defaults;
  std::vector<KeyEntry> list;
  for (const schema::Key& key : schema::keys()) {
    std::string value = key.required ? "" : schema::value_text(key, defaults);
    // Filled in from other keys.
    if (key.path == "model.hidden_structure") value = "[16, 16, 16, 1]";
    if (key.path == "experiment_name") value = "the file's name";
    std::string by_sampler;
    for (const SamplerRow& row : sampler_rows())
      for (const SamplerDefault& own : row.defaults)
        if (key.path == "training.sampler." + std::string(own.key))
          by_sampler +=
              (by_sampler.empty() ? "" : ", ") + std::string(row.name) + " " + std::string(own.value);
    if (!by_sampler.empty()) value += "; " + by_sampler;
    list.push_back({std::string(key.path), schema::allowed_text(key, true), value, std::string(key.doc),
                    std::string(key.when.text), std::string(key.authors)});
  }
  return list;
}

std::vector<std::string> authors_keys(const Config& config) {
  Config defaults;
  std::vector<std::string> list;
  for (const schema::Key& key : schema::keys()) {
    if (key.authors.empty() || !key.when.holds(config)) continue;
    const std::string value = schema::value_text(key, config);
    if (value == key.authors && value != schema::value_text(key, defaults)) {
      list.push_back(std::string(key.path) + ": " + value);
    }
  }
  return list;
}

std::string configuration_reference() {
  std::string text = R"(# Configuration

This page is written by `smile list keys --markdown` from the table that the program itself reads; a test compares
the two.

A configuration is a YAML file. Only `data.path` and `data.task` are required:

```yaml
data:
  path: data/airfoil.data
  task: mean_regr
```

`smile check FILE` prints the completed configuration and runs nothing. Rules:

* A key that does not exist is an error that names the nearest known key; a value of the wrong type or out of range is
  an error with file, line, key, value and what is allowed. `"64"` in quotes is a text, not a number; `1` is fine where
  a number is wanted; truth values are `true` and `false`. Letter case of names does not matter.
* A key that has no effect for the chosen sampler, network or data gives a warning. The column *goes with* says when a
  key has an effect.
* `--set a.b.c=value` sets a key after the file is read; the last one wins.
* `--search FILE` takes a file of the same tree with lists at its leaves and runs every combination. A key that takes a
  list needs a list of lists there; a section may be a list of mappings.
* `compat: authors` gives the keys with an entry in the column *authors* that value, unless the file sets them.
  `compat: 0.1` gives psmile-auto and smile-auto the defaults that they had in version 0.1.
* Networks, samplers and data that this build does not have are known by name and refused as not available. What needs
  LibTorch is there in a build configured with `-DSMILE_WITH_TORCH=ON`.

)";
  const auto table_head =
      "| key | value | default | goes with | authors | meaning |\n|---|---|---|---|---|---|\n";
  std::string section = "?";
  for (const KeyEntry& key : list_keys()) {
    // A heading for each first step and for the parts of training.
    std::string group = key.path.substr(0, key.path.find('.'));
    if (group == "training") group = key.path.substr(0, key.path.find('.', group.size() + 1));
    if (group == key.path) group = "";
    if (group != section) {
      section = group;
      text += "\n## " + (group.empty() ? "At the top" : "`" + group + "`") + "\n\n" + table_head;
    }
    const std::string name = group.empty() ? key.path : key.path.substr(group.size() + 1);
    text += "| `" + name + "` | " + cell(key.allowed) + " | " +
            (key.default_value.empty() ? "required" : code(key.default_value)) + " | " + cell(key.used_with) +
            " | " + code(key.authors) + " | " + cell(key.description) + " |\n";
  }
  const auto catalogue = [&](const char* title, const std::vector<CatalogueEntry>& list) {
    text += std::string("\n## ") + title + "\n\n| name | also | what |\n|---|---|---|\n";
    for (const CatalogueEntry& entry : list) {
      std::string aliases;
      for (const std::string& alias : entry.aliases) aliases += (aliases.empty() ? "" : ", ") + code(alias);
      text += "| `" + entry.name + "` | " + aliases + " | " + cell(entry.description) +
              (entry.needs_torch ? " (needs LibTorch)"
               : entry.available ? ""
                                 : " (not available in this build)") +
              " |\n";
    }
  };
  catalogue("Samplers", list_samplers());
  catalogue("Models", list_models());
  catalogue("Priors", list_priors());
  catalogue("Evaluations", list_metrics());
  text +=
      "\n`noisysmile` is `psmile-naive` where `reset_prob` is 1 and `adaption_prob` 0, and `psmile` "
      "otherwise.\n";
  return text;
}

}  // namespace smile

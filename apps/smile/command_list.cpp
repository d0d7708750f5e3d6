// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "commands.hpp"
#include "output.hpp"
#include "smile/config/catalogue.hpp"
#include "smile/data/table_formats.hpp"
#include "smile/deliver/export.hpp"

namespace smile::program {
namespace {

/// Letters, not bytes: the words hold characters such as ≥.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

void print_entries(const std::vector<CatalogueEntry>& entries) {
  std::size_t widest = 0;
  for (const CatalogueEntry& entry : entries) widest = std::max(widest, width(entry.name));
  for (const CatalogueEntry& entry : entries) {
    std::string text = entry.description;
    if (!entry.aliases.empty()) {
      text += " (also: ";
      for (std::size_t i = 0; i < entry.aliases.size(); ++i) text += (i == 0 ? "" : ", ") + entry.aliases[i];
      text += ")";
    }
    if (!entry.available) text += " [not available in this build]";
    print("{}{}  {}\n", entry.name, std::string(widest - width(entry.name), ' '), text);
  }
}

std::vector<CatalogueEntry> list_export_formats() {
  std::vector<CatalogueEntry> entries;
  for (const ExportFormat& format : export_formats())
    entries.push_back({.name = format.name,
                       .description = format.doc + "; read by " + format.read_by,
                       .aliases = {},
                       .available = bool(format.write)});
  return entries;
}

std::vector<CatalogueEntry> list_table_formats() {
  std::vector<CatalogueEntry> entries;
  for (const TableFormat& format : table_formats())
    entries.push_back({.name = format.endings.front(),
                       .description = format.doc,
                       .aliases = {format.endings.begin() + 1, format.endings.end()}});
  return entries;
}

void print_keys() {
  for (const KeyEntry& key : list_keys()) {
    print("{}\n    {}\n    {}{}{}\n", key.path, key.description, key.allowed,
          key.default_value.empty() ? "; required" : "; default " + key.default_value,
          key.used_with.empty() ? "" : "; goes with " + key.used_with);
  }
}

}  // namespace

void add_list(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand(
      "list", "Lists what this build knows: samplers, models, priors, metrics, tables, formats, keys");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* description, std::vector<CatalogueEntry> (*entries)()) {
    command->add_subcommand(name, description)->callback([&action, entries] {
      action = [entries] {
        print_entries(entries());
        return 0;
      };
    });
  };
  add("samplers", "Names for training.sampler.name", list_samplers);
  add("models", "Names for model.model", list_models);
  add("priors", "Names for training.sampler.prior_config.name", list_priors);
  add("metrics", "Names for evaluations", list_metrics);
  add("tables", "Endings of the files of tables", list_table_formats);
  command->add_subcommand("formats", "Names for the option --format of export")->callback([&action] {
    action = [] {
      print_entries(list_export_formats());
      return 0;
    };
  });
  CLI::App* keys = command->add_subcommand("keys", "All keys of the configuration");
  const auto markdown = std::make_shared<bool>(false);
  keys->add_flag("--markdown", *markdown, "write docs/configuration.md");
  keys->callback([&action, markdown] {
    action = [markdown] {
      if (*markdown) {
        print("{}", configuration_reference());
      } else {
        print_keys();
      }
      return 0;
    };
  });
}

}  // namespace smile::program

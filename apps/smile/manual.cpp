// SPDX-License-Identifier: Apache-2.0
#include "manual.hpp"

#include <CLI/CLI.hpp>

#include "smile/config/catalogue.hpp"

namespace smile::program {
namespace {

ManualOption option_of(const CLI::Option& option) {
  ManualOption one;
  for (const std::string& name : option.get_snames()) one.words.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) one.words.push_back("--" + name);
  for (const std::string& word : one.words) one.names += (one.names.empty() ? "" : ", ") + word;
  if (option.get_expected_max() > 0) one.value = option.get_type_name();
  if (one.words.empty()) one.names = one.value;
  one.text = option.get_description();
  one.takes_key = option.check_lname("set");
  return one;
}

/// What roff would take for its own.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c == '\n')
      out += "\n.br\n";
    else
      out += c;
  }
  // A line must not begin with a request.
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

void put_options(const ManualCommand& command, std::string& page) {
  for (const ManualOption& option : command.options) {
    page += ".TP\n\\fB" + roff(option.names) + "\\fR";
    if (!option.words.empty() && !option.value.empty()) page += " \\fI" + roff(option.value) + "\\fR";
    page += "\n" + roff(option.text) + "\n";
  }
}

void put_command(const ManualCommand& command, const std::string& before, std::string& page) {
  const std::string name = before + " " + command.name;
  page += ".SS " + roff(name) + "\n" + roff(command.text) + ".\n";
  put_options(command, page);
  for (const ManualCommand& below : command.below) put_command(below, name, page);
}

}  // namespace

ManualCommand manual_of(const CLI::App& program) {
  ManualCommand manual{program.get_name(), program.get_description(), {}, {}};
  for (const CLI::Option* option : program.get_options()) manual.options.push_back(option_of(*option));
  for (const CLI::App* below : program.get_subcommands({})) manual.below.push_back(manual_of(*below));
  return manual;
}

std::string man_page(const ManualCommand& program) {
  std::string page = ".TH SMILE 1 \"\" \"smile " SMILE_VERSION "\" \"User Commands\"\n";
  page += ".ad l\n.nh\n";  // keys and lists of names cannot be justified
  page += ".SH NAME\nsmile \\- samples the posterior of Bayesian neural networks\n";
  page += ".SH SYNOPSIS\n.B smile\n.I COMMAND\n[\\fIoptions\\fR]\n";
  page += ".SH DESCRIPTION\n" + roff(program.text) + "\n";
  page += ".SH OPTIONS\n";
  put_options(program, page);
  page += ".SH COMMANDS\n";
  for (const ManualCommand& command : program.below) put_command(command, program.name, page);
  page += ".SH CONFIGURATION KEYS\n";
  for (const KeyEntry& key : list_keys()) {
    page += ".TP\n\\fB" + roff(key.path) + "\\fR\n" + roff(key.description) + " (" + roff(key.allowed) +
            "; " + (key.default_value.empty() ? "required" : "default " + roff(key.default_value)) +
            (key.used_with.empty() ? "" : "; goes with " + roff(key.used_with)) + ")\n";
  }
  page += ".SH EXIT STATUS\n0 done, 1 a run failed or was interrupted, 2 wrong usage or configuration.\n";
  return page;
}

}  // namespace smile::program

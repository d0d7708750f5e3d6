// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>

#include "commands.hpp"
#include "smile/error.hpp"

namespace smile::program {

void add_one_config_argument(CLI::App& command, ConfigArguments& arguments) {
  command.add_option("config", arguments.config, "the configuration, a YAML file")
      ->required()
      ->type_name("CONFIG.yaml");
  command
      .add_option("--set", arguments.set,
                  "set a key, such as training.sampler.step_size=0.01; may be repeated")
      ->type_name("a.b.c=value")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

void add_config_arguments(CLI::App& command, ConfigArguments& arguments) {
  add_one_config_argument(command, arguments);
  command
      .add_option("--search", arguments.search,
                  "a file with lists at its leaves: one run for each combination")
      ->type_name("SWEEP.yaml");
}

std::vector<Setting> ConfigArguments::settings() const {
  std::vector<Setting> settings;
  for (const std::string& text : set) settings.push_back(parse_setting(text));
  return settings;
}

Config ConfigArguments::load(const std::vector<Setting>& settings) const {
  if (config != "-") return load_config(config, settings);
  constexpr std::size_t kLargest = std::size_t{4} << 20;
  if (!input_) {
    input_.emplace(kLargest + 1, '\0');
    input_->resize(std::fread(input_->data(), 1, input_->size(), stdin));
  }
  if (input_->size() > kLargest) throw Error("stdin", "larger than 4 MiB", "is it a configuration?");
  return parse_config(*input_, "stdin", settings);
}

void print_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) std::fprintf(stderr, "warning: %s\n", warning.c_str());
}

}  // namespace smile::program

// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "commands.hpp"
#include "smile/deliver/generate.hpp"

namespace smile::program {

void add_generate(CLI::App& program, Action& action) {
  struct Arguments {
    std::string run;
    GenerateOptions options;
  };
  CLI::App* command =
      program.add_subcommand("generate", "Writes text with the language model of a run, averaged over draws");
  const auto arguments = std::make_shared<Arguments>();
  GenerateOptions& options = arguments->options;
  command->add_option("run", arguments->run, "the run directory")->required()->type_name("RUN");
  command->add_option("--prompt", options.prompt, "how the text begins")->type_name("TEXT");
  command->add_option("--tokens", options.tokens, "characters to write")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--temperature", options.temperature, "below 1: likelier text; above: wilder")
      ->capture_default_str()
      ->type_name("T");
  command->add_option("--draws", options.draws, "draws that are averaged over")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str()
      ->type_name("N");
  command->add_option("--seed", options.seed, "of the random choice of characters")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  command->callback([&action, arguments] {
    action = [arguments] {
      GenerateOptions given = arguments->options;
      given.on_text = [](const std::string& text) {
        put(text);
        std::fflush(stdout);
      };
      given.on_message = [](const std::string& text) { print_error("warning: {}\n", text); };
      generate_text(arguments->run, given);
      put("\n");
      return 0;
    };
  });
}

}  // namespace smile::program

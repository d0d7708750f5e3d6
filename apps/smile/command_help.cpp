// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <vector>

#include "commands.hpp"
#include "manual.hpp"
#include "output.hpp"
#include "smile/error.hpp"

namespace smile::program {
namespace {

/// The command of those words, such as {"list", "keys"}.
const CLI::App& command_of(const CLI::App& program, const std::vector<std::string>& words) {
  const CLI::App* at = &program;
  for (const std::string& word : words) {
    const CLI::App* next = nullptr;
    std::string names;
    for (const CLI::App* below : at->get_subcommands({})) {
      if (below->get_name() == word) next = below;
      names += (names.empty() ? "" : ", ") + below->get_name();
    }
    if (next == nullptr)
      throw Error("command line", "unknown command `" + word + "`",
                  names.empty() ? at->get_name() + " has no commands" : "the commands are " + names);
    at = next;
  }
  return *at;
}

}  // namespace

void add_help(CLI::App& program, Action& action) {
  CLI::App* help = program.add_subcommand("help", "Prints the help of the program or of a command");
  const auto words = std::make_shared<std::vector<std::string>>();
  help->add_option("command", *words, "such as run, or list keys")->type_name("COMMAND");
  help->callback([&program, &action, words] {
    action = [&program, words] {
      std::string before = program.get_name();
      for (std::size_t i = 0; i + 1 < words->size(); ++i) before += " " + (*words)[i];
      const CLI::App& command = command_of(program, *words);
      // help() of the program itself would go on to the command that was parsed.
      print("{}", words->empty() ? program.get_formatter()->make_help(&program, program.get_name(),
                                                                      CLI::AppFormatMode::Normal)
                                 : command.help(before));
      return 0;
    };
  });
  program.add_subcommand("version", "Prints the version")->callback([&action] {
    action = [] {
      print("smile " SMILE_VERSION "\n");
      return 0;
    };
  });
  CLI::App* completion = program.add_subcommand(
      "completion", "Prints what makes a shell complete commands, options and keys: bash, zsh or fish");
  completion->require_subcommand(1);
  for (const Shell& shell : shells())
    completion->add_subcommand(std::string(shell.name), std::string(shell.use))
        ->callback([&program, &action, write = shell.write] {
          action = [&program, write] {
            print("{}", write(manual_of(program)));
            return 0;
          };
        });
  program.add_subcommand("man", "Prints the manual page, for man -l -")->callback([&program, &action] {
    action = [&program] {
      print("{}", man_page(manual_of(program)));
      return 0;
    };
  });
}

}  // namespace smile::program

#include <CLI/CLI.hpp>

#include "commands.hpp"
#include "smile/error.hpp"

namespace smile::program {

void add_unavailable(CLI::App& program, Action& action) {
  struct Known {
    const char *name, *description;
  };
  for (const Known& known : {Known{"generate", "Text from a language model"}}) {
    CLI::App* command =
        program.add_subcommand(known.name, std::string(known.description) + " (not available in this build)");
    command->allow_extras();
    const std::string name = known.name;
    command->callback([&action, name] {
      action = [name]() -> int {
        throw Error("smile " + name, "not available in this build",
                    "the commands of this build are run, analytic, check, list, evaluate, predict, report, "
                    "diagnose, status, tune, export");
      };
    });
  }
}

}  // namespace smile::program

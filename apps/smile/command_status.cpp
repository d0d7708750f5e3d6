// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "output.hpp"
#include "smile/experiment/run_status.hpp"

namespace smile::program {

void add_status(CLI::App& program, Action& action) {
  struct StatusArguments {
    std::string directory;
    bool json = false, fast = false;
  };
  CLI::App* command = program.add_subcommand("status", "How far a run is, while it goes on or afterwards");
  const auto arguments = std::make_shared<StatusArguments>();
  command->add_option("run", arguments->directory, "the run directory")->required()->type_name("RUN");
  command->add_flag("--json", arguments->json, "for programs");
  command->add_flag("--fast", arguments->fast, "without the LPPD of the draws so far");
  command->callback([&action, arguments] {
    action = [arguments] {
      const RunStatusReport report = run_status(arguments->directory, !arguments->fast);
      print("{}", arguments->json ? to_json(report) : to_text(report));
      return 0;
    };
  });
}

}  // namespace smile::program

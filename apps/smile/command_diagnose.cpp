// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "output.hpp"
#include "smile/diagnosis/diagnosis.hpp"
#include "smile/run/run_inspection.hpp"

namespace smile::program {

void add_diagnose(CLI::App& program, Action& action) {
  struct DiagnoseArguments {
    std::string directory;
    bool json = false;
  };
  CLI::App* command =
      program.add_subcommand("diagnose", "Says of each chain whether it is sound, and what to try");
  const auto arguments = std::make_shared<DiagnoseArguments>();
  command->add_option("run", arguments->directory, "the run directory")->required()->type_name("RUN");
  command->add_flag("--json", arguments->json, "all numbers, for programs");
  command->callback([&action, arguments] {
    action = [arguments] {
      require_part(arguments->directory, RunPart::begun);
      const RunDiagnosis diagnosis = diagnose_run(arguments->directory);
      print("{}", arguments->json ? to_json(diagnosis) : to_text(diagnosis));
      return 0;
    };
  });
}

}  // namespace smile::program

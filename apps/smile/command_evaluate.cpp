// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "output.hpp"
#include "progress_printer.hpp"
#include "smile/experiment/pipeline.hpp"
#include "smile/report/html_report.hpp"

namespace smile::program {
namespace {

struct EvaluateArguments {
  std::string directory, data;
  int threads = 0;
  bool quiet = false;
};

int evaluate(const EvaluateArguments& arguments) {
  RunOptions options;
  options.threads = arguments.threads;
  ProgressPrinter printer;
  if (!arguments.quiet) {
    options.on_progress = [&](const Progress& progress) { printer.show(progress); };
    options.on_message = [&](const std::string& text) { printer.message(text); };
  }
  const RunSummary summary =
      evaluate_run(arguments.directory, options, {.file = arguments.data, .table = nullptr});
  print("{}", metrics_table(summary));
  print("report: {}\n", write_report(summary.directory));
  return summary.exit_status();
}

}  // namespace

void add_evaluate(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("evaluate", "Evaluates the draws of a run again");
  const auto arguments = std::make_shared<EvaluateArguments>();
  command->add_option("run", arguments->directory, "the run directory")->required()->type_name("RUN");
  command->add_option("--data", arguments->data, data_option_text())->type_name("PLACE");
  command->add_option("--threads", arguments->threads, "threads; 0: one a core")
      ->check(CLI::Range(0, 4096))
      ->type_name("N");
  command->add_flag("--quiet", arguments->quiet, "no progress");
  command->callback([&action, arguments] { action = [arguments] { return evaluate(*arguments); }; });
}

}  // namespace smile::program

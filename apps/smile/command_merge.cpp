// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "progress_printer.hpp"
#include "smile/experiment/pipeline.hpp"
#include "smile/report/html_report.hpp"

namespace smile::program {
namespace {

struct MergeArguments {
  std::vector<std::string> parts;
  MergeOptions options;
  bool quiet = false, no_report = false;
};

int merge(const MergeArguments& arguments) {
  MergeOptions options = arguments.options;
  options.run.stop = stop_on_interrupt();
  ProgressPrinter printer;
  if (!arguments.quiet) {
    options.run.on_progress = [&](const Progress& progress) { printer.show(progress); };
    options.run.on_message = [&](const std::string& text) { printer.message(text); };
  }
  const RunSummary summary = merge_run(arguments.parts, options);
  print("{}", metrics_table(summary));
  if (!summary.metrics.empty() && !arguments.no_report)
    print("report: {}\n", write_report(summary.directory));
  if (!arguments.quiet) print_warnings(summary.findings);
  if (summary.status != RunStatus::complete)
    print_error("error: {}: {}; the draws so far are kept there, see status.json\n", summary.directory,
                summary.reason);
  return summary.exit_status();
}

}  // namespace

void add_merge(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand(
      "merge", "Puts the parts of a run together that many processes did, and evaluates it");
  const auto arguments = std::make_shared<MergeArguments>();
  command
      ->add_option("run", arguments->parts,
                   "the run directory; several: parts of one run in folders of their own")
      ->required()
      ->type_name("RUN");
  command->add_option("--out", arguments->options.out, "a new folder for the whole run, of several parts")
      ->type_name("DIR");
  command->add_option("--data", arguments->options.run.data, data_option_text())->type_name("PLACE");
  command->add_flag("--incomplete", arguments->options.incomplete, "evaluate also where chains are missing");
  command->add_option("--threads", arguments->options.run.threads, "threads; 0: one a core")
      ->check(CLI::Range(0, 4096))
      ->type_name("N");
  command->add_flag("--no-report", arguments->no_report, "leave out report.html");
  command->add_flag("--quiet", arguments->quiet, "no progress, no warnings");
  command->callback([&action, arguments] { action = [arguments] { return merge(*arguments); }; });
}

}  // namespace smile::program

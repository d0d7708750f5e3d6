// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <memory>

#include "commands.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "progress_printer.hpp"
#include "smile/deliver/export.hpp"

namespace smile::program {
namespace {

struct ExportArguments : ExportOptions {
  std::string directory;
  bool quiet = false, no_predictive = false;
};

/// "npz (numpy.load), …, or csv (read.csv)".
std::string export_formats_text() {
  std::string text;
  const auto& formats = export_formats();
  for (std::size_t i = 0; i < formats.size(); ++i)
    text += fmt::format("{}{} ({})",
                        i == 0                   ? ""
                        : i + 1 < formats.size() ? ", "
                                                 : " or ",
                        formats[i].name, formats[i].read_by);
  return text;
}

/// Names of the formats that can do something.
std::string formats_with(bool ExportFormat::*trait) {
  std::string text;
  for (const ExportFormat& format : export_formats())
    if (format.*trait) text += (text.empty() ? "" : ", ") + format.name;
  return text;
}

int export_draws(const ExportArguments& arguments) {
  ExportOptions options = arguments;
  options.stop = stop_on_interrupt();
  options.predictive = !arguments.no_predictive;
  ProgressPrinter printer;
  if (!arguments.quiet) options.on_progress = [&](const Progress& progress) { printer.show(progress); };
  const ExportSummary summary = export_run(arguments.directory, options);
  if (!arguments.quiet)
    for (const auto& remark : summary.remarks) printer.message("warning: " + remark);
  put(fmt::format("{} draws of {} chains\n{}\n", summary.draws * summary.chains, summary.chains,
                  summary.path),
      options.per_draw ? stdout : lines_beside(arguments.out));
  return 0;
}

}  // namespace

void add_export(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("export", "Draws of a run for other programs");
  const auto arguments = std::make_shared<ExportArguments>();
  command->add_option("run", arguments->directory, "the run directory")->required()->type_name("RUN");
  command->add_option("--format", arguments->format, export_formats_text())->required()->type_name("NAME");
  command
      ->add_option("--out,--output", arguments->out,
                   "file to write, or folder with --per-draw; default: RUN/draws.ENDING")
      ->type_name("PATH");
  command->add_flag("--per-draw", arguments->per_draw,
                    "a file for each draw: " + formats_with(&ExportFormat::per_draw));
  command->add_option("--every", arguments->every, "only every N-th draw of each chain")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32))
      ->type_name("N");
  command->add_flag("--log-likelihood", arguments->log_likelihood,
                    formats_with(&ExportFormat::predictive) + ": also log p(y | x, draw) of each test row");
  command->add_flag("--training-rows", arguments->training_rows,
                    formats_with(&ExportFormat::predictive) +
                        ": also the training rows' log-likelihood and predictive draws, which loo needs");
  command->add_flag("--no-predictive", arguments->no_predictive,
                    formats_with(&ExportFormat::predictive) + ": no predictive draws of the test rows");
  command->add_option("--data", arguments->data, data_option_text())->type_name("PLACE");
  command->add_flag("--incomplete", arguments->incomplete, "also from a run that has not ended");
  command->add_option("--threads", arguments->threads, "threads for predictions; 0: one a core")
      ->check(CLI::Range(0, 4096))
      ->type_name("N");
  command->add_flag("--quiet", arguments->quiet, "no progress, no warnings");
  command->callback([&action, arguments] { action = [arguments] { return export_draws(*arguments); }; });
}

}  // namespace smile::program

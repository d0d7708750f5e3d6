// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "progress_printer.hpp"
#include "smile/benchmark/analytic.hpp"
#include "smile/report/analytic_report.hpp"

namespace smile::program {
namespace {

struct AnalyticArguments {
  std::string config, out;
  int threads = 0;
  bool quiet = false;
};

int analytic(const AnalyticArguments& arguments) {
  const AnalyticConfig config = load_analytic_config(arguments.config);
  AnalyticRunOptions options;
  options.threads = arguments.threads;
  options.stop = stop_on_interrupt();
  ProgressPrinter printer;
  if (!arguments.quiet) options.on_progress = [&](const Progress& progress) { printer.show(progress); };
  const std::filesystem::path folder = arguments.out.empty()
                                           ? std::filesystem::path(config.saving_dir) / config.experiment_name
                                           : std::filesystem::path(arguments.out);
  options.ledger = folder / "unfinished.jsonl";
  const AnalyticReport report = run_analytic(config, options);
  if (report.interrupted) {
    print_error("error: {}: interrupted, finished chains are kept in {}; go on with the same command\n",
                arguments.config, options.ledger.string());
    return 1;
  }
  write_analytic_report(report, folder);
  std::error_code ignored;
  std::filesystem::remove(options.ledger, ignored);
  print("{}results in {}\n", analytic_table(report), folder.string());
  return 0;
}

}  // namespace

void add_analytic(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("analytic", "Benchmark on analytical posteriors");
  const auto arguments = std::make_shared<AnalyticArguments>();
  command->add_option("config", arguments->config, "the configuration, a YAML file")
      ->required()
      ->type_name("CONFIG.yaml");
  command
      ->add_option("--out", arguments->out, "folder for the results; default: <saving_dir>/<experiment_name>")
      ->type_name("DIR");
  command
      ->add_option("--threads", arguments->threads,
                   "bundles of chains at a time; 0: one a core; changes no result")
      ->check(CLI::Range(0, 4096))
      ->type_name("N");
  command->add_flag("--quiet", arguments->quiet, "no progress");
  command->callback([&action, arguments] { action = [arguments] { return analytic(*arguments); }; });
}

}  // namespace smile::program

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <memory>

#include "commands.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "progress_printer.hpp"
#include "smile/error.hpp"
#include "smile/experiment/pipeline.hpp"
#include "smile/report/html_report.hpp"
#include "smile/shell_text.hpp"

namespace smile::program {
namespace {

std::atomic<bool> snapshot_requested{false};

extern "C" void request_snapshot(int) {
  snapshot_requested.store(true);
}

struct RunArguments : ConfigArguments {
  std::string out, device;
  int threads = 0;
  bool resume = false, quiet = false, no_report = false;
};

void print_ending(const RunSummary& summary, const std::string& again) {
  if (summary.status == RunStatus::interrupted) {
    print_error("error: {}: interrupted, the checkpoint is written; go on with `{}`\n", summary.directory,
                again);
  } else if (summary.exit_status() != 0) {
    const std::string reason =
        summary.reason.empty() ? fmt::format("{} of {} chains failed", summary.failed_chains, summary.chains)
                               : summary.reason;
    print_error("error: {}: {}; the draws so far are kept there, see status.json and the traces\n",
                summary.directory, reason);
  }
}

int run(const RunArguments& arguments) {
  std::vector<Setting> settings = arguments.settings();
  if (!arguments.device.empty()) settings.push_back({"device", arguments.device, "--device"});
  RunOptions options;
  options.out = arguments.out;
  options.threads = arguments.threads;
  options.resume = arguments.resume;
  options.stop = stop_on_interrupt();
  const Config config = load_config(arguments.config, settings);
  ProgressPrinter printer;
  if (!arguments.quiet) {
    print_warnings(config.warnings);
    options.on_message = [&](const std::string& text) { printer.message(text); };
    if (config.logging) options.on_progress = [&](const Progress& progress) { printer.show(progress); };
  }
  options.snapshot = &snapshot_requested;
  std::signal(SIGUSR1, request_snapshot);

  if (!arguments.search.empty()) {
    options.on_run_done = [&](const RunSummary& run) {
      if (!run.metrics.empty() && !arguments.no_report) write_report(run.directory);
    };
    const SweepSummary summary = run_sweep(arguments.config, settings, arguments.search, options);
    print("{}", sweep_table(summary));
    if (summary.interrupted)
      print_error("error: {}: interrupted; give the same command again, finished runs are skipped\n",
                  arguments.search);
    return summary.exit_status();
  }
  const RunSummary summary = run_experiment(config, options);
  if (!summary.metrics.empty()) {
    print("{}", metrics_table(summary));
    if (!arguments.no_report) print("report: {}\n", write_report(summary.directory));
  }
  std::string again = "smile run " + shell_quoted(arguments.config);
  for (const std::string& setting : arguments.set) again += " --set " + shell_quoted(setting);
  if (!arguments.quiet) print_warnings(summary.findings);
  print_ending(summary, fmt::format("{} --out {} --resume", again, shell_quoted(summary.directory)));
  return summary.exit_status();
}

}  // namespace

void add_run(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("run", "Trains the ensemble, samples, evaluates");
  const auto arguments = std::make_shared<RunArguments>();
  add_config_arguments(*command, *arguments);
  command
      ->add_option("--out", arguments->out, "run directory; default: <saving_dir>/<experiment_name>/<time>")
      ->type_name("DIR");
  command->add_option("--threads", arguments->threads, "chains at a time; 0: one a core; changes no result")
      ->check(CLI::Range(0, 4096))
      ->type_name("N");
  command->add_flag("--resume", arguments->resume, "go on with an interrupted run");
  command->add_option("--device", arguments->device, "cpu or cuda")->type_name("NAME");
  command->add_flag("--no-report", arguments->no_report, "leave out report.html");
  command->add_flag("--quiet", arguments->quiet, "no progress, no warnings");
  command->callback([&action, arguments] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace smile::program

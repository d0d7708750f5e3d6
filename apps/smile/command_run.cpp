// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>

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
  std::string out, device, data, chains;
  int threads = 0;
  double takeover_seconds = RunOptions{}.takeover_seconds;
  std::optional<std::uint32_t> rank, ranks;
  bool resume = false, quiet = false, no_report = false, distributed = false, preemptible = false;

  /// Options that say which part of the run is this process's.
  RunOptions part() const {
    RunOptions options;
    if (!distributed && (rank || ranks))
      throw Error(rank ? "--rank" : "--ranks", "is for --distributed", "add --distributed or leave it out");
    if (!chains.empty() && distributed)
      throw Error("--chains", "with --distributed the chains are dealt", "leave one of the two out");
    if (!chains.empty() && !search.empty())
      throw Error("--chains", "the runs of --search are whole", "leave one of the two out");
    if (!chains.empty()) options.chains = parse_chain_list(chains);
    if (distributed) options.launch = launch_of_this_process(rank, ranks);
    options.takeover_seconds = takeover_seconds;
    return options;
  }
};

/// For a queueing system that is to start the command again (EX_TEMPFAIL of sysexits.h).
constexpr int kAgain = 75;

void print_ending(const RunSummary& summary, const std::string& again) {
  if (summary.status == RunStatus::interrupted && !summary.part.empty()) {
    print_error("error: {}: {}; go on with `{}`\n", summary.directory, summary.part, again);
  } else if (!summary.part.empty() && summary.exit_status() == 0) {
    print("{}: {}\n", summary.directory, summary.part);
  } else if (summary.status == RunStatus::interrupted) {
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
  RunOptions options = arguments.part();
  options.out = arguments.out;
  options.data = arguments.data;
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
  if (arguments.preemptible)
    stop_on_signal(SIGUSR1);
  else
    std::signal(SIGUSR1, request_snapshot);
  const auto status_of = [&](int status) {
    return arguments.preemptible && status == 1 && options.stop->load() ? kAgain : status;
  };

  if (!arguments.search.empty()) {
    options.on_run_done = [&](const RunSummary& run) {
      if (!run.metrics.empty() && !arguments.no_report) write_report(run.directory);
    };
    const SweepSummary summary = run_sweep(arguments.config, settings, arguments.search, options);
    if (!summary.entries.empty()) print("{}", sweep_table(summary));
    if (summary.interrupted)
      print_error("error: {}: interrupted; give the same command again, finished runs are skipped\n",
                  arguments.search);
    return status_of(summary.exit_status());
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
  return status_of(summary.exit_status());
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
  command
      ->add_option("--chains", arguments->chains,
                   "only these, such as 3-5,9; other processes do the others in the same folder")
      ->type_name("LIST");
  command->add_flag("--distributed", arguments->distributed,
                    "share the chains, or the runs of --search, with the other processes that srun or mpirun "
                    "starts");
  command->add_option("--rank", arguments->rank, "who this process is, where no launcher says it")
      ->type_name("R");
  command->add_option("--ranks", arguments->ranks, "of how many")->type_name("N");
  command
      ->add_option("--takeover-after", arguments->takeover_seconds,
                   "seconds without a sign of life after which a process on another host counts as dead")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str()
      ->type_name("S");
  command->add_flag(
      "--preemptible", arguments->preemptible,
      "SIGTERM, SIGHUP and SIGUSR1 write a checkpoint and end with status 75, to be queued again");
  command->add_option("--data", arguments->data, data_option_text())->type_name("PLACE");
  command->add_option("--device", arguments->device, "cpu or cuda")->type_name("NAME");
  command->add_flag("--no-report", arguments->no_report, "leave out report.html");
  command->add_flag("--quiet", arguments->quiet, "no progress, no warnings");
  command->callback([&action, arguments] { action = [arguments] { return run(*arguments); }; });
}

}  // namespace smile::program

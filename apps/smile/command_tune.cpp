// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "progress_printer.hpp"
#include "smile/tune/tune.hpp"

namespace smile::program {
namespace {

struct TuneArguments : ConfigArguments, TuneOptions {
  bool quiet = false;
};

int tune(const TuneArguments& arguments) {
  const Config config = load_config(arguments.config, arguments.settings());
  TuneOptions options = arguments;
  options.stop = stop_on_interrupt();
  ProgressPrinter printer;
  if (!arguments.quiet) {
    print_warnings(config.warnings);
    options.on_progress = [&](const Progress& progress) { printer.show(progress); };
    options.on_message = [&](const std::string& text) { printer.message(text); };
  }
  const TuneSummary summary = tune_step_size(config, options);
  if (!arguments.quiet)
    for (const auto& remark : summary.remarks) printer.message("warning: " + remark);
  print("{}", tune_table(summary));
  print("around {:.3g}: {}\n", summary.centre, summary.centre_from);
  print("gradients: {} ({:.1f} % of a run's {}), and {} of the warm start\n", summary.gradients,
        100 * double(summary.gradients) / double(summary.run_gradients), summary.run_gradients,
        summary.warmstart_gradients);
  print("step_size: {:g} ({})\n", summary.step_size, summary.reason);
  print("configuration: {}\n", summary.config);
  return 0;
}

}  // namespace

void add_tune(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("tune", "Finds a step size by short chains and writes a configuration with it");
  const auto arguments = std::make_shared<TuneArguments>();
  command->add_option("config", arguments->config, "the configuration, a YAML file")
      ->required()
      ->type_name("CONFIG.yaml");
  command
      ->add_option("--set", arguments->set,
                   "set a key, such as training.sampler.name=psmile-naive; may be repeated")
      ->type_name("a.b.c=value")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  command
      ->add_option("--out", arguments->out,
                   "folder for the result; default: <saving_dir>/<experiment_name>/<time>-tune")
      ->type_name("DIR");
  command
      ->add_option("--from", arguments->centre,
                   "middle of the grid; default: from the optimiser's last learning rate")
      ->type_name("STEP");
  command->add_option("--decades", arguments->decades, "width of the grid; default: 3.5")->type_name("X");
  command->add_option("--per-decade", arguments->per_decade, "steps in a decade; default: 2")->type_name("N");
  command->add_option("--chains", arguments->chains, "chains for each step; default: 1")->type_name("N");
  command
      ->add_option("--budget", arguments->budget,
                   "gradients of the search over those of the run; default: 0.18")
      ->type_name("SHARE");
  command->add_flag("--refine", arguments->refine, "also the steps half-way to the best one's neighbours");
  command->add_option("--threads", arguments->threads, "threads; 0: one a core; changes no result")
      ->check(CLI::Range(0, 4096))
      ->type_name("N");
  command->add_flag("--quiet", arguments->quiet, "no progress, no warnings");
  command->callback([&action, arguments] { action = [arguments] { return tune(*arguments); }; });
}

}  // namespace smile::program

// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "output.hpp"
#include "smile/error.hpp"
#include "smile/experiment/slurm.hpp"

namespace smile::program {
namespace {

struct SlurmArguments : ConfigArguments, SlurmOptions {};

int print_script(const SlurmArguments& arguments) {
  if (arguments.ConfigArguments::config == "-")
    throw Error("CONFIG", "a job reads its configuration when it starts, and standard input is gone by then",
                "give a file");
  const Config config = arguments.load(arguments.settings());
  SlurmOptions options = arguments;
  options.config = arguments.ConfigArguments::config;
  options.set = arguments.ConfigArguments::set;
  put(slurm_script(config, options, plan_for_slurm(config, options)));
  return 0;
}

}  // namespace

void add_slurm(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand(
      "slurm", "Prints a job script for Slurm, with memory and time from a plan and a measured rate");
  const auto arguments = std::make_shared<SlurmArguments>();
  add_one_config_argument(*command, *arguments);
  command
      ->add_option("--out", arguments->out,
                   "the run's folder, which all nodes see; default: <saving_dir>/<experiment_name>/slurm")
      ->type_name("DIR");
  command->add_option("--tasks", arguments->tasks, "tasks; 0: one a chain, at most 64")
      ->check(CLI::Range(0, 100000))
      ->type_name("N");
  command->add_option("--cores", arguments->cores, "cores of a task, for as many chains at once")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str()
      ->type_name("N");
  command->add_flag("--one-job", arguments->one_job, "one job with srun in place of an array of jobs");
  command->add_option("--partition", arguments->partition, "where to run")->type_name("NAME");
  command->add_option("--program", arguments->program, "smile, as the nodes find it")
      ->capture_default_str()
      ->type_name("PATH");
  command->callback([&action, arguments] { action = [arguments] { return print_script(*arguments); }; });
}

}  // namespace smile::program

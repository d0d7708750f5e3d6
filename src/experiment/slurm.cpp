// SPDX-License-Identifier: Apache-2.0
#include "smile/experiment/slurm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "experiment/experiment.hpp"
#include "smile/config/options.hpp"
#include "smile/ensemble/chain.hpp"
#include "smile/shell_text.hpp"

namespace smile {
namespace {

using Clock = std::chrono::steady_clock;
using experiment::Experiment;

constexpr std::size_t kMostTasks = 64;
constexpr double kMargin = 1.5;      ///< nodes may be slower than this machine
constexpr double kOwnSeconds = 120;  ///< reading, checkpoints, the evaluation of small runs
constexpr double kMemoryMargin = 1.3;
constexpr std::uint64_t kLeastMegabytes = 200;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Steps a second of one chain from an untrained network: what they cost depends on nothing else.
double measure_steps(Experiment& e, double seconds) {
  if (!e.prior) e.prior = make_prior("StandardNormal", {}, e.layout, e.seed());
  HostVector<float> member;
  e.network->initialise({e.seed(), 0, Purpose::initialisation}, member);
  Chain chain(experiment::chain_setup(e, 0, member), {e.seed(), 0, {1.0}});
  const std::uint64_t all = chain.record().total_steps;
  const auto begin = Clock::now();
  std::uint64_t done = 0;
  chain.advance(all, [&](const StepReport&, std::uint64_t t) {
    done = t;
    return seconds_since(begin) < seconds;
  });
  return double(std::max<std::uint64_t>(done, 1)) / std::max(seconds_since(begin), 1e-9);
}

double measure_epochs(const Experiment& e, double seconds) {
  const auto begin = Clock::now();
  std::size_t epochs = 0;
  train_member(*e.network, e.config.task(), member_options(e.config), 0, [&](const EpochReport&) {
    ++epochs;
    return seconds_since(begin) < seconds;
  });
  return double(std::max<std::size_t>(epochs, 1)) / std::max(seconds_since(begin), 1e-9);
}

std::string clock_text(double seconds) {
  const auto minutes = static_cast<std::uint64_t>(std::ceil(seconds / 60));
  return minutes >= 24 * 60
             ? fmt::format("{}-{:02}:{:02}:00", minutes / 1440, minutes / 60 % 24, minutes % 60)
             : fmt::format("{:02}:{:02}:00", minutes / 60, minutes % 60);
}

}  // namespace

SlurmPlan plan_for_slurm(const Config& config, const SlurmOptions& options) {
  Experiment e = experiment::prepare(config);
  SlurmPlan plan;
  plan.chains = e.chains();
  plan.cores = std::max<std::size_t>(1, options.cores);
  const std::size_t most = (plan.chains + plan.cores - 1) / plan.cores;
  plan.tasks = std::min(options.tasks > 0 ? options.tasks : kMostTasks, most);
  plan.steps_per_second = measure_steps(e, options.measure_seconds);
  const WarmstartConfig& warmstart = config.training.warmstart;
  if (warmstart.trains()) plan.epochs_per_second = measure_epochs(e, options.measure_seconds / 2);
  const RunEstimate estimate = experiment::estimate_of(e, int(plan.cores));
  double chain = double(estimate.steps_per_chain) / plan.steps_per_second;
  if (warmstart.trains()) chain += double(warmstart.member.max_epochs) / plan.epochs_per_second;
  const double rounds = std::ceil(double(plan.chains) / double(plan.tasks * plan.cores));
  plan.seconds = kMargin * rounds * chain + kOwnSeconds;
  plan.memory_megabytes =
      std::max(kLeastMegabytes, std::uint64_t(std::ceil(kMemoryMargin * estimate.memory_bytes / 1e6)));
  return plan;
}

std::string slurm_script(const Config& config, const SlurmOptions& options, const SlurmPlan& plan) {
  const std::string out =
      options.out.empty() ? config.saving_dir + "/" + config.experiment_name + "/slurm" : options.out;
  std::string name = config.experiment_name;
  for (char& c : name)
    if (c == '/' || c == ' ' || c == '%' || c == '\n') c = '-';
  std::string text = "#!/bin/bash\n";
  text += fmt::format("# {} chains by {} tasks of {} core{}. Measured: {:.4g} steps a second of a chain",
                      plan.chains, plan.tasks, plan.cores, plan.cores > 1 ? "s" : "", plan.steps_per_second);
  if (plan.epochs_per_second > 0) text += fmt::format(", {:.4g} epochs a second", plan.epochs_per_second);
  text += "; the time has half as much again.\n";
  text += fmt::format("#SBATCH --job-name={}\n", shell_quoted(name));
  if (!options.partition.empty()) text += fmt::format("#SBATCH --partition={}\n", options.partition);
  text += options.one_job ? fmt::format("#SBATCH --ntasks={}\n", plan.tasks)
                          : fmt::format("#SBATCH --array=0-{}\n#SBATCH --ntasks=1\n", plan.tasks - 1);
  text += fmt::format("#SBATCH --cpus-per-task={}\n", plan.cores);
  text += options.one_job ? fmt::format("#SBATCH --mem-per-cpu={}M\n",
                                        (plan.memory_megabytes + plan.cores - 1) / plan.cores)
                          : fmt::format("#SBATCH --mem={}M\n", plan.memory_megabytes);
  text += fmt::format("#SBATCH --time={}\n", clock_text(plan.seconds));
  // The batch shell is told two minutes before the end, and tells the program.
  text += "#SBATCH --requeue\n#SBATCH --signal=B:USR1@120\n#SBATCH --open-mode=append\n";
  text += fmt::format("#SBATCH --output={}-%{}.log\n\n", shell_quoted(name), options.one_job ? "j" : "A_%a");
  std::string command = shell_quoted(options.program) + " run " + shell_quoted(options.config);
  for (const std::string& setting : options.set) command += " --set " + shell_quoted(setting);
  command += fmt::format(" --out {} --threads {} --distributed --resume --preemptible", shell_quoted(out),
                         plan.cores);
  if (options.one_job) command = "srun --kill-on-bad-exit=0 " + command;
  text += command + " &\nchild=$!\n";
  text +=
      "# What preempts or ends the job reaches the program, which writes its checkpoints and ends with 75.\n"
      "trap 'kill -USR1 $child 2> /dev/null' TERM USR1\n"
      "wait $child\n"
      "status=$?\n"
      "while kill -0 $child 2> /dev/null; do wait $child; status=$?; done\n";
  const std::string job = options.one_job ? "$SLURM_JOB_ID" : "${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}";
  text += fmt::format("if [ $status -eq 75 ]; then scontrol requeue \"{}\"; fi\n", job);
  return text + "exit $status\n";
}

}  // namespace smile

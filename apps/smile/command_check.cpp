#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <thread>

#include "commands.hpp"
#include "smile/error.hpp"
#include "smile/experiment/catalogue.hpp"
#include "smile/experiment/config_options.hpp"
#include "smile/experiment/estimate.hpp"
#include "smile/experiment/sweep.hpp"

namespace smile::program {
namespace {

struct CheckArguments : ConfigArguments {
  int threads = 0;
};

std::string bytes_text(double bytes) {
  if (bytes < 1e6) return fmt::format("{:.0f} kB", bytes / 1e3);
  if (bytes < 1e9) return fmt::format("{:.1f} MB", bytes / 1e6);
  return fmt::format("{:.2f} GB", bytes / 1e9);
}

std::string seconds_text(double seconds) {
  if (seconds < 1) return "under a second";
  if (seconds < 120) return fmt::format("about {:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("about {:.0f} min", seconds / 60);
  return fmt::format("about {:.1f} h", seconds / 3600);
}

struct Checked {
  Config config;
  RunEstimate estimate;
  DatasetInfo data;
};

/// Reads the data too: the dimension depends on them.
Checked check(const CheckArguments& arguments, const std::vector<Setting>& settings) {
  Checked checked{load_config(arguments.config, settings), {}, {}};
  Dataset data =
      load_dataset(checked.config.data.path, table_options(checked.config), dataset_options(checked.config));
  fit_to_data(checked.config, data.train.rows, data.info.labels.classes());
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  checked.estimate = estimate_run(checked.config, data.train.rows, data.info.inputs(),
                                  arguments.threads > 0 ? arguments.threads : cores);
  checked.config.warnings.insert(checked.config.warnings.end(), data.warnings.begin(), data.warnings.end());
  checked.data = std::move(data.info);
  return checked;
}

int check_one(const CheckArguments& arguments) {
  const Checked checked = check(arguments, arguments.settings());
  const RunEstimate& estimate = checked.estimate;
  print_warnings(checked.config.warnings);
  // The estimates are comments: the output is a configuration.
  fmt::print("{}", to_yaml(checked.config));
  fmt::print("# data: {} rows for training, {} for validation, {} for testing; {} features, target {}\n",
             checked.data.train_rows.size(), checked.data.valid_rows.size(), checked.data.test_rows.size(),
             checked.data.inputs(), checked.data.target_name);
  fmt::print("# dimension: {} parameters\n", estimate.dimension);
  fmt::print("# chains: {}, each {} steps with {} gradients, at most {} stored draws\n",
             checked.config.training.sampler.n_chains, estimate.steps_per_chain, estimate.gradients_per_chain,
             estimate.stored_per_chain);
  fmt::print("# disk: {} of draws\n", bytes_text(estimate.draws_bytes));
  fmt::print("# memory: {} at the peak, whatever the number of draws\n", bytes_text(estimate.memory_bytes));
  fmt::print("# time: warm start at most {}, sampling {} (rough)\n", seconds_text(estimate.warmstart_seconds),
             seconds_text(estimate.sampling_seconds));
  const std::vector<std::string> authors = authors_keys(checked.config);
  fmt::print("# as in the authors' code: {}\n",
             authors.empty() ? "nothing" : fmt::format("{}", fmt::join(authors, ", ")));
  return 0;
}

int check_sweep(const CheckArguments& arguments) {
  const std::vector<SweepPoint> points = load_sweep(arguments.search);
  double seconds = 0, bytes = 0;
  for (const SweepPoint& point : points) {
    std::vector<Setting> settings = arguments.settings();
    settings.insert(settings.end(), point.settings.begin(), point.settings.end());
    const Checked checked = check(arguments, settings);
    if (&point == &points.front()) print_warnings(checked.config.warnings);
    fmt::print("{}: {} parameters, {}\n", point.name, checked.estimate.dimension,
               seconds_text(checked.estimate.warmstart_seconds + checked.estimate.sampling_seconds));
    seconds += checked.estimate.warmstart_seconds + checked.estimate.sampling_seconds;
    bytes += checked.estimate.draws_bytes;
  }
  fmt::print("{} runs: {} at most, {} of draws\n", points.size(), seconds_text(seconds), bytes_text(bytes));
  return 0;
}

}  // namespace

void add_check(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand(
      "check",
      "Reads and checks a configuration and its data, prints it completed with estimates; runs nothing");
  const auto arguments = std::make_shared<CheckArguments>();
  add_config_arguments(*command, *arguments);
  command->add_option("--threads", arguments->threads, "threads for the time estimate; 0: one a core")
      ->check(CLI::Range(0, 4096))
      ->type_name("N");
  command->callback([&action, arguments] {
    action = [arguments] {
      return arguments->search.empty() ? check_one(*arguments) : check_sweep(*arguments);
    };
  });
}

}  // namespace smile::program

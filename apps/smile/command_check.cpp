// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "commands.hpp"
#include "output.hpp"
#include "smile/config/catalogue.hpp"
#include "smile/config/sampler_factory.hpp"
#include "smile/error.hpp"
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

/// Reads the data too: the dimension depends on them.
CheckedRun check(const CheckArguments& arguments, const std::vector<Setting>& settings) {
  return check_run(arguments.load(settings), arguments.threads);
}

std::string parts_text(std::size_t train, const char* what, std::size_t valid, std::size_t test) {
  return fmt::format("{} {} for training, {} for validation, {} for testing", train, what, valid, test);
}

std::string data_text(const DatasetInfo& data) {
  if (data.text) {
    const TextInfo& text = *data.text;
    return parts_text(text.train_end - text.train_begin, "characters", text.valid_end - text.valid_begin,
                      text.test_end - text.test_begin) +
           fmt::format("; {} distinct, windows of {}", text.vocabulary.size(), text.context);
  }
  const std::string parts = parts_text(data.train_rows.size(), data.image ? "images" : "rows",
                                       data.valid_rows.size(), data.test_rows.size());
  if (data.image)
    return parts + fmt::format("; {} × {} in {} channels, {} classes", data.image->width, data.image->height,
                               data.image->channels, data.labels.classes());
  return parts + fmt::format("; {} features, target {}", data.inputs(), data.target_name);
}

int check_one(const CheckArguments& arguments) {
  const CheckedRun checked = check(arguments, arguments.settings());
  const RunEstimate& estimate = checked.estimate;
  print_warnings(checked.config.warnings);
  print_warnings(checked.warnings);
  // The estimates are comments: the output is a configuration.
  print("{}", to_yaml(checked.config));
  print("# data: {}\n", data_text(checked.data));
  print("# dimension: {} parameters\n", estimate.dimension);
  print("# chains: {}, each {} steps with {} gradients, at most {} stored draws\n",
        checked.config.training.sampler.n_chains, estimate.steps_per_chain, estimate.gradients_per_chain,
        estimate.stored_per_chain);
  const SamplerConfig& sampler = checked.config.training.sampler;
  if (sampler.is_stochastic() && sampler.batch_size && !checked.data.train_rows.empty())
    print("# batches: {} an epoch, of some {} rows\n",
          batches_per_epoch(sampler, checked.data.train_rows.size()), *sampler.batch_size);
  print("# disk: {} of draws; with members and checkpoints {} at the peak\n",
        bytes_text(estimate.draws_bytes), bytes_text(estimate.disk_bytes));
  print(
      "# memory: {} at the peak, whatever the number of draws: data {}, members {}, {} chains at once, {} "
      "each\n",
      bytes_text(estimate.memory_bytes), bytes_text(estimate.data_bytes), bytes_text(estimate.members_bytes),
      estimate.chains_at_once, bytes_text(std::max(estimate.chain_bytes, estimate.optimiser_bytes)));
  if (estimate.sampling_seconds > 0)
    print("# time: warm start at most {}, sampling {} (rough)\n", seconds_text(estimate.warmstart_seconds),
          seconds_text(estimate.sampling_seconds));
  const std::vector<std::string> authors = authors_keys(checked.config);
  print("# as in the authors' code: {}\n",
        authors.empty() ? "nothing" : fmt::format("{}", fmt::join(authors, ", ")));
  return 0;
}

int check_sweep(const CheckArguments& arguments) {
  const std::vector<SweepPoint> points = load_sweep(arguments.search);
  double seconds = 0, bytes = 0;
  for (const SweepPoint& point : points) {
    std::vector<Setting> settings = arguments.settings();
    settings.insert(settings.end(), point.settings.begin(), point.settings.end());
    const CheckedRun checked = check(arguments, settings);
    if (&point == &points.front()) print_warnings(checked.config.warnings);
    print("{}: {} parameters, {}\n", point.name, checked.estimate.dimension,
          seconds_text(checked.estimate.warmstart_seconds + checked.estimate.sampling_seconds));
    seconds += checked.estimate.warmstart_seconds + checked.estimate.sampling_seconds;
    bytes += checked.estimate.draws_bytes;
  }
  print("{} runs: {} at most, {} of draws\n", points.size(), seconds_text(seconds), bytes_text(bytes));
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

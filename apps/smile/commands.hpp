// SPDX-License-Identifier: Apache-2.0
/// The commands of the program. Each adds its options to the parser and leaves in `action` what is to be
/// done, which returns the exit status: 0 done, 1 a run failed, 2 wrong usage (thrown as Error).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "smile/config/config.hpp"

namespace CLI {
class App;
}

namespace smile::program {

using Action = std::function<int()>;

void add_init(CLI::App& program, Action& action);
void add_run(CLI::App& program, Action& action);
void add_analytic(CLI::App& program, Action& action);
void add_check(CLI::App& program, Action& action);
void add_list(CLI::App& program, Action& action);
void add_evaluate(CLI::App& program, Action& action);
void add_merge(CLI::App& program, Action& action);
void add_slurm(CLI::App& program, Action& action);
void add_predict(CLI::App& program, Action& action);
void add_tune(CLI::App& program, Action& action);
void add_export(CLI::App& program, Action& action);
void add_generate(CLI::App& program, Action& action);
void add_report(CLI::App& program, Action& action);
void add_diagnose(CLI::App& program, Action& action);
void add_status(CLI::App& program, Action& action);
/// help, version, completion, man.
void add_help(CLI::App& program, Action& action);

/// CONFIG, --search and --set of run and check.
struct ConfigArguments {
  std::string config, search;
  std::vector<std::string> set;
  /// The options of --set in order.
  std::vector<Setting> settings() const;
  /// The configuration with these settings; `-` is standard input, which is read once.
  Config load(const std::vector<Setting>& settings) const;

 private:
  mutable std::optional<std::string> input_;
};
void add_config_arguments(CLI::App& command, ConfigArguments& arguments);
/// The same without --search.
void add_one_config_argument(CLI::App& command, ConfigArguments& arguments);

/// What --data says of itself where a run exists.
inline const char* data_option_text() {
  return "where the run's data are now, if they have moved or were arrays in memory: the file, or a folder "
         "that holds it";
}

/// Writes "warning: …" lines to stderr.
void print_warnings(const std::vector<std::string>& warnings);

}  // namespace smile::program

// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "output.hpp"
#include "smile/report/html_report.hpp"

namespace smile::program {
namespace {

struct ReportArguments {
  std::vector<std::string> runs;
  std::string out;
};

/// Of several paths the folders: `results/*` also names the tables that a comparison or a sweep left there.
std::vector<std::string> without_files(const std::vector<std::string>& paths) {
  std::vector<std::string> folders, warnings;
  for (const std::string& path : paths) {
    if (std::filesystem::is_regular_file(path))
      warnings.push_back(path + " is a file, not a run, and left out");
    else
      folders.push_back(path);
  }
  if (folders.empty()) return paths;
  print_warnings(warnings);
  return folders;
}

int report(const ReportArguments& arguments) {
  const std::vector<std::string> runs = without_files(arguments.runs);
  if (runs.size() == 1) {
    put(write_report(runs[0], arguments.out) + "\n", lines_beside(arguments.out));
    return 0;
  }
  // The comparison links to them.
  for (const std::string& run : runs) write_report(run);
  const ComparisonPaths paths = write_comparison(runs, arguments.out);
  print("{}\n{}\n{}\n", paths.html, paths.csv, paths.latex);
  return 0;
}

}  // namespace

void add_report(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("report", "One page of an evaluated run, or a comparison of several");
  const auto arguments = std::make_shared<ReportArguments>();
  command->add_option("run", arguments->runs, "run directories")->required()->type_name("RUN");
  command
      ->add_option("--out", arguments->out,
                   "the page; default: RUN/report.html, or comparison.html in the folder that holds the runs")
      ->type_name("FILE.html");
  command->callback([&action, arguments] { action = [arguments] { return report(*arguments); }; });
}

}  // namespace smile::program

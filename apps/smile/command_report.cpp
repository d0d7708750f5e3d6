#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "smile/report/html_report.hpp"

namespace smile::program {
namespace {

struct ReportArguments {
  std::vector<std::string> runs;
  std::string out;
};

int report(const ReportArguments& arguments) {
  if (arguments.runs.size() == 1) {
    fmt::print("{}\n", write_report(arguments.runs[0], arguments.out));
    return 0;
  }
  // The comparison links to them.
  for (const std::string& run : arguments.runs) write_report(run);
  const ComparisonPaths paths = write_comparison(arguments.runs, arguments.out);
  fmt::print("{}\n{}\n{}\n", paths.html, paths.csv, paths.latex);
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

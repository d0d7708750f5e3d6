#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "smile/report/html_report.hpp"

namespace smile::program {

void add_report(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("report", "Writes report.html into evaluated runs");
  const auto runs = std::make_shared<std::vector<std::string>>();
  command->add_option("run", *runs, "run directories")->required()->type_name("RUN");
  command->callback([&action, runs] {
    action = [runs] {
      for (const std::string& run : *runs) fmt::print("{}\n", write_report(run));
      return 0;
    };
  });
}

}  // namespace smile::program

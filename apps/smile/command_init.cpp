// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "commands.hpp"
#include "output.hpp"
#include "smile/experiment/init.hpp"
#include "smile/shell_text.hpp"

namespace smile::program {
namespace {

struct InitArguments {
  std::string data, target, out;
  bool replace = false;
};

int init(const InitArguments& arguments) {
  InitOptions options{
      .data = arguments.data, .target = {}, .out = arguments.out, .replace = arguments.replace};
  if (!arguments.target.empty()) options.target = arguments.target;
  const InitSummary summary = write_first_configuration(options);
  std::FILE* lines = lines_beside(arguments.out);
  for (const std::string& line : summary.assumptions) put(line + "\n", lines);
  const std::string file = shell_quoted(summary.file.string());
  if (arguments.out != "-")
    put(fmt::format("{}: written; `smile check {}` shows what follows from it, `smile run {}` runs it\n",
                    summary.file.string(), file, file),
        lines);
  return 0;
}

}  // namespace

void add_init(CLI::App& program, Action& action) {
  CLI::App* command =
      program.add_subcommand("init", "A first configuration for a table, with what it assumes");
  const auto arguments = std::make_shared<InitArguments>();
  command->add_option("data", arguments->data, "the table: .csv, .tsv, .data, .npy")
      ->required()
      ->type_name("DATA");
  command
      ->add_option("--target", arguments->target,
                   "the column to predict, by name or by place from 0; default: a usual name (y, target, "
                   "label, class, "
                   "…), else the last column that can be predicted")
      ->type_name("COLUMN");
  command
      ->add_option("--out,--output", arguments->out,
                   "the file to write; default: the table's name with .yaml; -: standard output")
      ->type_name("FILE");
  command->add_flag("--replace", arguments->replace, "write the file anew where it is there already");
  command->callback([&action, arguments] { action = [arguments] { return init(*arguments); }; });
}

}  // namespace smile::program

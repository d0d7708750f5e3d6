// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <memory>

#include "commands.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "progress_printer.hpp"
#include "smile/deliver/predict.hpp"
#include "smile/number_text.hpp"

namespace smile::program {
namespace {

struct PredictArguments : PredictOptions {
  std::string directory;
  bool quiet = false;
};

int predict(const PredictArguments& arguments) {
  PredictOptions options = arguments;
  options.stop = stop_on_interrupt();
  ProgressPrinter printer;
  if (!arguments.quiet) options.on_progress = [&](const Progress& progress) { printer.show(progress); };
  const PredictSummary summary = predict_run(arguments.directory, options);
  if (!arguments.quiet)
    for (const auto& remark : summary.remarks) printer.message("warning: " + remark);
  std::FILE* lines = lines_beside(arguments.out);
  for (const auto& [name, value] : summary.scores)
    put(fmt::format("{}: {}\n", name, number_text(value, 4)), lines);
  put(summary.file + "\n", lines);
  return 0;
}

/// "csv (a header …), npy (…), json (…)".
std::string prediction_formats_text() {
  std::string text;
  for (const PredictionFormat& format : prediction_formats())
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", format.name, format.doc);
  return text;
}

}  // namespace

void add_predict(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("predict", "Predictions for new rows from the draws of a run");
  const auto arguments = std::make_shared<PredictArguments>();
  command->add_option("run", arguments->directory, "the run directory")->required()->type_name("RUN");
  command
      ->add_option("--data", arguments->data,
                   "a file with the columns of the training data, with or without the target; or images: a "
                   "file, a folder of them, IDX or CIFAR records")
      ->required()
      ->type_name("PATH");
  command->add_option("--out,--output", arguments->out, "the file to write; default: RUN/predictions.csv")
      ->type_name("FILE");
  command
      ->add_option("--format", arguments->format,
                   prediction_formats_text() + "; default: by the file's ending")
      ->type_name("NAME");
  command
      ->add_option("--quantiles", arguments->quantiles,
                   "quantiles of the predictive distribution (regression); default: 0.05,0.5,0.95")
      ->delimiter(',')
      ->type_name("P,…");
  command->add_option("--every", arguments->every, "only every N-th draw of each chain")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 62))
      ->type_name("N");
  command->add_option("--threads", arguments->threads, "threads; 0: one a core; changes no result")
      ->check(CLI::Range(0, 4096))
      ->type_name("N");
  command->add_flag("--incomplete", arguments->incomplete, "also from a run that has not ended");
  command->add_flag("--quiet", arguments->quiet, "no progress, no warnings");
  command->callback([&action, arguments] { action = [arguments] { return predict(*arguments); }; });
}

}  // namespace smile::program

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.hpp"
#include "smile/experiment/pipeline.hpp"

namespace smile::program {

void add_predict(CLI::App& program, Action& action) {
  struct PredictArguments {
    std::string directory, data, out;
  };
  CLI::App* command = program.add_subcommand("predict", "Predictions for new rows from the draws of a run");
  const auto arguments = std::make_shared<PredictArguments>();
  command->add_option("run", arguments->directory, "the run directory")->required()->type_name("RUN");
  command->add_option("--data", arguments->data, "a file with the features of the training data")
      ->required()
      ->type_name("FILE");
  command->add_option("--out", arguments->out, "the CSV to write; default: RUN/predictions.csv")
      ->type_name("FILE");
  command->callback([&action, arguments] {
    action = [arguments] {
      fmt::print("{}\n", predict_run(arguments->directory, arguments->data, arguments->out));
      return 0;
    };
  });
}

}  // namespace smile::program

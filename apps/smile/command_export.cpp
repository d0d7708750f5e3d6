#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <memory>

#include "commands.hpp"
#include "interrupt.hpp"
#include "output.hpp"
#include "progress_printer.hpp"
#include "smile/error.hpp"
#include "smile/experiment/export.hpp"
#ifdef SMILE_WITH_NETCDF
#include "smile/netcdf/inference_data.hpp"
#endif

namespace smile::program {
namespace {

struct ExportArguments : ExportOptions {
  std::string directory;
  bool quiet = false, no_predictive = false;
};

ExportSummary write_netcdf([[maybe_unused]] const std::string& directory,
                           [[maybe_unused]] const ExportOptions& options) {
#ifdef SMILE_WITH_NETCDF
  return export_inference_data(directory, options);
#else
  throw Error("--format netcdf", "not available in this build",
              "build with -DSMILE_WITH_NETCDF=ON, or choose npz, safetensors, torch or csv");
#endif
}

int export_draws(const ExportArguments& arguments) {
  ExportOptions options = arguments;
  options.stop = stop_on_interrupt();
  options.predictive = !arguments.no_predictive;
  const bool netcdf = options.format == "netcdf";
  if (!netcdf && (arguments.no_predictive || options.log_likelihood || options.training_rows))
    throw Error("--format " + options.format, "has no predictions and no log-likelihood to choose",
                "leave --no-predictive, --log-likelihood and --training-rows out, or choose netcdf");
  if (netcdf && options.per_draw)
    throw Error("--per-draw", "a file for each draw is not made as netcdf", "choose safetensors or torch");
  ProgressPrinter printer;
  if (!arguments.quiet) options.on_progress = [&](const Progress& progress) { printer.show(progress); };
  const ExportSummary summary =
      netcdf ? write_netcdf(arguments.directory, options) : export_run(arguments.directory, options);
  if (!arguments.quiet)
    for (const auto& remark : summary.remarks) printer.message("warning: " + remark);
  put(fmt::format("{} draws of {} chains\n{}\n", summary.draws * summary.chains, summary.chains,
                  summary.path),
      options.per_draw ? stdout : lines_beside(arguments.out));
  return 0;
}

}  // namespace

void add_export(CLI::App& program, Action& action) {
  CLI::App* command = program.add_subcommand("export", "Draws of a run for other programs");
  const auto arguments = std::make_shared<ExportArguments>();
  command->add_option("run", arguments->directory, "the run directory")->required()->type_name("RUN");
  command
      ->add_option("--format", arguments->format,
                   "npz (numpy.load), safetensors, torch (torch.load), netcdf (arviz.from_netcdf) or csv")
      ->required()
      ->check(CLI::IsMember({"npz", "safetensors", "torch", "netcdf", "csv"}))
      ->type_name("NAME");
  command
      ->add_option("--out,--output", arguments->out,
                   "file to write, or folder with --per-draw; default: RUN/draws.ENDING")
      ->type_name("PATH");
  command->add_flag("--per-draw", arguments->per_draw,
                    "a file for each draw (safetensors; torch: a state dictionary each)");
  command->add_option("--every", arguments->every, "only every N-th draw of each chain")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 32))
      ->type_name("N");
  command->add_flag("--log-likelihood", arguments->log_likelihood,
                    "netcdf: also log p(y | x, draw) of each test row");
  command->add_flag("--training-rows", arguments->training_rows,
                    "netcdf: also the training rows' log-likelihood and predictive draws, which loo needs");
  command->add_flag("--no-predictive", arguments->no_predictive,
                    "netcdf: no predictive draws of the test rows");
  command->add_flag("--incomplete", arguments->incomplete, "also from a run that has not ended");
  command->add_option("--threads", arguments->threads, "threads for predictions; 0: one a core")
      ->check(CLI::Range(0, 4096))
      ->type_name("N");
  command->add_flag("--quiet", arguments->quiet, "no progress, no warnings");
  command->callback([&action, arguments] { action = [arguments] { return export_draws(*arguments); }; });
}

}  // namespace smile::program

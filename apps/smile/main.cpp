// SPDX-License-Identifier: Apache-2.0
/// The command line: parses, calls the library, prints. Errors are one line on stderr.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string>

#include "commands.hpp"
#include "output.hpp"
#include "smile/error.hpp"
#ifdef SMILE_WITH_NETCDF
#include "smile/netcdf/inference_data.hpp"
#endif
#ifdef SMILE_WITH_TORCH
#include "smile/torch/engine.hpp"
#endif

namespace {

int report(std::string text, int status) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s\n", text.c_str());
  return status;
}

/// CLI11's complaint in the form of our errors.
int report_usage(const CLI::App& program, const CLI::ParseError& error) {
  std::string command = program.get_name();
  for (const CLI::App* used : program.get_subcommands()) command += " " + used->get_name();
  std::string text = error.what();
  while (!text.empty() && (text.back() == '\n' || text.back() == '.')) text.pop_back();
  return report("command line: " + text + "; see `" + command + " --help`", 2);
}

}  // namespace

int main(int argc, char** argv) {
#ifdef SMILE_WITH_NETCDF
  smile::use_netcdf_exports();
#endif
#ifdef SMILE_WITH_TORCH
  smile::use_torch_networks();
#endif
  std::signal(SIGPIPE, SIG_IGN);  // a reader that has gone is an error of the write
  std::signal(SIGXFSZ, SIG_IGN);  // as is a file at its size limit
  CLI::App program{
      "Samples the posterior of Bayesian neural networks with stochastic microcanonical Langevin dynamics.",
      "smile"};
  program.set_version_flag("--version", "smile " SMILE_VERSION);
  program.footer(
      "Exit status: 0 done, 1 a run failed or was interrupted, 2 wrong usage or configuration, 75 "
      "to be started again (run --preemptible).");
  program.require_subcommand(1);
  smile::program::Action action;
  smile::program::add_init(program, action);
  smile::program::add_run(program, action);
  smile::program::add_analytic(program, action);
  smile::program::add_check(program, action);
  smile::program::add_list(program, action);
  smile::program::add_evaluate(program, action);
  smile::program::add_merge(program, action);
  smile::program::add_slurm(program, action);
  smile::program::add_predict(program, action);
  smile::program::add_tune(program, action);
  smile::program::add_export(program, action);
  smile::program::add_report(program, action);
  smile::program::add_diagnose(program, action);
  smile::program::add_status(program, action);
  smile::program::add_generate(program, action);
  smile::program::add_help(program, action);

  // A wrong command is told with the right ones; CLI11 would only say that the word was not expected.
  if (argc > 1 && argv[1][0] != '-') {
    bool known = false;
    std::string names;
    for (const CLI::App* command : program.get_subcommands({})) {
      known = known || command->get_name() == argv[1];
      names += (names.empty() ? "" : ", ") + command->get_name();
    }
    if (!known) {
      return report("command line: unknown command `" + std::string(argv[1]) + "`; the commands are " + names,
                    2);
    }
  }
  try {
    program.parse(argc, argv);
    return smile::program::finish_output(action());
  } catch (const CLI::Success& success) {
    return smile::program::finish_output(program.exit(success));  // --help, --version
  } catch (const CLI::ParseError& error) {
    return report_usage(program, error);
  } catch (const smile::Error& error) {
    return report(error.what(), error.exit_status());
  } catch (const std::bad_alloc&) {
    return report("memory: the machine has not enough for this run; use fewer chains or threads", 1);
  } catch (const std::filesystem::filesystem_error& error) {
    return report(error.path1().string() + ": cannot be looked at (" + error.code().message() +
                      "); check the path, the disk and the limit on open files (ulimit -n)",
                  1);
  } catch (const std::exception& error) {
    return report(
        std::string("smile: ") + error.what() + "; this is a fault of the program, please report it", 1);
  }
}

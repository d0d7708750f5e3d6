// SPDX-License-Identifier: Apache-2.0
#include "smile/run/run_inspection.hpp"

#include <fmt/format.h>

#include "run/remade.hpp"
#include "smile/ensemble/ensemble_runner.hpp"
#include "smile/error.hpp"
#include "smile/files/draws.hpp"
#include "smile/run/run_access.hpp"
#include "smile/run/run_paths.hpp"
#include "smile/shell_text.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;

void count_chains(RunFacts& facts) {
  for (std::size_t i = 0; i < facts.chains; ++i) {
    const auto chain = std::uint32_t(i);
    if (fs::exists(RunPaths(facts.path).member(i))) ++facts.members;
    const auto record = read_chain_record(facts.path, chain);
    const bool has_draws = DrawsReader::exist(draws_path(facts.path, chain));
    facts.chains_begun += record || has_draws;
    if (record) {
      facts.chains_complete += record->status == ChainStatus::complete;
      facts.chains_failed += record->status == ChainStatus::failed;
    }
    if (!has_draws) continue;
    try {
      facts.draws += DrawsReader(draws_path(facts.path, chain)).rows();
    } catch (const Error&) {
      // A file that cannot be read has no draws to count.
    }
  }
}

}  // namespace

std::string RunFacts::inventory() const {
  std::string text = fmt::format("{} of {} warm-started members, {} of {} chains complete", members, chains,
                                 chains_complete, chains);
  if (chains_failed > 0) text += fmt::format(" ({} failed)", chains_failed);
  return text + fmt::format(", {} draws, {}", draws, evaluated ? "evaluated" : "not evaluated");
}

std::string RunFacts::resume_command() const {
  return run::resume_command(path);
}

RunFacts inspect_run(const fs::path& path) {
  require_known_run(path);
  RunFacts facts;
  facts.path = path;
  facts.state = read_run_state(path).value_or(RunState{});
  facts.time = facts.state.time;
  facts.writer = run_writer(path);
  facts.chains = std::size_t(load_config(RunPaths(path).config().string()).training.sampler.n_chains);
  facts.evaluated = fs::exists(RunPaths(path).metrics());
  count_chains(facts);
  return facts;
}

RunFacts require_part(const fs::path& path, RunPart needed) {
  require_run(path);
  RunFacts facts = inspect_run(path);
  if (needed == RunPart::evaluated ? facts.evaluated : facts.chains_begun > 0) return facts;
  const std::string what = facts.is_abandoned() ? "was killed" : "is " + facts.state.status;
  std::string mend = fmt::format("let it go on with `{}`", facts.resume_command());
  if (needed == RunPart::evaluated && facts.draws > 0)
    mend += fmt::format(", or evaluate what is there with `smile evaluate {}`", shell_quoted(path.string()));
  throw Error(path.string(),
              fmt::format("the run {} (phase {}): {}", what, facts.state.phase, facts.inventory()), mend,
              ErrorKind::run);
}

}  // namespace smile

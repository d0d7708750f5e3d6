// SPDX-License-Identifier: Apache-2.0
/// The parts of a run put together: checked to be of one run, copied where they are in folders of their own,
/// and evaluated.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "experiment/chain_survey.hpp"
#include "experiment/experiment.hpp"
#include "experiment/run_identity.hpp"
#include "experiment/run_phases.hpp"
#include "files/file_error.hpp"
#include "run/output_guard.hpp"
#include "run/provenance.hpp"
#include "run/remade.hpp"
#include "smile/ensemble/checkpoint.hpp"
#include "smile/ensemble/draw_check.hpp"
#include "smile/error.hpp"
#include "smile/run/inputs.hpp"
#include "smile/run/run_access.hpp"
#include "smile/run/run_paths.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
using experiment::ChainState;
using experiment::ChainSurvey;
using experiment::Experiment;

std::string content_of(const fs::path& path) {
  return data::read_file_if_there(path).value_or("");
}

[[noreturn]] void other_run(const fs::path& part, const fs::path& first, const std::string& what) {
  throw Error(part.string(), fmt::format("is not of the run in {}: {}", first.string(), what),
              "merge parts of one run only");
}

/// Everything that two parts can be told apart by without their chains.
void check_same_parts(const fs::path& first, const fs::path& part) {
  const Config a = load_config(RunPaths(first).config().string()),
               b = load_config(RunPaths(part).config().string());
  if (const std::string difference = first_difference(a, b); !difference.empty()) {
    // "(a in the run, b now)": the first folder is the run.
    other_run(part, first, "another configuration: " + difference);
  }
  const auto data_of = [](const fs::path& run) {
    return run::read_remade(run, [&] { return load_dataset_info(RunPaths(run).data()); });
  };
  const DatasetInfo x = data_of(first), y = data_of(part);
  if (x.checksum != y.checksum || x.train_rows != y.train_rows || x.test_rows != y.test_rows)
    other_run(part, first, "other data (their checksums differ)");
  if (content_of(RunPaths(first).network()) != content_of(RunPaths(part).network()))
    other_run(part, first, "another network");
}

/// A chain of one of several parts.
struct Candidate {
  fs::path run;
  std::optional<ChainRecord> record;
  /// Complete before failed before begun, and more steps before fewer.
  std::pair<int, std::uint64_t> rank() const {
    if (!record) return {0, 0};
    return {record->status == ChainStatus::complete ? 3
            : record->status == ChainStatus::failed ? 2
                                                    : 1,
            record->step};
  }
};

/// The part that has most of a chain. @throws Error where two parts have it whole and different
Candidate best_of(const std::vector<fs::path>& parts, std::uint32_t chain) {
  Candidate best;
  for (const fs::path& part : parts) {
    Candidate candidate{part, read_chain_record(part, chain)};
    if (!candidate.record) continue;
    const bool both = best.record && best.record->status == ChainStatus::complete &&
                      candidate.record->status == ChainStatus::complete;
    if (both && best.record->draws_crc32 != candidate.record->draws_crc32)
      throw Error(
          part.string(),
          fmt::format("chain {} is complete here and in {}, with other draws (here by {}, there by {})",
                      chain, best.run.string(), candidate.record->build, best.record->build),
          "leave one of the two out");
    if (candidate.rank() > best.rank()) best = std::move(candidate);
  }
  return best;
}

void copy_into(const fs::path& from, const fs::path& to) {
  std::error_code failure;
  if (!fs::exists(from, failure)) return;
  fs::create_directories(to.parent_path(), failure);
  fs::copy(from, to, fs::copy_options::recursive | fs::copy_options::overwrite_existing, failure);
  if (failure)
    throw Error(to.string(), "cannot be copied from " + from.string() + " (" + failure.message() + ")",
                "free space there or choose another folder with --out", ErrorKind::run);
}

/// What a chain has left in its run: every file and folder whose name begins with chain-KK.
void copy_chain(const fs::path& from, const fs::path& to, std::uint32_t chain) {
  for (const auto& path_of :
       {draws_path, warmup_draws_path, trace_path, draws_trace_path, monitor_path, checkpoint_path}) {
    const fs::path whole = path_of(from, chain);
    const fs::path place = whole.lexically_relative(from);
    copy_into(whole, to / place);
    copy_into(fs::path(whole).replace_extension(), (to / place).replace_extension());  // a file a draw
  }
  copy_into(RunPaths(from).member(chain), RunPaths(to).member(chain));
  copy_into(RunPaths(from).member_epochs(chain), RunPaths(to).member_epochs(chain));
}

/// Copies the parts into one new folder, which gets its name when it is whole.
void put_together(const std::vector<fs::path>& parts, const fs::path& out) {
  OutputGuard guard;
  for (const fs::path& part : parts) guard.reads(part);
  guard.check(RunPaths(out).config());
  std::error_code failure;
  if (fs::exists(out, failure) && !(fs::is_directory(out, failure) && fs::is_empty(out, failure)))
    throw Error(out.string(), RunPaths(out).is_run() ? "there is a run already" : "the folder is not empty",
                "give a new folder with --out");
  const fs::path making = out.string() + ".merging";
  fs::remove_all(making, failure);  // of a merge that was killed
  fs::create_directories(making, failure);
  if (failure)
    throw Error(making.string(), "cannot make the folder (" + failure.message() + ")",
                "choose a folder you may write to with --out", ErrorKind::run);
  const fs::path& first = parts.front();
  const RunPaths from(first), to(making);
  copy_into(from.state(), to.state());
  copy_into(from.data(), to.data());
  copy_into(from.parameters(), to.parameters());
  copy_into(from.network(), to.network());
  move_inputs(first, making, out);
  for (const fs::path& part : parts) {
    copy_into(RunPaths(part).part_logs(), to.part_logs());
    // Of copies of one member only the first was trained.
    if (!fs::exists(to.member_epochs(0))) copy_into(RunPaths(part).member_epochs(0), to.member_epochs(0));
  }
  const auto chains = std::uint32_t(load_config(from.config().string()).training.sampler.n_chains);
  for (std::uint32_t chain = 0; chain < chains; ++chain)
    if (const Candidate best = best_of(parts, chain); best.record) copy_chain(best.run, making, chain);
  copy_into(from.config(), to.config());
  fs::remove(out, failure);
  fs::rename(making, out, failure);
  if (failure)
    throw Error(out.string(), "cannot get its name (" + failure.message() + ")", "check the folder above it",
                ErrorKind::run);
}

/// Every chain's checkpoint must be of this experiment, of a program of this version, and of its member.
/// @return remarks
std::vector<std::string> check_chains(const Experiment& e, const fs::path& run) {
  std::vector<std::string> builds, remarks;
  for (std::uint32_t chain = 0; chain < e.chains(); ++chain) {
    std::string remark;
    const fs::path path = checkpoint_path(run, chain);
    const auto checkpoint = ensemble::read_checkpoint(path, remark);
    if (!checkpoint) continue;
    if (checkpoint->digest != experiment::digest_of(e))
      throw Error(path.string(), fmt::format("chain {} is of another configuration or of other data", chain),
                  "remove its files and let it run anew with --chains " + std::to_string(chain));
    const std::string& build = checkpoint->record.build;
    if (std::find(builds.begin(), builds.end(), build) == builds.end()) builds.push_back(build);
    if (!fs::exists(RunPaths(run).member(chain)))
      throw Error(RunPaths(run).member(chain).string(),
                  fmt::format("is missing, and chain {} started from it", chain),
                  "restore the file, or let the chain run anew with --chains " + std::to_string(chain));
    const auto member = experiment::read_member(run, chain, e.member_dimension());
    HostVector<float> start;
    if (e.frozen)
      e.frozen->take(member, start);
    else
      start = member;
    if (crc32_of(std::as_bytes(std::as_const(start).span())) != checkpoint->record.start_crc32)
      throw Error(RunPaths(run).member(chain).string(), "is not the member that its chain started from",
                  "restore the file, or let the chain run anew with --chains " + std::to_string(chain));
  }
  const auto version_of = [](const std::string& build) { return build.substr(0, build.find(',')); };
  for (const std::string& build : builds) {
    if (version_of(build) != version_of(provenance::build()))
      throw Error(run.string(), "some of its chains were run by " + version_of(build),
                  "run them anew with this version, or merge with that one");
    if (build != builds.front())
      remarks.push_back(
          fmt::format("chains were run by {} and by {}: as good, but not the bits of one machine",
                      builds.front(), build));
  }
  return remarks;
}

}  // namespace

RunSummary merge_run(const std::vector<std::string>& given, const MergeOptions& options) {
  std::vector<fs::path> parts(given.begin(), given.end());
  for (const fs::path& part : parts) require_known_run(part);
  const LockPatience patience{.takeover_seconds = options.run.takeover_seconds};
  fs::path run = parts.front();
  if (parts.size() > 1 || !options.out.empty()) {
    if (options.out.empty())
      throw Error("--out", "several parts are put together in a new folder, and none is named",
                  "name it with --out DIR");
    run = options.out;
    for (const fs::path& part : parts) {
      require_run(part);
      if (part != parts.front()) check_same_parts(parts.front(), part);
    }
    put_together(parts, run);
  }
  const Config config = load_run_config(run, {.data = options.run.data});
  ChainSurvey survey(run, std::size_t(config.training.sampler.n_chains), patience);
  survey.look();
  RunDirectory directory = RunDirectory::open(run, patience);
  Experiment e = experiment::prepare(config);
  experiment::check_same_inputs(run, e);
  for (const auto& text : check_chains(e, run))
    experiment::remark(options.run, directory, "warning: " + text);
  if (survey.all_ended())
    return experiment::run_phases(e, directory, options.run, experiment::Phases::finishing);
  std::string what =
      fmt::format("{} of {} chains are complete", survey.count(ChainState::complete), e.chains());
  const auto add = [&](const char* label, ChainState state) {
    if (survey.count(state) > 0) what += fmt::format("; {}: {}", label, survey.numbers({state}));
  };
  add("failed", ChainState::failed);
  add("begun and left", ChainState::left);
  add("missing", ChainState::open);
  if (!options.incomplete)
    throw Error(
        run.string(), what,
        "let them go on with `" + run::resume_command(run) + "`, or evaluate what is there with --incomplete",
        ErrorKind::run);
  experiment::remark(options.run, directory, "warning: " + what);
  return experiment::run_phases(e, directory, options.run, experiment::Phases::evaluation);
}

}  // namespace smile

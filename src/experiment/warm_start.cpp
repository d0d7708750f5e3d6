// SPDX-License-Identifier: Apache-2.0
/// The deep ensemble: trained here, taken from an earlier run, copied with permuted units, or drawn from the
/// prior.
#include <fmt/format.h>

#include <atomic>
#include <cmath>
#include <fstream>
#include <mutex>
#include <numeric>

#include "experiment/experiment.hpp"
#include "experiment/phase_progress.hpp"
#include "run/json_file.hpp"
#include "run/remade.hpp"
#include "smile/config/options.hpp"
#include "smile/ensemble/draw_check.hpp"
#include "smile/ensemble/parallel.hpp"
#include "smile/error.hpp"
#include "smile/files/atomic_file.hpp"
#include "smile/files/npy.hpp"
#include "smile/run/epoch_rows.hpp"
#include "smile/run/run_paths.hpp"
#include "smile/warmstart/member.hpp"
#include "smile/warmstart/permuted_copies.hpp"

namespace smile::experiment {
namespace {

namespace fs = std::filesystem;
using Vector = HostVector<float>;

void write_member(const fs::path& run, std::size_t member, const Vector& position) {
  write_npy(RunPaths(run).member(member), {position.size()}, position.span());
}

/// One file a member, so that a resumed run still has the epochs of members that were done.
void write_epochs(const fs::path& run, std::size_t member, const MemberResult& result) {
  std::string text = header_line<EpochReport>();
  for (const EpochReport& epoch : result.epochs) text += line_of(epoch);
  write_file_atomically(RunPaths(run).member_epochs(member), text);
}

/// warmstart/metrics.csv: all epochs of all members.
void join_epochs(const fs::path& run, std::size_t members) {
  std::string text = header_line<EpochReport>();
  for (std::size_t i = 0; i < members; ++i)
    for (const EpochReport& epoch : read_rows<EpochReport>(RunPaths(run).member_epochs(i)))
      text += line_of(epoch);
  write_file_atomically(RunPaths(run).epochs(), text);
}

std::uint32_t checksum_of(const Vector& position) {
  return crc32_of(std::as_bytes(position.span()));
}

/// warmstart/checksums.json: a list, in the members' order. What is there stays.
void write_checksums(const fs::path& run, const std::vector<Vector>& members) {
  const fs::path path = RunPaths(run).member_checksums();
  if (fs::exists(path)) return;
  auto list = nlohmann::ordered_json::array();
  for (const Vector& member : members) list.push_back(checksum_of(member));
  write_file_atomically(path, list.dump() + "\n");
}

/// Trains the members that are not in the directory yet.
void train(const MemberMaker& maker, const Experiment& e, const RunDirectory& directory,
           const RunOptions& options, WarmStart& start) {
  const std::size_t count = maker.own();
  std::vector<std::atomic<std::uint64_t>> done(count), total(count);
  for (auto& t : total) t = e.config.training.warmstart.member.max_epochs;
  std::atomic<bool> aborted{false}, interrupted{false};
  std::mutex mutex;
  std::vector<std::string> messages;
  const auto stopping = [&] { return aborted.load() || (options.stop && options.stop->load()); };

  const auto body = [&](std::size_t i) {
    const bool there = fs::exists(RunPaths(directory.path()).member(i));
    if (!there && stopping()) {
      interrupted = true;
      return;
    }
    std::vector<std::string> said;
    auto member = maker.own_member(
        i,
        [&] {
          ++done[i];
          return !stopping();
        },
        said);
    total[i] = done[i].load();
    if (!member) {
      interrupted = true;
      return;
    }
    start.members[i] = std::move(*member);
    const std::lock_guard lock(mutex);
    messages.insert(messages.end(), said.begin(), said.end());
  };
  PhaseProgress progress(options.on_progress, "warm start", "epochs");
  const auto tick = [&](bool finished) {
    std::uint64_t trained = 0, planned = 0;
    for (std::size_t i = 0; i < count; ++i) trained += done[i], planned += total[i];
    progress.tell(trained, planned, finished);
  };
  ensemble::parallel_for(count, thread_count(e, options, count), body, tick, [&] { aborted = true; });
  for (const auto& message : messages) remark(options, directory, message);
  start.interrupted = interrupted;
}

/// @throws Error where the run has not as many
Vector member_of_run(const fs::path& run, std::size_t i, std::size_t count, std::size_t dimension) {
  if (!fs::exists(RunPaths(run).member(i)))
    throw Error(run.string(),
                fmt::format("there is no member {} in its warmstart folder, and {} are needed", i, count),
                "give a run with as many members, or lower training.sampler.n_chains");
  return read_member(run, i, dimension);
}

}  // namespace

Vector read_member(const fs::path& run, std::size_t i, std::size_t dimension) {
  const fs::path path = RunPaths(run).member(i);
  const auto values = run::read_remade(run, [&] { return read_npy(path).as<float>(); });
  if (values.size() != dimension)
    throw Error(path.string(),
                fmt::format("the member has {} parameters and the network has {}", values.size(), dimension),
                "use the model and the task of the run that trained it");
  Vector position(dimension);
  std::copy(values.begin(), values.end(), position.data());
  const auto known = run::read_json(RunPaths(run).member_checksums());
  if (known.is_array() && i < known.size() && known[i] != checksum_of(position))
    throw Error(path.string(), "its parameters are not those that the run wrote",
                run::mend_by_remaking(run, path), ErrorKind::run);
  return position;
}

std::vector<Vector> read_members(const fs::path& run, std::size_t count, std::size_t dimension) {
  std::vector<Vector> members;
  for (std::size_t i = 0; i < count; ++i) members.push_back(member_of_run(run, i, count, dimension));
  return members;
}

MemberMaker::MemberMaker(const Experiment& e, const RunDirectory& directory) : e_(e), run_(directory.path()) {
  const WarmstartConfig& config = e.config.training.warmstart;
  own_ = config.include && config.permutation_warmstart ? 1 : e.chains();
  if (own_ < e.chains() && !e.is_native())
    throw Error(e.config.place("training.warmstart.permutation_warmstart"),
                "units are permuted in the native FCN only", "write false");
  std::error_code failure;
  fs::create_directories(RunPaths(run_).warmstart(), failure);
  if (failure)
    throw Error(run_.string(), "cannot make the folder warmstart (" + failure.message() + ")",
                "choose a folder you may write to", ErrorKind::run);
}

std::optional<Vector> MemberMaker::own_member(std::size_t i, const std::function<bool()>& keep_training,
                                              std::vector<std::string>& messages) const {
  const WarmstartConfig& config = e_.config.training.warmstart;
  if (fs::exists(RunPaths(run_).member(i))) return read_member(run_, i, e_.member_dimension());
  Vector member;
  if (!config.include) {
    Vector drawn(e_.dimension());
    e_.prior->sample({e_.seed(), std::uint32_t(i), Purpose::prior}, 1, drawn.span());
    if (e_.frozen) {
      e_.network->initialise({e_.seed(), std::uint32_t(i), Purpose::initialisation}, member);
      e_.frozen->put(drawn.span(), member);
    } else {
      member = std::move(drawn);
    }
  } else if (config.warmstart_exp_dir) {
    member = member_of_run(*config.warmstart_exp_dir, i, own_, e_.member_dimension());
  } else if (config.warmstart_files) {
    const auto& files = *config.warmstart_files;
    const StreamKey rest{e_.seed(), std::uint32_t(i), Purpose::initialisation};
    member = e_.engine()->read_parameters(files[i % files.size()], *e_.network,
                                          config.warmstart_subset ? &rest : nullptr);
  } else {
    MemberResult result = train_member(*e_.network, e_.config.task(), member_options(e_.config),
                                       std::uint32_t(i), [&](const EpochReport&) { return keep_training(); });
    if (result.interrupted) return std::nullopt;
    write_epochs(run_, i, result);
    messages.insert(messages.end(), result.messages.begin(), result.messages.end());
    member = std::move(result.position);
  }
  write_member(run_, i, member);
  return member;
}

Vector MemberMaker::copy(std::size_t i, const Vector& first) const {
  Vector member = permute_hidden_units(e_.spec, first, e_.seed(), std::uint32_t(i));
  if (!fs::exists(RunPaths(run_).member(i))) write_member(run_, i, member);
  return member;
}

void finish_warm_start(const Experiment& e, const RunDirectory& directory,
                       const std::vector<Vector>& members) {
  const fs::path& run = directory.path();
  if (e.config.training.warmstart.trains())
    join_epochs(run, e.config.training.warmstart.permutation_warmstart ? 1 : members.size());
  write_checksums(run, members);
}

WarmStart warm_start(Experiment& e, const RunDirectory& directory, const RunOptions& options) {
  const MemberMaker maker(e, directory);
  const std::size_t count = e.chains();
  WarmStart start;
  start.members.resize(count);
  if (e.config.training.warmstart.trains()) {
    train(maker, e, directory, options, start);
    if (start.interrupted) return start;
  } else {
    std::vector<std::string> messages;
    for (std::size_t i = 0; i < maker.own(); ++i)
      start.members[i] = *maker.own_member(
          i, [] { return true; }, messages);
  }
  for (std::size_t i = maker.own(); i < count; ++i) start.members[i] = maker.copy(i, start.members[0]);
  finish_warm_start(e, directory, start.members);
  complete_prior(e, directory.path(), start.members);
  return start;
}

}  // namespace smile::experiment

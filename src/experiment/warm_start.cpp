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

/// @throws Error where it cannot be read, or is not what the run wrote
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

/// warmstart/checksums.json: a list, in the members' order. What is there stays.
void write_checksums(const fs::path& run, const std::vector<Vector>& members) {
  const fs::path path = RunPaths(run).member_checksums();
  if (fs::exists(path)) return;
  auto list = nlohmann::ordered_json::array();
  for (const Vector& member : members) list.push_back(checksum_of(member));
  write_file_atomically(path, list.dump() + "\n");
}

/// Trains the members that are not in the directory yet.
void train(const Experiment& e, const RunDirectory& directory, const RunOptions& options, std::size_t count,
           WarmStart& start) {
  const MemberOptions member = member_options(e.config);
  const fs::path& run = directory.path();
  std::vector<std::atomic<std::uint64_t>> done(count), total(count);
  for (auto& t : total) t = member.max_epochs;
  std::atomic<bool> aborted{false}, interrupted{false};
  std::mutex mutex;
  std::vector<std::string> messages;
  const auto stopping = [&] { return aborted.load() || (options.stop && options.stop->load()); };

  const auto body = [&](std::size_t i) {
    if (fs::exists(RunPaths(run).member(i))) {
      start.members[i] = read_member(run, i, e.member_dimension());
      done[i] = total[i] = 0;
      return;
    }
    if (stopping()) {
      interrupted = true;
      return;
    }
    MemberResult result =
        train_member(*e.network, e.config.task(), member, std::uint32_t(i), [&](const EpochReport&) {
          ++done[i];
          return !stopping();
        });
    total[i] = done[i].load();
    if (result.interrupted) {
      interrupted = true;
      return;
    }
    write_epochs(run, i, result);
    write_member(run, i, result.position);
    start.members[i] = std::move(result.position);
    const std::lock_guard lock(mutex);
    messages.insert(messages.end(), result.messages.begin(), result.messages.end());
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
  if (!interrupted) join_epochs(run, count);
}

}  // namespace

std::vector<Vector> read_members(const fs::path& run, std::size_t count, std::size_t dimension) {
  std::vector<Vector> members;
  for (std::size_t i = 0; i < count; ++i) {
    if (!fs::exists(RunPaths(run).member(i)))
      throw Error(run.string(),
                  fmt::format("there is no member {} in its warmstart folder, and {} are needed", i, count),
                  "give a run with as many members, or lower training.sampler.n_chains");
    members.push_back(read_member(run, i, dimension));
  }
  return members;
}

WarmStart warm_start(Experiment& e, const RunDirectory& directory, const RunOptions& options) {
  const WarmstartConfig& config = e.config.training.warmstart;
  const std::size_t count = e.chains();
  const bool copies = config.include && config.permutation_warmstart;
  const std::size_t own = copies ? 1 : count;  // members that are not copies
  WarmStart start;
  start.members.resize(count);
  std::error_code failure;
  fs::create_directories(RunPaths(directory.path()).warmstart(), failure);
  if (failure)
    throw Error(directory.path().string(), "cannot make the folder warmstart (" + failure.message() + ")",
                "choose a folder you may write to", ErrorKind::run);
  if (!config.include) {
    for (std::size_t i = 0; i < count; ++i) {
      Vector drawn(e.dimension());
      e.prior->sample({e.seed(), std::uint32_t(i), Purpose::prior}, 1, drawn.span());
      if (e.frozen) {
        e.network->initialise({e.seed(), std::uint32_t(i), Purpose::initialisation}, start.members[i]);
        e.frozen->put(drawn.span(), start.members[i]);
      } else {
        start.members[i] = std::move(drawn);
      }
    }
  } else if (config.warmstart_exp_dir) {
    // A resumed run has its own copies, which the other run, changed or gone by now, does not overrule.
    bool copied = true;
    for (std::size_t i = 0; i < own; ++i) copied = copied && fs::exists(RunPaths(directory.path()).member(i));
    auto members = read_members(copied ? directory.path() : fs::path(*config.warmstart_exp_dir), own,
                                e.member_dimension());
    std::move(members.begin(), members.end(), start.members.begin());
  } else if (config.warmstart_files) {
    const auto& files = *config.warmstart_files;
    for (std::size_t i = 0; i < own; ++i)
      start.members[i] = fs::exists(RunPaths(directory.path()).member(i))
                             ? read_member(directory.path(), i, e.member_dimension())
                             : e.engine()->read_parameters(files[i % files.size()], *e.network);
  } else {
    train(e, directory, options, own, start);
    if (start.interrupted) return start;
  }
  if (copies && !e.is_native())
    throw Error(e.config.place("training.warmstart.permutation_warmstart"),
                "units are permuted in the native FCN only", "write false");
  for (std::size_t i = own; i < count; ++i)
    start.members[i] = permute_hidden_units(e.spec, start.members[0], e.seed(), std::uint32_t(i));
  for (std::size_t i = 0; i < count; ++i)
    if (!fs::exists(RunPaths(directory.path()).member(i)))
      write_member(directory.path(), i, start.members[i]);
  write_checksums(directory.path(), start.members);
  complete_prior(e, directory.path(), start.members);
  return start;
}

}  // namespace smile::experiment

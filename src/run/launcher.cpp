// SPDX-License-Identifier: Apache-2.0
#include "smile/run/launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "smile/error.hpp"

namespace smile {
namespace {

constexpr const char* kMend = "start it by srun or mpirun, or give --rank and --ranks";

std::optional<std::uint32_t> number(const Environment& environment, const char* name) {
  const char* text = name == nullptr ? nullptr : environment(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  std::uint32_t value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc() || stop != end) throw Error(name, fmt::format("`{}` is no number", text), kMend);
  return value;
}

Launch checked(const Launch& launch) {
  if (launch.ranks == 0 || launch.rank >= launch.ranks)
    throw Error(launch.launcher,
                fmt::format("rank {} of {}: ranks are counted from 0", launch.rank, launch.ranks),
                fmt::format("give a rank from 0 to {}", launch.ranks == 0 ? 0 : launch.ranks - 1));
  return launch;
}

/// Tasks of a job array, each of which may be several ranks.
void spread_over_array(const Environment& environment, Launch& launch) {
  const auto task = number(environment, "SLURM_ARRAY_TASK_ID");
  const auto count = number(environment, "SLURM_ARRAY_TASK_COUNT");
  if (!task || !count) return;
  const std::uint32_t first = number(environment, "SLURM_ARRAY_TASK_MIN").value_or(0);
  const std::uint32_t index = *task - std::min(first, *task);
  launch.rank += index * launch.ranks;
  launch.ranks *= *count;
  launch.together = false;
  launch.launcher = "SLURM_ARRAY_TASK_ID";
  // Steps between the numbers of the tasks leave gaps, which only dealing sees.
  launch.rank %= launch.ranks;
}

}  // namespace

const std::vector<Launcher>& launchers() {
  static const std::vector<Launcher> all = {
      {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE"},
      {"MVAPICH", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_LOCAL_SIZE"},
      {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS"},
      {"PMIx", "PMIX_RANK", "PMIX_SIZE", nullptr},
      {"Slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_NTASKS_PER_NODE"},
  };
  return all;
}

std::optional<Launch> find_launch(const Environment& environment) {
  for (const Launcher& one : launchers()) {
    const auto rank = number(environment, one.rank), ranks = number(environment, one.ranks);
    if (!rank || !ranks) continue;
    Launch launch{*rank, *ranks, number(environment, one.ranks_on_host).value_or(1), true, one.name};
    checked(launch);
    spread_over_array(environment, launch);
    return checked(launch);
  }
  Launch alone;
  spread_over_array(environment, alone);
  if (alone.launcher.empty()) return std::nullopt;
  return checked(alone);
}

Launch launch_of_this_process(std::optional<std::uint32_t> rank, std::optional<std::uint32_t> ranks) {
  if (rank || ranks) {
    if (!rank || !ranks)
      throw Error(rank ? "--rank" : "--ranks", "says only half of who this process is",
                  "give both --rank and --ranks");
    return checked({*rank, *ranks, 1, false, "--rank"});
  }
  if (const auto launch = find_launch([](const char* name) { return std::getenv(name); })) return *launch;
  std::string names;
  for (const Launcher& one : launchers()) names += fmt::format("{}{}", names.empty() ? "" : ", ", one.rank);
  throw Error("--distributed", "no launcher has said which of how many processes this is (" + names + ")",
              kMend);
}

std::size_t threads_of_rank(const Launch& launch, std::size_t cores, std::size_t host_cores) {
  if (cores < host_cores) return cores;  // bound to its own
  return std::max<std::size_t>(1, cores / std::max<std::uint32_t>(1, launch.ranks_on_host));
}

}  // namespace smile

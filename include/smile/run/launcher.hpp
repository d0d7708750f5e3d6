// SPDX-License-Identifier: Apache-2.0
/// Who of how many a process is, from what its launcher has put into the environment: Slurm, Open MPI, MPICH
/// and their relatives. No MPI is linked (docs/decisions/0030).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace smile {

struct Launch {
  std::uint32_t rank = 0, ranks = 1;
  std::uint32_t ranks_on_host = 1;  ///< among which the host's cores are shared
  /// Ranks begin and end together (mpirun, srun): the first stays until the last has ended. Tasks of an array
  /// and processes that are started by hand leave when they have nothing to do.
  bool together = false;
  std::string launcher;  ///< "Slurm", "Open MPI", …; "--rank" where it was told
};

/// A launcher and its variables.
struct Launcher {
  const char* name;
  const char *rank, *ranks;   ///< from 0; number of
  const char* ranks_on_host;  ///< null: no such variable
};
/// In the order in which they are looked for: what is started inside of another has the last word.
const std::vector<Launcher>& launchers();

/// The value of a variable of the environment; null where there is none.
using Environment = std::function<const char*(const char* name)>;

/// Nothing where no launcher has started this process.
/// @throws Error where variables are no numbers, or the rank is none of the ranks
std::optional<Launch> find_launch(const Environment& environment);
/// That of this process. @param rank, ranks  `--rank` and `--ranks`; both or none
/// @throws Error (usage) also where nothing says who of how many this is
Launch launch_of_this_process(std::optional<std::uint32_t> rank, std::optional<std::uint32_t> ranks);

/// Threads for one of the ranks of a host, where the user gives no number. @param cores  that it may use
/// @param host_cores  of the host: a launcher that binds its ranks to cores has shared them out already
std::size_t threads_of_rank(const Launch& launch, std::size_t cores, std::size_t host_cores);

}  // namespace smile

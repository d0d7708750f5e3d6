// SPDX-License-Identifier: Apache-2.0
// What the machine leaves to a run, and whether the run fits into it.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

#include "smile/error.hpp"
#include "smile/experiment/estimate.hpp"

namespace smile {
namespace {

namespace fs = std::filesystem;
constexpr double kUnlimited = std::numeric_limits<double>::infinity();

std::string bytes_text(double bytes) {
  if (bytes < 1e9) return fmt::format("{:.1f} MB", bytes / 1e6);
  if (bytes < 1e12) return fmt::format("{:.1f} GB", bytes / 1e9);
  return fmt::format("{:.1f} TB", bytes / 1e12);
}

/// The number behind a name in a file of lines "name: 123 kB" or "name 123".
std::optional<double> field_of(const fs::path& path, const std::string& name) {
  std::ifstream in(path);
  for (std::string word; in >> word;) {
    double value = 0;
    if ((word == name || word == name + ":") && in >> value) return value;
    in.clear();
    in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::nullopt;
}

std::optional<double> number_in(const fs::path& path) {
  std::ifstream in(path);
  double value = 0;
  if (in >> value) return value;
  return std::nullopt;  // "max", or no such file
}

double left_by_system() {
  const auto available = field_of("/proc/meminfo", "MemAvailable");
  return available ? *available * 1024 : kUnlimited;
}

/// What the control groups (version 2) of this process leave; files that are only cached can be given up.
double left_by_groups() {
  std::ifstream in("/proc/self/cgroup");
  std::string line, own;
  while (std::getline(in, line))
    if (line.starts_with("0::")) own = line.substr(3);
  double left = kUnlimited;
  const fs::path root = "/sys/fs/cgroup";
  for (fs::path group = fs::path(own.empty() ? "/" : own).relative_path();; group = group.parent_path()) {
    const auto limit = number_in(root / group / "memory.max"),
               used = number_in(root / group / "memory.current");
    if (limit && used)
      left = std::min(left,
                      *limit - *used + field_of(root / group / "memory.stat", "inactive_file").value_or(0));
    if (group.empty()) break;
  }
  return std::max(left, 0.0);
}

/// What ulimit -v leaves.
double left_by_process() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUnlimited;
  const double used = field_of("/proc/self/status", "VmSize").value_or(0) * 1024;
  return std::max(0.0, static_cast<double>(limit.rlim_cur) - used);
}

}  // namespace

AvailableResources available_resources(const fs::path& path) {
  AvailableResources available;
  available.memory_bytes = std::min({left_by_system(), left_by_groups(), left_by_process()});
  std::error_code failure;
  fs::path folder = fs::absolute(path, failure);
  while (!fs::exists(folder, failure) && folder.has_relative_path()) folder = folder.parent_path();
  const auto space = fs::space(folder, failure);
  available.disk_bytes = failure ? kUnlimited : static_cast<double>(space.available);
  return available;
}

void refuse_what_does_not_fit(const RunEstimate& e, const AvailableResources& available,
                              const fs::path& where) {
  if (e.chains_at_once == 0 && e.device_bytes)
    throw Error(
        where.string(),
        fmt::format("a chain needs {} of the device's memory and {} are free",
                    bytes_text(std::max(e.chain_bytes, e.optimiser_bytes)), bytes_text(*e.device_bytes)),
        "lower batch_size, take a smaller network, or write device: cpu", ErrorKind::run);
  const double memory = e.memory_bytes - e.data_bytes;
  if (memory > available.memory_bytes) {
    const double at_once = std::max(e.chain_bytes, e.optimiser_bytes);
    const double left = available.memory_bytes - (memory - double(e.chains_at_once) * at_once);
    const auto fitting = left < at_once ? std::size_t{0} : static_cast<std::size_t>(left / at_once);
    throw Error(
        where.string(),
        fmt::format("the run needs {} of memory ({} members: {}; {} chains at once, {} each) and {} are "
                    "available",
                    bytes_text(memory),
                    e.dimension > 0 ? std::lround(e.members_bytes / 4 / double(e.dimension)) : 0,
                    bytes_text(e.members_bytes), e.chains_at_once, bytes_text(at_once),
                    bytes_text(available.memory_bytes)),
        fitting > 0 ? fmt::format("give --threads {}", fitting)
                    : std::string("lower n_chains, take a smaller network, or free memory"),
        ErrorKind::run);
  }
  if (e.disk_bytes > available.disk_bytes)
    throw Error(
        where.string(),
        fmt::format("the run needs {} on disk (draws {}, members {}, checkpoints {}{}) and {} are free",
                    bytes_text(e.disk_bytes), bytes_text(e.draws_bytes), bytes_text(e.warmstart_bytes),
                    bytes_text(e.checkpoint_bytes),
                    e.outputs_bytes > 0 ? ", outputs " + bytes_text(e.outputs_bytes) : std::string(),
                    bytes_text(available.disk_bytes)),
        "raise n_thinning, lower n_samples or n_chains, write draws_dtype: float16, or choose another "
        "folder with --out",
        ErrorKind::run);
}

}  // namespace smile

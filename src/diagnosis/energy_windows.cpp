// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/energy_windows.hpp"

#include "smile/ensemble/chain_files.hpp"

namespace smile::experiment {
namespace {

constexpr std::size_t kMost = 200;

}  // namespace

std::vector<EnergyWindow> energy_windows(const std::filesystem::path& run, std::uint32_t chain) {
  const std::vector<WindowRow> rows = read_rows<WindowRow>(monitor_path(run, chain));
  const std::size_t together = (rows.size() + kMost - 1) / kMost;
  std::vector<EnergyWindow> out;
  std::uint64_t before = 0;
  double resets = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const WindowRow& row = rows[i];
    resets += double(row.refused);
    if ((i + 1) % together != 0 && i + 1 < rows.size()) continue;
    const std::uint64_t last = row.step;
    if (last <= before) return {};  // steps go up in a file of ours
    out.push_back({last, row.step_size, resets / double(last - before), row.gamma_shape, row.gamma_scale,
                   row.kolmogorov_distance});
    before = last;
    resets = 0;
  }
  return out;
}

}  // namespace smile::experiment

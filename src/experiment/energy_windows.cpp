#include "experiment/energy_windows.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include "smile/ensemble/ensemble_runner.hpp"

namespace smile::experiment {
namespace {

constexpr std::size_t kMost = 200;

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) c == ',' ? void(cells.emplace_back()) : cells.back().push_back(c);
  return cells;
}

}  // namespace

std::vector<EnergyWindow> energy_windows(const std::filesystem::path& run, std::uint32_t chain) {
  std::ifstream in(monitor_path(run, chain));
  std::string line;
  if (!std::getline(in, line)) return {};
  const std::vector<std::string> head = cells_of(line);
  const auto column = [&](const char* name) {
    return std::size_t(std::find(head.begin(), head.end(), name) - head.begin());
  };
  const std::size_t step = column("step"), size = column("step_size"), refused = column("refused"),
                    shape = column("gamma_shape"), scale = column("gamma_scale"),
                    distance = column("kolmogorov_distance");
  if (std::max({step, size, refused, shape, scale, distance}) >= head.size()) return {};
  std::vector<std::vector<std::string>> rows;
  while (std::getline(in, line))
    if (auto cells = cells_of(line); cells.size() == head.size()) rows.push_back(std::move(cells));
  const auto number = [](const std::string& cell) {
    return cell.empty() ? std::numeric_limits<double>::quiet_NaN() : std::strtod(cell.c_str(), nullptr);
  };
  const std::size_t together = (rows.size() + kMost - 1) / kMost;
  std::vector<EnergyWindow> out;
  std::uint64_t before = 0;
  double resets = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto& row = rows[i];
    resets += number(row[refused]);
    if ((i + 1) % together != 0 && i + 1 < rows.size()) continue;
    const auto last = std::uint64_t(number(row[step]));
    if (last <= before) return {};  // steps go up in a file of ours
    out.push_back({last, number(row[size]), resets / double(last - before), number(row[shape]),
                   number(row[scale]), number(row[distance])});
    before = last;
    resets = 0;
  }
  return out;
}

}  // namespace smile::experiment

#include "experiment/draw_statistics.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "experiment/provenance.hpp"
#include "smile/ensemble/ensemble_runner.hpp"

namespace smile::experiment {
namespace {

/// The next cell of a line; an empty one leaves `value` as it is.
template <class T>
bool take(std::string_view& line, T& value) {
  const std::string_view cell = line.substr(0, line.find(','));
  line.remove_prefix(std::min(line.size(), cell.size() + 1));
  if (cell.empty()) return true;
  const auto result = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  return result.ec == std::errc() && result.ptr == cell.data() + cell.size();
}

}  // namespace

std::filesystem::path draw_statistics_path(const std::filesystem::path& run, std::uint32_t chain) {
  return draws_trace_path(run, chain);
}

std::string library_version() {
  return provenance::version();
}

DrawStatisticsReader::DrawStatisticsReader(const std::filesystem::path& path) : in_(path) {
  std::string header;
  std::getline(in_, header);
}

bool DrawStatisticsReader::next(DrawStatistics& row) {
  std::string text;
  if (!std::getline(in_, text)) return false;
  row = DrawStatistics();
  std::string_view line = text;
  return take(line, row.step) && take(line, row.log_density) && take(line, row.energy_change) &&
         take(line, row.step_size) && take(line, row.gradient_norm) && take(line, row.refused_so_far) &&
         take(line, row.nonfinite_so_far);
}

}  // namespace smile::experiment

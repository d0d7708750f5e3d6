/// What a chain's steps were like at its stored draws: trace/chain-KK-draws.csv, a line a draw, in step with
/// samples/chain-KK.npy.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace smile::experiment {

struct DrawStatistics {
  std::uint64_t step = 0;
  double log_density = std::numeric_limits<double>::quiet_NaN();
  double energy_change = std::numeric_limits<double>::quiet_NaN();
  double step_size = std::numeric_limits<double>::quiet_NaN();
  double gradient_norm = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t refused_so_far = 0, nonfinite_so_far = 0;  ///< steps of the sampling phase
};

std::filesystem::path draw_statistics_path(const std::filesystem::path& run, std::uint32_t chain);
/// The version of this library.
std::string library_version();

/// Reads such a file from its beginning.
class DrawStatisticsReader {
 public:
  explicit DrawStatisticsReader(const std::filesystem::path& path);
  /// False at the end of the file, or where a line is damaged.
  bool next(DrawStatistics& row);

 private:
  std::ifstream in_;
};

}  // namespace smile::experiment

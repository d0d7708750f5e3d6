// SPDX-License-Identifier: Apache-2.0
/// Each JSON and CSV file of a run by itself: the first byte says which.
#include <array>

#include "fuzz.hpp"
#include "run/network_record.hpp"
#include "smile/diagnosis/chains_file.hpp"
#include "smile/ensemble/chain_files.hpp"
#include "smile/files/row_file.hpp"
#include "smile/run/inputs.hpp"
#include "smile/run/metrics_file.hpp"
#include "smile/run/progress_file.hpp"
#include "smile/run/run_directory.hpp"
#include "smile/run/run_paths.hpp"

SMILE_FUZZ(input) {
  using namespace smile;
  if (input.empty()) return;
  const std::filesystem::path run = fuzz::folder();
  const RunPaths paths(run);
  std::filesystem::create_directories(paths.evaluation());
  const auto read = [&](const std::filesystem::path& path, const auto& reader) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary).write(input.data() + 1, std::streamsize(input.size() - 1));
    fuzz::read_or_refuse(reader);
  };
  switch (static_cast<unsigned char>(input[0]) % 6) {
    case 0:
      return read(paths.metrics(), [&] { static_cast<void>(read_metrics(run)); });
    case 1:
      return read(paths.chains(), [&] { static_cast<void>(read_chains(run)); });
    case 2:
      return read(paths.progress(), [&] { static_cast<void>(read_progress(run)); });
    case 3:
      return read(paths.state(), [&] { static_cast<void>(read_run_state(run)); });
    case 4:
      return read(paths.network(), [&] { static_cast<void>(experiment::recorded_layout(run)); });
    default:
      return read(run / "rows.csv", [&] { static_cast<void>(read_rows<DrawRow>(run / "rows.csv")); });
  }
}

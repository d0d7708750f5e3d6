// SPDX-License-Identifier: Apache-2.0
#include "smile/ensemble/chain_files.hpp"

#include <fmt/format.h>

namespace smile {

namespace fs = std::filesystem;

fs::path draws_path(const fs::path& directory, std::uint32_t chain) {
  return directory / kDrawsFolder / fmt::format("chain-{:02}.npy", chain);
}
fs::path warmup_draws_path(const fs::path& directory, std::uint32_t chain) {
  return directory / kDrawsFolder / fmt::format("warmup-{:02}.npy", chain);
}
fs::path trace_path(const fs::path& directory, std::uint32_t chain) {
  return directory / kTraceFolder / fmt::format("chain-{:02}.csv", chain);
}
fs::path draws_trace_path(const fs::path& directory, std::uint32_t chain) {
  return directory / kTraceFolder / fmt::format("chain-{:02}-draws.csv", chain);
}
fs::path monitor_path(const fs::path& directory, std::uint32_t chain) {
  return directory / kTraceFolder / fmt::format("chain-{:02}-monitor.csv", chain);
}
fs::path checkpoint_path(const fs::path& directory, std::uint32_t chain) {
  return directory / kCheckpointFolder / fmt::format("chain-{:02}.bin", chain);
}

}  // namespace smile

// SPDX-License-Identifier: Apache-2.0
#include "smile/run/run_paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "smile/ensemble/chain_files.hpp"

namespace smile {

namespace fs = std::filesystem;

bool RunPaths::is_run() const {
  std::error_code ignored;
  return fs::exists(config(), ignored);
}

fs::path RunPaths::member(std::size_t number) const {
  return warmstart() / fmt::format("member-{:02}.npy", number);
}

fs::path RunPaths::chain_lock(std::size_t chain) const {
  return locks() / fmt::format("chain-{:02}", chain);
}

fs::path RunPaths::member_lock(std::size_t member) const {
  return locks() / fmt::format("member-{:02}", member);
}

fs::path RunPaths::member_epochs(std::size_t number) const {
  return warmstart() / fmt::format("member-{:02}.csv", number);
}

fs::path RunPaths::samples() const {
  return run_ / kDrawsFolder;
}

fs::path RunPaths::outputs(std::uint32_t chain) const {
  return evaluation() / fmt::format("outputs-{:02}.npy", chain);
}

bool RunPaths::is_own(const fs::path& name) {
  const RunPaths bare{fs::path()};
  const fs::path all[] = {bare.config(),    bare.state(),      bare.progress(),   bare.log(),
                          bare.lock(),      bare.data(),       bare.parameters(), bare.network(),
                          bare.warmstart(), bare.evaluation(), bare.report(),     bare.tried_steps(),
                          bare.tuned(),     bare.inputs(),     bare.locks(),      bare.part_logs(),
                          kDrawsFolder,     kCheckpointFolder, kTraceFolder};
  return std::find(std::begin(all), std::end(all), name) != std::end(all);
}

bool is_left_of_a_new_run(const fs::path& name) {
  const RunPaths bare{fs::path()};
  const std::string text = name.string();
  // What is written is a file of another name that begins with this one, until it is complete.
  if (text == bare.lock() || text.starts_with(bare.lock().string() + ".") || text == bare.locks() ||
      text == bare.part_logs())
    return true;
  for (const fs::path& file : {bare.state(), bare.config(), bare.inputs(), bare.data(), bare.parameters(),
                               bare.network(), bare.log()})
    if (text.starts_with(file.string())) return true;
  return false;
}

}  // namespace smile

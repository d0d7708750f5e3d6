// SPDX-License-Identifier: Apache-2.0
/// A chain's checkpoint: written whole or not at all, checked when read, with the one before kept beside it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "smile/archive.hpp"
#include "smile/ensemble/ensemble_runner.hpp"

namespace smile::ensemble {

/// u·u_{t+k} within a window: how long the velocity remembers its direction (spec 1.13).
struct VelocityMemory {
  static constexpr std::uint64_t kLags[] = {1, 16, 256};
  ChainVector reference;  ///< u at the start of the window; empty where the sampler has no velocity
  double correlations[3] = {StepReport::kNone, StepReport::kNone, StepReport::kNone};
};

/// What stands in the file beside the sampler's own state.
struct Checkpoint {
  std::string digest;
  ChainRecord record;
  std::uint64_t warmup_stored = 0;
  std::uint64_t trace_bytes = 0, monitor_bytes = 0;  ///< lengths of the text files at that moment
  VelocityMemory velocity;
  std::vector<char> sampler;  ///< bytes of the sampler's archive
};

/// Replaces the file; the old one stays as `<name>.previous`.
void write_checkpoint(const std::filesystem::path& path, Checkpoint& checkpoint);

/// Reads one file. @throws Error (run) where it is damaged
Checkpoint read_checkpoint_file(const std::filesystem::path& path);

/// Reads the file, or the one before where it is damaged; nothing where there is neither. `remark` says what
/// was passed over. @throws Error (run) where what is there is damaged
std::optional<Checkpoint> read_checkpoint(const std::filesystem::path& path, std::string& remark);

}  // namespace smile::ensemble

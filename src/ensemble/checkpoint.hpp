/// A chain's checkpoint: written whole or not at all, checked when read, with the one before kept beside it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "smile/archive.hpp"
#include "smile/ensemble/ensemble_runner.hpp"

namespace smile::ensemble {

/// What stands in the file beside the sampler's own state.
struct Checkpoint {
  std::string digest;
  ChainRecord record;
  std::uint64_t warmup_stored = 0;
  std::uint64_t trace_bytes = 0, monitor_bytes = 0;  ///< lengths of the text files at that moment
  std::vector<char> sampler;                         ///< bytes of the sampler's archive
};

/// Replaces the file; the old one stays as `<name>.previous`.
void write_checkpoint(const std::filesystem::path& path, Checkpoint& checkpoint);

/// Reads one file. @throws Error (run) where it is damaged
Checkpoint read_checkpoint_file(const std::filesystem::path& path);

/// Reads the file, or the one before where it is damaged; nothing where there is neither. `remark` says what
/// was passed over. @throws Error (run) where what is there is damaged
std::optional<Checkpoint> read_checkpoint(const std::filesystem::path& path, std::string& remark);

}  // namespace smile::ensemble

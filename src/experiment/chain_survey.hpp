// SPDX-License-Identifier: Apache-2.0
/// What the chains of a run are at, seen by a process that may have none of them: from locks and checkpoints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "smile/ensemble/progress.hpp"
#include "smile/run/lock_file.hpp"

namespace smile::experiment {

enum class ChainState {
  open,  ///< nobody has begun it
  live,  ///< a process has it
  left,  ///< begun, and nobody has it: interrupted, or its process is dead
  complete,
  failed,
};

struct SurveyedChain {
  ChainState state = ChainState::open;
  LockHolder holder;       ///< of a live one, and of one that a dead process has left
  ChainProgress progress;  ///< as far as that is known without reading a sampler's state
};

/// A chain's progress as the note of its lock.
std::string note_of(const ChainProgress& progress);
std::optional<ChainProgress> progress_of(std::uint32_t chain, const std::string& note);

class ChainSurvey {
 public:
  ChainSurvey(std::filesystem::path run, std::size_t chains, LockPatience patience);
  /// Looks again at every chain that had not ended.
  void look();
  const std::vector<SurveyedChain>& chains() const { return chains_; }
  std::size_t count(ChainState state) const;
  bool all_ended() const { return count(ChainState::complete) + count(ChainState::failed) == chains_.size(); }
  /// "2, 5-7": the chains in one of these states.
  std::string numbers(std::initializer_list<ChainState> states) const;

 private:
  SurveyedChain look_at(std::uint32_t chain) const;
  std::filesystem::path run_;
  LockPatience patience_;
  std::vector<SurveyedChain> chains_;
};

/// "2, 5-7".
std::string number_list(std::span<const std::uint32_t> numbers);

}  // namespace smile::experiment

// SPDX-License-Identifier: Apache-2.0
#include "experiment/chain_survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "smile/ensemble/ensemble_runner.hpp"
#include "smile/run/run_paths.hpp"

namespace smile::experiment {

namespace fs = std::filesystem;

std::string note_of(const ChainProgress& p) {
  return fmt::format("{} {} {} {} {:.9g} {:.9g}", p.done, p.total, p.warmup, p.refused, p.log_density,
                     p.step_size);
}

std::optional<ChainProgress> progress_of(std::uint32_t chain, const std::string& note) {
  ChainProgress p;
  p.chain = chain;
  const char* at = note.c_str();
  const auto whole = [&](std::uint64_t& value) {
    char* end = nullptr;
    value = std::strtoull(at, &end, 10);
    return end != at && (at = end, true);
  };
  const auto real = [&](double& value) {
    char* end = nullptr;
    value = std::strtod(at, &end);
    return end != at && (at = end, true);
  };
  if (!whole(p.done) || !whole(p.total) || !whole(p.warmup) || !whole(p.refused) || !real(p.log_density) ||
      !real(p.step_size))
    return std::nullopt;
  return p;
}

ChainSurvey::ChainSurvey(std::filesystem::path run, std::size_t chains, LockPatience patience)
    : run_(std::move(run)), patience_(patience), chains_(chains) {}

void ChainSurvey::look() {
  // Two lists in place of two look-ups a chain: of thousands of chains most have not begun or have ended. A
  // list may be older than the files; that a chain is open is only said for as long as nobody has its lock.
  std::set<std::string> names;
  const fs::path checkpoints = checkpoint_path(run_, 0).parent_path();
  std::error_code ignored;
  for (const fs::path& folder : {RunPaths(run_).locks(), checkpoints})
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      names.insert(entry.path().filename().string());
  for (std::size_t i = 0; i < chains_.size(); ++i) {
    if (chains_[i].state == ChainState::complete || chains_[i].state == ChainState::failed) continue;
    const auto chain = std::uint32_t(i);
    const fs::path checkpoint = checkpoint_path(run_, chain).filename();
    if (names.contains(RunPaths(run_).chain_lock(i).filename().string()) ||
        names.contains(checkpoint.string()) || names.contains(checkpoint.string() + ".previous"))
      chains_[i] = look_at(chain);
    else
      chains_[i] = {}, chains_[i].progress.chain = chain;
  }
}

SurveyedChain ChainSurvey::look_at(std::uint32_t chain) const {
  SurveyedChain seen;
  seen.progress.chain = chain;
  const LockLook lock = look_at_lock(RunPaths(run_).chain_lock(chain), patience_);
  if (lock.state != LockState::free) {
    seen.holder = lock.holder;
    if (const auto progress = progress_of(chain, lock.holder.note)) seen.progress = *progress;
  }
  if (lock.state == LockState::held) {
    seen.state = ChainState::live;
    return seen;
  }
  // A chain that ends gives its lock back after its last checkpoint, so this order misses nothing.
  const auto record = read_chain_record(run_, chain);
  if (record) {
    seen.progress = {chain,
                     record->step,
                     record->total_steps,
                     record->warmup_steps,
                     record->monitor.warmup.refused() + record->monitor.sampling.refused(),
                     record->monitor.log_density,
                     record->monitor.last_step_size};
    seen.state = record->status == ChainStatus::complete ? ChainState::complete
                 : record->status == ChainStatus::failed ? ChainState::failed
                                                         : ChainState::left;
  } else if (lock.state == LockState::stale) {
    seen.state = ChainState::left;
  }
  return seen;
}

std::size_t ChainSurvey::count(ChainState state) const {
  return std::size_t(std::count_if(chains_.begin(), chains_.end(),
                                   [&](const SurveyedChain& chain) { return chain.state == state; }));
}

std::string ChainSurvey::numbers(std::initializer_list<ChainState> states) const {
  std::vector<std::uint32_t> list;
  for (std::size_t i = 0; i < chains_.size(); ++i)
    if (std::find(states.begin(), states.end(), chains_[i].state) != states.end())
      list.push_back(std::uint32_t(i));
  return number_list(list);
}

std::string number_list(std::span<const std::uint32_t> numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]);
    if (last > i) text += (last > i + 1 ? "-" : ", ") + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace smile::experiment

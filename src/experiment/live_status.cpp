// SPDX-License-Identifier: Apache-2.0
#include "experiment/live_status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ctime>

namespace smile::experiment {
namespace {

constexpr auto kPause = std::chrono::seconds(1);

/// 150000 as "150,000".
std::string grouped(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string tail(double log_density, double step_size, std::uint64_t refused) {
  std::string text;
  if (std::isfinite(log_density)) text += fmt::format(", log-density {:.6g}", log_density);
  if (std::isfinite(step_size) && step_size > 0) text += fmt::format(", ε {:.3g}", step_size);
  if (refused > 0) text += fmt::format(", {} resets", grouped(refused));
  return text;
}

}  // namespace

double seconds_left(const Progress& progress) {
  if (progress.finished || !(progress.per_second > 0)) return StepReport::kNone;
  return double(progress.total - std::min(progress.done, progress.total)) / progress.per_second;
}

std::string clock_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "?";
  const auto whole = static_cast<long long>(std::min(seconds, 3.6e9) + 0.5);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::vector<std::string> describe(const Progress& progress) {
  const double share = progress.total > 0 ? double(progress.done) / double(progress.total) : 1;
  std::string first = fmt::format("{}: {} of {} {} ({:.0f} %)", progress.phase, grouped(progress.done),
                                  grouped(progress.total), progress.unit, 100 * std::min(1.0, share));
  if (progress.per_second > 0)
    first +=
        fmt::format(", {} {}/s", grouped(std::uint64_t(std::llround(progress.per_second))), progress.unit);
  if (const double left = seconds_left(progress); std::isfinite(left))
    first += fmt::format(", {} left", clock_text(left));
  std::vector<std::string> lines{first + tail(progress.log_density, progress.step_size, progress.refused)};
  for (const ChainProgress& chain : progress.chains) {
    const char* phase = chain.total == 0            ? "not begun"
                        : chain.done >= chain.total ? "done"
                        : chain.done < chain.warmup ? "warm-up"
                                                    : "sampling";
    lines.push_back(chain.total == 0 ? fmt::format("chain {}: not begun", chain.chain)
                                     : fmt::format("chain {}: {}, step {} of {}{}", chain.chain, phase,
                                                   grouped(chain.done), grouped(chain.total),
                                                   tail(chain.log_density, chain.step_size, chain.refused)));
  }
  return lines;
}

LiveStatus::LiveStatus(const RunDirectory& directory, std::atomic<bool>* snapshot)
    : directory_(directory), snapshot_(snapshot) {
  if (auto earlier = read_progress(directory.path())) phases_ = std::move(earlier->phases);
}

void LiveStatus::show(const Progress& progress) {
  if (progress.phase != phase_) {
    phase_ = progress.phase;
    auto known = std::find_if(phases_.begin(), phases_.end(),
                              [&](const PhaseTime& phase) { return phase.name == phase_; });
    if (known == phases_.end()) known = phases_.insert(phases_.end(), {phase_, progress.unit, 0, 0});
    earlier_seconds_ = known->seconds;
  }
  for (PhaseTime& phase : phases_)
    if (phase.name == phase_) phase.seconds = earlier_seconds_ + progress.seconds, phase.done = progress.done;
  if (snapshot_ && snapshot_->exchange(false))
    for (const auto& line : describe(progress)) directory_.log("snapshot: " + line);
  const auto now = std::chrono::steady_clock::now();
  if (!progress.finished && now - written_ < kPause) return;
  written_ = now;
  write(progress);
}

void LiveStatus::write(const Progress& progress) const noexcept {
  try {
    write_progress(directory_.path(),
                   {progress, seconds_left(progress), std::int64_t(std::time(nullptr)), phases_});
  } catch (...) {
    // A full disk shows where it matters: at the draws and checkpoints.
  }
}

}  // namespace smile::experiment

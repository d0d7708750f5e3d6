// SPDX-License-Identifier: Apache-2.0
/// Time and speed of a phase of one count, for whoever shows it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "smile/ensemble/progress.hpp"

namespace smile::experiment {

/// The phase begins with the object.
class PhaseProgress {
 public:
  /// @param on_progress  may be empty; outlives this
  PhaseProgress(const std::function<void(const Progress&)>& on_progress, std::string phase, std::string unit)
      : on_progress_(on_progress) {
    progress_.phase = std::move(phase);
    progress_.unit = std::move(unit);
  }

  void tell(std::uint64_t done, std::uint64_t total, bool finished) {
    if (!on_progress_) return;
    progress_.done = done;
    progress_.total = total;
    progress_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    progress_.per_second = progress_.seconds > 0 ? double(done) / progress_.seconds : 0;
    progress_.finished = finished;
    on_progress_(progress_);
  }

 private:
  const std::function<void(const Progress&)>& on_progress_;
  Progress progress_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace smile::experiment

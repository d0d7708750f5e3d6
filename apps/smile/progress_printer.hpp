// SPDX-License-Identifier: Apache-2.0
/// Progress on stderr: a bar and a line for each chain under way on a terminal, now and then a line
/// elsewhere.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "smile/ensemble/progress.hpp"

namespace smile::program {

class ProgressPrinter {
 public:
  ProgressPrinter();
  /// May be called from any thread.
  void show(const Progress& progress);
  /// A line of its own, above the bar.
  void message(const std::string& text);

 private:
  void clear_bar();
  void draw(const std::vector<std::string>& lines);
  std::mutex mutex_;
  bool terminal_;
  std::size_t shown_lines_ = 0;  ///< of the bar and the chains below it
  std::string phase_;
  double last_line_seconds_ = 0;
};

}  // namespace smile::program

/// Progress on stderr: a bar on a terminal, now and then a line elsewhere.
#pragma once

#include <mutex>
#include <string>

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
  std::mutex mutex_;
  bool terminal_;
  bool bar_shown_ = false;
  std::string phase_;
  double last_line_seconds_ = 0;
};

}  // namespace smile::program

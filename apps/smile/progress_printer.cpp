#include "progress_printer.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace smile::program {
namespace {

/// Seconds between two lines where stderr is no terminal.
constexpr double kLineEvery = 10;

std::string clock_text(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "?";
  const auto whole = static_cast<long long>(std::min(seconds, 3.6e9) + 0.5);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string rate_text(double rate) {
  if (rate >= 1e6) return fmt::format("{:.1f} M", rate / 1e6);
  if (rate >= 1e4) return fmt::format("{:.0f} k", rate / 1e3);
  return fmt::format("{:.0f} ", rate);
}

std::string facts(const Progress& progress) {
  std::string text = fmt::format("{}{}/s", rate_text(progress.per_second), progress.unit);
  if (!progress.finished && progress.per_second > 0) {
    text += ", " +
            clock_text(static_cast<double>(progress.total - std::min(progress.done, progress.total)) /
                       progress.per_second) +
            " left";
  }
  if (std::isfinite(progress.log_density)) text += fmt::format(", log-density {:.6g}", progress.log_density);
  if (std::isfinite(progress.step_size)) text += fmt::format(", ε {:.3g}", progress.step_size);
  if (progress.refused > 0) text += fmt::format(", {} resets", progress.refused);
  return text;
}

}  // namespace

ProgressPrinter::ProgressPrinter() : terminal_(isatty(STDERR_FILENO) == 1) {}

void ProgressPrinter::clear_bar() {
  if (bar_shown_) std::fputs("\r\x1b[K", stderr);
  bar_shown_ = false;
}

void ProgressPrinter::show(const Progress& progress) {
  const std::lock_guard lock(mutex_);
  const double share =
      progress.total > 0
          ? std::min(1.0, static_cast<double>(progress.done) / static_cast<double>(progress.total))
          : 1;
  const bool new_phase = progress.phase != phase_;
  if (new_phase) {
    phase_ = progress.phase;
    last_line_seconds_ = 0;
  }
  if (progress.finished) {
    clear_bar();
    std::fputs(fmt::format("{}: {} {} in {}, {}\n", progress.phase, progress.done, progress.unit,
                           clock_text(progress.seconds), facts(progress))
                   .c_str(),
               stderr);
    phase_.clear();
    return;
  }
  if (terminal_) {
    constexpr int kCells = 24;
    const int full = static_cast<int>(share * kCells);
    const std::string bar = std::string(static_cast<std::size_t>(full), '#') +
                            std::string(static_cast<std::size_t>(kCells - full), '-');
    std::fputs(
        fmt::format("\r\x1b[K{:<10} [{}] {:3.0f}%  {}", progress.phase, bar, 100 * share, facts(progress))
            .c_str(),
        stderr);
    std::fflush(stderr);
    bar_shown_ = true;
  } else if (progress.seconds - last_line_seconds_ >= kLineEvery) {
    last_line_seconds_ = progress.seconds;
    std::fputs(fmt::format("{}: {:.0f}%, {}\n", progress.phase, 100 * share, facts(progress)).c_str(),
               stderr);
  }
}

void ProgressPrinter::message(const std::string& text) {
  const std::lock_guard lock(mutex_);
  clear_bar();
  std::fputs((text + "\n").c_str(), stderr);
}

}  // namespace smile::program

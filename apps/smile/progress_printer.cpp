// SPDX-License-Identifier: Apache-2.0
#include "progress_printer.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
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

/// "[######------]"
std::string bar(std::uint64_t done, std::uint64_t total, int cells) {
  const double share = total > 0 ? std::min(1.0, static_cast<double>(done) / static_cast<double>(total)) : 1;
  const int full = static_cast<int>(share * cells);
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(cells - full), '-') + fmt::format("] {:3.0f}%", 100 * share);
}

struct Screen {
  std::size_t columns = 80, rows = 24;
};

Screen screen() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

/// The first `columns` characters: a line that wraps could not be cleared again.
std::string fitted(const std::string& line, std::size_t columns) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(line[i]) & 0xC0) != 0x80;  // of a UTF-8 sequence
    if (begins && ++characters > columns) return line.substr(0, i);
  }
  return line;
}

/// Chains that have begun and not ended, one line each, as many as the screen takes.
std::vector<std::string> chain_lines(const Progress& progress, std::size_t most) {
  std::vector<std::string> lines;
  std::size_t hidden = 0;
  for (const ChainProgress& chain : progress.chains) {
    if (chain.total == 0 || chain.done >= chain.total) continue;
    if (lines.size() >= most) {
      ++hidden;
      continue;
    }
    std::string line = fmt::format("  chain {:<4} {}  {:<8}", chain.chain, bar(chain.done, chain.total, 16),
                                   chain.done < chain.warmup ? "warm-up" : "sampling");
    if (std::isfinite(chain.log_density)) line += fmt::format(", log-density {:.6g}", chain.log_density);
    if (std::isfinite(chain.step_size)) line += fmt::format(", ε {:.3g}", chain.step_size);
    if (chain.refused > 0) line += fmt::format(", {} resets", chain.refused);
    lines.push_back(std::move(line));
  }
  if (hidden > 0) lines.push_back(fmt::format("  and {} more chains", hidden));
  return lines;
}

}  // namespace

ProgressPrinter::ProgressPrinter() : terminal_(isatty(STDERR_FILENO) == 1) {}

void ProgressPrinter::clear_bar() {
  if (shown_lines_ == 0) return;
  // Back to the first of our lines; everything below it goes.
  if (shown_lines_ > 1) std::fputs(fmt::format("\x1b[{}A", shown_lines_ - 1).c_str(), stderr);
  std::fputs("\r\x1b[J", stderr);
  shown_lines_ = 0;
}

void ProgressPrinter::draw(const std::vector<std::string>& lines) {
  const std::size_t columns = screen().columns - 1;
  clear_bar();
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : "\n") + fitted(line, columns);
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
  shown_lines_ = lines.size();
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
    std::vector<std::string> lines{fmt::format("{:<10} {}  {}", progress.phase,
                                               bar(progress.done, progress.total, 24), facts(progress))};
    const std::size_t rows = screen().rows;
    const auto chains = chain_lines(progress, std::min<std::size_t>(16, rows > 4 ? rows - 4 : 0));
    lines.insert(lines.end(), chains.begin(), chains.end());
    draw(lines);
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

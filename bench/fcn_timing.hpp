// SPDX-License-Identifier: Apache-2.0
/// Timing for the network's benchmarks: candidates take turns, so that whatever else the machine does falls
/// on all of them; medians and quartiles of many short rounds are what is reported.
#pragma once

#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace smile::bench {

struct Candidate {
  std::string name;
  std::function<void()> work;
  double flops = 0;               ///< of one call; 0 where it has no meaning
  std::vector<double> seconds{};  ///< one entry a round: mean of that round's calls

  double quantile(double p) const {
    std::vector<double> sorted = seconds;
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<std::size_t>(p * static_cast<double>(sorted.size() - 1) + 0.5)];
  }
  double median() const { return quantile(0.5); }
};

/// Median over the rounds of numerator/denominator, each pair measured in the same round.
inline double paired_ratio(const Candidate& numerator, const Candidate& denominator) {
  Candidate ratios;
  for (std::size_t i = 0; i < numerator.seconds.size(); ++i)
    ratios.seconds.push_back(numerator.seconds[i] / denominator.seconds[i]);
  return ratios.median();
}

/// CPU time of this process, which unlike the wall clock does not count what other programs do meanwhile;
/// with one thread on an idle machine the two agree.
inline double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Seconds per call over `calls` calls; the clock is read only around all of them.
inline double time_calls(const Candidate& candidate, int calls) {
  const double start = cpu_seconds();
  for (int i = 0; i < calls; ++i) candidate.work();
  return (cpu_seconds() - start) / calls;
}

/// Every candidate once a round, for about `seconds_per_turn`.
inline void run_rounds(std::vector<Candidate>& candidates, int rounds, double seconds_per_turn) {
  std::vector<int> calls;
  for (const Candidate& candidate : candidates) {
    time_calls(candidate, 3);  // warm-up
    calls.push_back(1 + static_cast<int>(seconds_per_turn / time_calls(candidate, 3)));
  }
  for (int round = 0; round < rounds; ++round)
    for (std::size_t c = 0; c < candidates.size(); ++c)
      candidates[c].seconds.push_back(time_calls(candidates[c], calls[c]));
}

/// Collects lines for people and, with --json FILE, the same numbers for programs.
class Report {
 public:
  Report(int argc, char** argv) {
    for (int i = 1; i + 1 < argc; ++i)
      if (std::string_view(argv[i]) == "--json") path_ = argv[i + 1];
  }
  void candidate(const Candidate& c) {
    fmt::print("  {:<44} {:>10.2f} us  [{:.2f}, {:.2f}]", c.name, 1e6 * c.median(), 1e6 * c.quantile(0.25),
               1e6 * c.quantile(0.75));
    if (c.flops > 0) fmt::print("  {:>6.1f} GFLOP/s", c.flops / c.median() * 1e-9);
    fmt::print("\n");
    entries_.push_back(fmt::format(
        R"({{"name": "{}", "median_seconds": {:.6g}, "lower_quartile": {:.6g}, "upper_quartile": {:.6g}}})",
        c.name, c.median(), c.quantile(0.25), c.quantile(0.75)));
  }
  /// A derived number with the bound it must keep; "" for `bound` where there is none.
  void number(const std::string& name, double value, const std::string& bound = "") {
    fmt::print("  {:<44} {:>10.3g}{}{}\n", name, value, bound.empty() ? "" : "  must be ", bound);
    entries_.push_back(
        fmt::format(R"({{"name": "{}", "value": {:.6g}, "bound": "{}"}})", name, value, bound));
  }
  /// Writes the JSON file; false where that fails.
  bool finish() const {
    if (path_.empty()) return true;
    std::FILE* file = std::fopen(path_.c_str(), "w");
    if (!file) return false;
    fmt::print(file, "[\n");
    for (std::size_t i = 0; i < entries_.size(); ++i)
      fmt::print(file, "  {}{}\n", entries_[i], i + 1 < entries_.size() ? "," : "");
    fmt::print(file, "]\n");
    return std::fclose(file) == 0;
  }

 private:
  std::string path_;
  std::vector<std::string> entries_;
};

}  // namespace smile::bench

// SPDX-License-Identifier: Apache-2.0
/// Runs that many processes do, and what must be the same in all of them.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "../pipeline/program.hpp"

namespace smile::test {

/// A shell command. @return its exit status and what it has written
inline Outcome shell(const std::string& command) {
  const TemporaryFolder folder;
  const int status = std::system(("( " + command + " ) > " + (folder / "out").string() + " 2> " +
                                  (folder / "error").string() + " < /dev/null")
                                     .c_str());
  Outcome outcome;
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.out = content_of(folder / "out");
  outcome.error = content_of(folder / "error");
  return outcome;
}

inline bool has_command(const std::string& name) {
  return std::system(("command -v " + name + " > /dev/null 2>&1").c_str()) == 0;
}

/// A run of `chains` short chains.
inline std::string many_chains(int chains, int samples = 400, const std::string& more = "") {
  return "rng: 3\ndata:\n  path: " + airfoil() +
         "\n  task: mean_regr\ntraining:\n  warmstart:\n    max_epochs: 4\n    batch_size: 64\n  sampler:\n"
         "    batch_size: 128\n    n_chains: " +
         std::to_string(chains) + "\n    warmup_steps: 200\n    n_samples: " + std::to_string(samples) +
         "\n    n_thinning: 4\n" + more;
}

/// Numbers that are times or follow from them.
inline std::string without_times(std::string text) {
  static const std::regex times(
      R"re("(seconds|steps_per_second|gradients_per_second|seconds_per_step)": [-+.0-9e]+)re");
  return std::regex_replace(text, times, "\"$1\": 0");
}

/// The report without its section on time, moments and the folder's name.
inline std::string report_of(const std::filesystem::path& run) {
  std::string text = content_of(run / "report.html");
  if (const auto at = text.find("<h2>Time</h2>"); at != std::string::npos)
    text.erase(at, text.find("<h2>", at + 4) - at);
  const std::string name = run.string();
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos;)
    text.replace(at, name.size(), "RUN");
  std::string out;
  std::istringstream lines(text);
  static const std::regex moment(R"re(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d([+-]\d{4})?)re");
  for (std::string line; std::getline(lines, line);)
    out += (line.size() < 2000 ? std::regex_replace(line, moment, "MOMENT") : line) + "\n";
  return out;
}

/// Draws, traces, members, metrics, diagnostics byte for byte; times aside.
inline void expect_same_run(const std::filesystem::path& a, const std::filesystem::path& b) {
  namespace fs = std::filesystem;
  std::size_t files = 0;
  for (const char* folder : {"samples", "trace", "warmstart", "eval"})
    for (const auto& entry : fs::recursive_directory_iterator(a / folder)) {
      if (!entry.is_regular_file()) continue;
      const fs::path other = b / entry.path().lexically_relative(a);
      ++files;
      EXPECT_TRUE(without_times(content_of(entry.path())) == without_times(content_of(other)))
          << other << " differs";
    }
  EXPECT_GT(files, 10U);
  for (const char* name : {"dataset_splits.npz", "parameters.json", "network.json"})
    EXPECT_TRUE(content_of(a / name) == content_of(b / name)) << name;
  EXPECT_EQ(nlohmann::json::parse(content_of(b / "status.json"))["status"], "complete");
  for (const auto& entry : fs::recursive_directory_iterator(b)) {
    EXPECT_EQ(entry.path().filename().string().find(".tmp-"), std::string::npos) << entry.path();
    if (entry.path().parent_path().filename() == "locks") {
      ADD_FAILURE() << "a lock is left: " << entry.path();
    }
  }
}

}  // namespace smile::test

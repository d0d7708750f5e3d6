// SPDX-License-Identifier: Apache-2.0
/// Runs the program as a user does.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/temporary_folder.hpp"

namespace smile::test {

struct Outcome {
  int status = -1;  ///< exit status; 128 + signal where one ended it
  std::string out, error;
  double peak_bytes = 0;  ///< largest resident memory

  /// stderr is exactly one line "error: where: what; how to mend" (after warnings and progress).
  bool is_one_line_error() const {
    const auto at = error.rfind("error: ");
    if (at == std::string::npos || (at > 0 && error[at - 1] != '\n')) return false;
    const std::string line = error.substr(at);
    return line.find('\n') == line.size() - 1 && line.find(": ", 7) != std::string::npos &&
           line.find("; ") != std::string::npos;
  }
};

/// A running program.
class Program {
 public:
  /// @param in_child  called in the child before the program replaces it (limits, folders)
  explicit Program(const std::vector<std::string>& arguments, const std::function<void()>& in_child = {}) {
    child_ = ::fork();
    if (child_ != 0) return;
    const int out = ::open((folder_ / "out").c_str(), O_WRONLY | O_CREAT, 0600);
    const int error = ::open((folder_ / "error").c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(out, 1), ::dup2(error, 2);
    std::vector<char*> argv = {const_cast<char*>("smile")};
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    if (in_child) in_child();
    ::execv(SMILE_PROGRAM, argv.data());
    ::_exit(127);
  }
  void send(int signal) const { ::kill(child_, signal); }
  Outcome wait() {
    int status = 0;
    rusage used{};
    ::wait4(child_, &status, 0, &used);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content_of(folder_ / "out"),
            content_of(folder_ / "error"), 1024.0 * double(used.ru_maxrss)};
  }
  pid_t pid() const { return child_; }

 private:
  TemporaryFolder folder_;
  pid_t child_ = -1;
};

/// The address sanitizer reserves terabytes of addresses, and LibTorch's code alone takes more than the
/// limits of the tests: a limit on them stops every program.
#if defined(__SANITIZE_ADDRESS__) || defined(SMILE_WITH_TORCH)
inline constexpr bool kMemoryCanBeLimited = false;
#else
inline constexpr bool kMemoryCanBeLimited = true;
#endif

inline Outcome smile(const std::vector<std::string>& arguments, const std::function<void()>& in_child = {}) {
  return Program(arguments, in_child).wait();
}

inline std::string airfoil() {
  return SMILE_SOURCE_DIR "/data/uci/airfoil.data";
}

/// A run of seconds; `more` are lines of `training.sampler`.
inline std::string small_config(const std::string& data = airfoil(),
                                const std::string& sampler = "psmile-auto",
                                const std::string& task = "mean_regr", const std::string& more = "") {
  const bool full = sampler == "mclmc";
  return "experiment_name: test\nrng: 3\ndata:\n  path: " + data + "\n  task: " + task +
         "\nmodel:\n  model: FCN\ntraining:\n  warmstart:\n    max_epochs: 8\n    batch_size: 64\n  "
         "sampler:\n    name: " +
         sampler + "\n" + (full ? "" : "    batch_size: 128\n") +
         "    n_chains: 3\n    warmup_steps: 300\n    n_samples: 400\n    n_thinning: 4\n" + more;
}

}  // namespace smile::test

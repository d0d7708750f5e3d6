// SPDX-License-Identifier: Apache-2.0
/// Long work on a thread of its own, while the calling thread of Python looks for signals and hands on what
/// is to be shown. The work never touches Python.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bindings.hpp"
#include "smile/ensemble/progress.hpp"

namespace smile::python {

class Interruptible {
 public:
  /// @param on_progress, on_message  callables of Python or None
  Interruptible(nb::object on_progress, nb::object on_message)
      : on_progress_(std::move(on_progress)), on_message_(std::move(on_message)) {}

  /// For the work: whether to stop, and where to tell what. From any thread.
  const std::atomic<bool>* stop() const { return &stop_; }
  void tell(const Progress& progress) {
    const std::lock_guard lock(mutex_);
    progress_ = progress;
    if (progress.finished) finished_.push_back(progress);
  }
  void tell(const std::string& message) {
    const std::lock_guard lock(mutex_);
    messages_.push_back(message);
  }

  /// Runs `work` to its end and returns what it returns. A signal (Ctrl-C) or an exception of a callable sets
  /// stop(); it is thrown once the work has ended, however it ended.
  template <class Work>
  auto run(Work work) {
    std::optional<decltype(work())> result;
    std::exception_ptr failure, interruption;
    bool done = false;
    std::thread thread([&] {
      try {
        result.emplace(work());
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex_);
      done = true;
      changed_.notify_all();
    });
    for (bool ended = false; !ended;) {
      {
        nb::gil_scoped_release release;
        std::unique_lock lock(mutex_);
        ended = changed_.wait_for(lock, std::chrono::milliseconds(50), [&] { return done; });
      }
      if (interruption) continue;
      try {
        show();
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
      } catch (...) {
        interruption = std::current_exception();
        stop_ = true;
      }
    }
    {
      nb::gil_scoped_release release;
      thread.join();
    }
    if (interruption) std::rethrow_exception(interruption);
    if (failure) std::rethrow_exception(failure);
    return std::move(*result);
  }

 private:
  void show() {
    std::vector<std::string> messages;
    std::vector<Progress> shown;
    {
      const std::lock_guard lock(mutex_);
      messages.swap(messages_);
      shown.swap(finished_);
      if (progress_ && !progress_->finished) shown.push_back(*progress_);
      progress_.reset();
    }
    if (!on_message_.is_none())
      for (const std::string& message : messages) on_message_(message);
    if (!on_progress_.is_none())
      for (const Progress& p : shown)
        on_progress_(p.phase, p.done, p.total, p.unit, p.per_second, p.log_density, p.step_size, p.finished);
  }

  nb::object on_progress_, on_message_;
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Progress> progress_;
  std::vector<Progress> finished_;
  std::vector<std::string> messages_;
};

}  // namespace smile::python

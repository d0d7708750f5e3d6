// SPDX-License-Identifier: Apache-2.0
#include "smile/ensemble/parallel.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace smile::ensemble {

void parallel_for(std::size_t jobs, std::size_t threads, const std::function<void(std::size_t)>& body,
                  const std::function<void(bool finished)>& tick, const std::function<void()>& failed) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::condition_variable changed;
  std::exception_ptr error;  // guarded by mutex, as is `active`
  std::size_t active = std::min(std::max<std::size_t>(1, threads), jobs);

  const auto work = [&] {
    for (std::size_t i = next++; i < jobs; i = next++) {
      try {
        body(i);
      } catch (...) {
        next = jobs;
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
        if (failed) failed();
      }
    }
    const std::lock_guard lock(mutex);
    --active;
    changed.notify_all();
  };
  std::vector<std::jthread> pool;  // joins, also where an exception leaves this function
  try {
    pool.reserve(active);
    for (std::size_t i = active; i > 0; --i) pool.emplace_back(work);
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, std::chrono::milliseconds(200), [&] { return active == 0; })) {
      lock.unlock();
      if (tick) tick(false);
      lock.lock();
    }
  } catch (...) {
    // From `tick`, or no thread was to be had: the jobs under way end, no other begins.
    next = jobs;
    if (failed) failed();
    throw;
  }
  pool.clear();
  if (tick) tick(true);
  if (error) std::rethrow_exception(error);
}

std::size_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    return std::max<std::size_t>(1, std::size_t(CPU_COUNT(&set)));
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace smile::ensemble

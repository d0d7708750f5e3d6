// SPDX-License-Identifier: Apache-2.0
/// Independent jobs on a few threads.
#pragma once

#include <cstddef>
#include <functional>

namespace smile::ensemble {

/// Calls body(i) for i = 0 … jobs−1; threads take jobs in order. `tick` is called from the calling thread
/// some five times a second and once more, with true, when all is done. When a job throws, no further job
/// begins, `failed` (if given) is called at once from its thread, and the first exception is rethrown when
/// the others have ended.
void parallel_for(std::size_t jobs, std::size_t threads, const std::function<void(std::size_t)>& body,
                  const std::function<void(bool finished)>& tick = {},
                  const std::function<void()>& failed = {});

/// Cores this process may use, at least 1.
std::size_t usable_cores();

}  // namespace smile::ensemble

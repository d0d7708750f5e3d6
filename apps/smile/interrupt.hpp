/// Ctrl-C, for every command that works long.
#pragma once

#include <atomic>

namespace smile::program {

/// From now on SIGINT and SIGTERM set the flag that is returned; a second one ends the program at once.
const std::atomic<bool>* stop_on_interrupt();

}  // namespace smile::program
